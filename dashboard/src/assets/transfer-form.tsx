/** Transfers an asset to another vault. */
import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { waitsForApproval } from '../approvals/approval.ts';
import { FormDialog } from '../frame/form.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { VaultChoice } from '../vaults/vault-choice.tsx';
import { type Asset, type AssetTransfer, assetUrl } from './asset.ts';

export function TransferForm({ asset, close }: { asset: Asset; close(): void }) {
  const client = useQueryClient();
  const [destination, setDestination] = useState<string | null>(null);
  const saving = useSaving({
    nouns: ['assets'],
    send(headers) {
      if (destination === null) throw new Error('Choose the receiving vault.');
      return call<AssetTransfer>('POST', assetUrl(asset.assetId, 'transfer/'), {
        body: { destinationVaultAddress: destination },
        headers,
      });
    },
    onDone(answer) {
      if (!waitsForApproval(client, answer))
        showDone('The transfer is in progress. The owner changes when the chain has confirmed it.');
      close();
    },
  });
  return (
    <FormDialog opened close={close} title={`Transfer ${asset.name}`} submitLabel="Transfer" saving={saving}>
      <Text size="sm">The full history goes with it. All viewer grants and worker assignments end.</Text>
      <VaultChoice
        label="New owner"
        value={destination}
        choose={setDestination}
        without={[asset.vaultAddress]}
      />
    </FormDialog>
  );
}
