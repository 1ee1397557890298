/** Creates or edits an asset. */
import { NumberInput, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { ChangedMeanwhile, useSeen } from '../frame/changed-meanwhile.tsx';
import { FormDialog } from '../frame/form.tsx';
import { JsonField, readObject } from '../frame/json-field.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { VaultChoice } from '../vaults/vault-choice.tsx';
import { type Asset, assetsPath, assetUrl } from './asset.ts';

export interface AssetFormProps {
  /** Absent: creates a new one. */
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
  const [correction, setCorrection] = useState('');
  const [metadata, setMetadata] = useState(() => metadataText(asset));
  const { seen, changed, headers: seenHeaders, catchUp } = useSeen(asset);
  const before = seen?.usage ?? { hours: 0, cycles: 0 };
  // Unchanged values are left out: they may come from an entry, and must go if that entry is superseded.
  const changedUsage = {
    ...(Number(hours) !== before.hours && { hours: Number(hours) }),
    ...(Number(cycles) !== before.cycles && { cycles: Number(cycles) }),
  };
  const lowered = Number(hours) < before.hours || Number(cycles) < before.cycles;
  const saving = useSaving({
    nouns: ['assets'],
    send(headers) {
      if (!asset && vaultAddress === null) throw new Error('Choose the vault that owns it.');
      const given = {
        ...(name !== seen?.name && { name }),
        ...(serialNumber !== seen?.serialNumber && { serialNumber }),
        ...(partNumber !== seen?.partNumber && { partNumber }),
        ...(metadata !== metadataText(seen) && { metadata: readObject(metadata, 'Metadata') }),
        usage: changedUsage,
        ...(lowered && { usageCorrection: correction }),
      };
      return asset
        ? call<Asset>('PUT', assetUrl(asset.assetId), { body: given, headers: seenHeaders })
        : call<Asset>('POST', assetsPath, {
            body: { vaultAddress, ...given, ...(assetId !== '' && { assetId }) },
            headers,
          });
    },
    onDone(saved) {
      showDone(asset ? `Version ${saved.version} of the asset was accepted.` : `${saved.name} was accepted.`);
      close();
      onSaved?.(saved);
    },
  });
  /** Updates all fields, or only those that were not edited. */
  const take = (before: Asset, now: Asset, all: boolean) => {
    if (all || name === before.name) setName(now.name);
    if (all || serialNumber === before.serialNumber) setSerialNumber(now.serialNumber);
    if (all || partNumber === before.partNumber) setPartNumber(now.partNumber);
    if (all || Number(hours) === before.usage.hours) setHours(now.usage.hours);
    if (all || Number(cycles) === before.usage.cycles) setCycles(now.usage.cycles);
    if (all || metadata === metadataText(before)) setMetadata(metadataText(now));
    catchUp();
    saving.reset();
  };
  return (
    <FormDialog
      opened
      close={close}
      title={asset ? 'Change asset' : 'New asset'}
      submitLabel={asset ? 'Save' : 'Create asset'}
      saving={saving}
      size="lg"
    >
      {seen && changed && !saving.isPending && (
        <ChangedMeanwhile
          values={differences(seen, changed)}
          take={() => take(seen, changed, true)}
          keep={() => take(seen, changed, false)}
        />
      )}
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
          description="Your own id, which cannot be changed later. If empty, the service creates one."
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
          label="Total hours run"
          min={0}
          max={1e12}
          decimalScale={3}
          thousandSeparator=","
          value={hours}
          onChange={setHours}
        />
        <NumberInput
          label="Total cycles run"
          min={0}
          max={1e12}
          allowDecimal={false}
          thousandSeparator=","
          value={cycles}
          onChange={setCycles}
        />
      </SimpleGrid>
      {lowered && (
        <TextInput
          label="Reason for lower usage"
          description="Only to correct a mistake. It is kept in the audit log."
          required
          maxLength={500}
          value={correction}
          onChange={(event) => setCorrection(event.currentTarget.value)}
        />
      )}
      <JsonField label="Metadata" description="Any JSON object." value={metadata} change={setMetadata} />
    </FormDialog>
  );
}

function metadataText(asset: Asset | undefined): string {
  return JSON.stringify(asset?.metadata ?? {}, null, 2);
}

/** What differs in another version, in readable form. */
function differences(before: Asset, now: Asset): [label: string, value: string][] {
  const texts = (asset: Asset): [string, string][] => [
    ['Name', asset.name],
    ['Serial number', asset.serialNumber],
    ['Part number', asset.partNumber],
    ['Hours run', String(asset.usage.hours)],
    ['Cycles run', String(asset.usage.cycles)],
    ['Metadata', JSON.stringify(asset.metadata)],
    ['Installed in', asset.parentAssetId ?? ''],
    ['Owner', asset.vaultAddress],
  ];
  const earlier = new Map(texts(before));
  return texts(now).filter(([label, text]) => earlier.get(label) !== text);
}
