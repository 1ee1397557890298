/** Transfers a file to another vault. */
import { Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { waitsForApproval } from '../approvals/approval.ts';
import { FormDialog } from '../frame/form.tsx';
import { showDone } from '../frame/notice.ts';
import { VaultChoice } from '../vaults/vault-choice.tsx';
import { VaultLink } from '../vaults/vault-link.tsx';
import { type FileVersion, filesPath } from './file.ts';

export function TransferForm({ file, close }: { file: FileVersion; close(): void }) {
  const client = useQueryClient();
  const [destination, setDestination] = useState<string | null>(null);
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      call('POST', `${filesPath}/${file.id}/transfer`, {
        body: { destinationVaultAddress: destination },
        headers: { 'idempotency-key': idempotencyKey },
      }),
    async onSuccess(answer) {
      await client.invalidateQueries({ queryKey: ['files'] });
      if (!waitsForApproval(client, answer))
        showDone('The transfer was accepted. The owner changes once it is confirmed.');
      close();
    },
  });
  return (
    <FormDialog opened close={close} title="Transfer file" submitLabel="Transfer" saving={saving}>
      <Text size="sm" className="breaks">
        {file.name} belongs to <VaultLink address={file.vaultAddress} inText />, which seals the transfer. The
        transfer is anchored, and the file belongs to the other vault once it is confirmed. Until then, new
        versions and other transfers are refused. The history goes with the file.
      </Text>
      <VaultChoice
        label="To vault"
        description="Deactivated vaults are not listed"
        value={destination}
        without={[file.vaultAddress]}
        choose={(address) => {
          setDestination(address);
          // Another vault makes it another request.
          setKey(crypto.randomUUID());
        }}
      />
    </FormDialog>
  );
}
