/** Makes an asset, or changes one. */
import { NumberInput, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { FormDialog } from '../frame/form.tsx';
import { JsonField, readObject } from '../frame/json-field.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { VaultChoice } from '../vaults/vault-choice.tsx';
import { type Asset, assetsPath, assetUrl } from './asset.ts';

export interface AssetFormProps {
  /** Absent: a new one. */
  asset?: Asset;
  close(): void;
  onSaved?(asset: Asset): void;
}

export function AssetForm({ asset, close, onSaved }: AssetFormProps) {
  const [vaultAddress, setVault] = useState<string | null>(null);
  const [name, setName] = useState(asset?.name ?? '');
  const [assetId, setAssetId] = useState('');
  const [serialNumber, setSerialNumber] = useState(asset?.serialNumber ?? '');
  const [partNumber, setPartNumber] = useState(asset?.partNumber ?? '');
  const [hours, setHours] = useState<number | string>(asset?.usage.hours ?? 0);
  const [cycles, setCycles] = useState<number | string>(asset?.usage.cycles ?? 0);
  const [metadata, setMetadata] = useState(() => JSON.stringify(asset?.metadata ?? {}, null, 2));
  const saving = useSaving({
    nouns: ['assets'],
    send(headers) {
      if (!asset && vaultAddress === null) throw new Error('Choose the vault that owns it.');
      const given = {
        name,
        serialNumber,
        partNumber,
        metadata: readObject(metadata, 'Metadata'),
        usage: { hours: Number(hours), cycles: Number(cycles) },
      };
      return asset
        ? call<Asset>('PUT', assetUrl(asset.assetId), { body: given })
        : call<Asset>('POST', assetsPath, {
            body: { vaultAddress, ...given, ...(assetId !== '' && { assetId }) },
            headers,
          });
    },
    onDone(saved) {
      showDone(asset ? `Version ${saved.version} of the asset is accepted.` : `${saved.name} is accepted.`);
      close();
      onSaved?.(saved);
    },
  });
  const lowest = asset?.usage ?? { hours: 0, cycles: 0 };
  return (
    <FormDialog
      opened
      close={close}
      title={asset ? 'Change asset' : 'New asset'}
      submitLabel={asset ? 'Save' : 'Create asset'}
      saving={saving}
      size="lg"
    >
      {!asset && <VaultChoice label="Owner" value={vaultAddress} choose={setVault} />}
      <TextInput
        label="Name"
        required
        maxLength={200}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {!asset && (
        <TextInput
          label="Asset id"
          description="Your own name for it, which stays for ever. Left empty, the service makes one."
          maxLength={255}
          value={assetId}
          onChange={(event) => setAssetId(event.currentTarget.value)}
        />
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label="Serial number"
          maxLength={255}
          value={serialNumber}
          onChange={(event) => setSerialNumber(event.currentTarget.value)}
        />
        <TextInput
          label="Part number"
          maxLength={255}
          value={partNumber}
          onChange={(event) => setPartNumber(event.currentTarget.value)}
        />
        <NumberInput
          label="Hours run, in all"
          min={lowest.hours}
          max={1e12}
          decimalScale={3}
          thousandSeparator=","
          value={hours}
          onChange={setHours}
        />
        <NumberInput
          label="Cycles run, in all"
          min={lowest.cycles}
          max={1e12}
          allowDecimal={false}
          thousandSeparator=","
          value={cycles}
          onChange={setCycles}
        />
      </SimpleGrid>
      <JsonField label="Metadata" description="Any JSON object." value={metadata} change={setMetadata} />
    </FormDialog>
  );
}
