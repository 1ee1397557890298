/** Records work, or corrects an entry with a new one. */
import { Alert, Autocomplete, NumberInput, SimpleGrid, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { FormDialog } from '../frame/form.tsx';
import { Icon } from '../frame/icons.tsx';
import { JsonField, readObject } from '../frame/json-field.tsx';
import { justNow, MomentInput } from '../frame/moment-input.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { type Asset, assetUrl } from './asset.ts';
import { Attachments, useUploads } from './attachments.tsx';
import { entryQuery, type Maintenance, type WholeMaintenance } from './maintenance.ts';
import { ReleaseFields, releaseToData, takeRelease } from './release-fields.tsx';
import { WorkerChoice } from './worker-choice.tsx';

/** The initial values of the form. */
export interface MaintenanceStart {
  type?: string;
  data?: Record<string, unknown>;
  /** The entry that is corrected. */
  supersedes?: string;
}

export interface MaintenanceFormProps {
  asset: Asset;
  start: MaintenanceStart;
  close(): void;
}

export function MaintenanceForm({ asset, start, close }: MaintenanceFormProps) {
  const { supersedes } = start;
  const { data: corrected } = useQuery({
    ...entryQuery(asset.assetId, supersedes ?? ''),
    enabled: supersedes !== undefined,
  });
  if (supersedes !== undefined && !corrected) return null;
  return <Form asset={asset} start={start} corrected={corrected ?? null} close={close} />;
}

const types = ['inspection', 'repair', 'overhaul', 'replacement', 'modification', 'defect'];

function Form({
  asset,
  start,
  corrected,
  close,
}: MaintenanceFormProps & { corrected: WholeMaintenance | null }) {
  const [workerAddress, setWorker] = useState<string | null>(corrected?.workerAddress ?? null);
  const [type, setType] = useState(corrected?.type ?? start.type ?? '');
  const [summary, setSummary] = useState(corrected?.summary ?? '');
  const [performedAt, setPerformedAt] = useState(() => corrected?.performedAt ?? justNow());
  const [hours, setHours] = useState<number | string>('');
  const [cycles, setCycles] = useState<number | string>('');
  const [deferred, setDeferred] = useState('');
  const [given] = useState(() => takeRelease(corrected?.data ?? start.data ?? {}));
  const [release, setRelease] = useState(given.release);
  const [data, setData] = useState(() => JSON.stringify(given.rest, null, 2));
  const [files, setFiles] = useState<File[]>([]);
  const [kept, setKept] = useState(corrected?.files ?? []);
  const upload = useUploads(asset.vaultAddress);
  const isDefect = type.trim().toLowerCase() === 'defect';
  const saving = useSaving({
    nouns: ['assets', 'files'],
    async send(headers) {
      if (workerAddress === null) throw new Error('Choose the worker who did the work.');
      const whole = {
        ...readObject(data, 'Data'),
        ...((hours !== '' || cycles !== '') && {
          usage: {
            ...(hours !== '' && { hours: Number(hours) }),
            ...(cycles !== '' && { cycles: Number(cycles) }),
          },
        }),
        ...(isDefect && deferred !== '' && { deferred: { until: deferred } }),
        ...releaseToData(release),
      };
      const fileIds = await upload(files);
      const body = {
        workerAddress,
        type: type.trim(),
        summary,
        performedAt,
        data: whole,
        ...(fileIds.length > 0 && { fileIds }),
        files: kept.map(({ fileId, version }) => ({ fileId, version })),
        ...(corrected && { supersedes: corrected.maintenanceId }),
      };
      return call<Pick<Maintenance, 'maintenanceId'>>('POST', assetUrl(asset.assetId, 'maintenances/'), {
        body,
        headers,
      });
    },
    onDone() {
      showDone(corrected ? 'The correction was recorded.' : 'The work was recorded.');
      close();
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={corrected ? 'Correct an entry' : 'New maintenance entry'}
      submitLabel={corrected ? 'Record the correction' : 'Record work'}
      saving={saving}
      size="lg"
    >
      {corrected && (
        <Alert color="yellow" icon={<Icon name="pencil" />} py="xs">
          An entry is never changed. This creates a new one that replaces it; both are kept, and the new one
          must be signed off again.
        </Alert>
      )}
      <WorkerChoice assetId={asset.assetId} value={workerAddress} choose={setWorker} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <Autocomplete
          label="Type"
          description="Also says which licence is needed to sign it."
          required
          maxLength={100}
          data={types}
          value={type}
          onChange={setType}
        />
        <MomentInput label="Done at" required past value={performedAt} change={setPerformedAt} />
      </SimpleGrid>
      <Textarea
        label="Summary"
        required
        autosize
        minRows={2}
        maxRows={8}
        maxLength={10_000}
        value={summary}
        onChange={(event) => setSummary(event.currentTarget.value)}
      />
      {isDefect && (
        <TextInput
          type="date"
          label="Repair deferred until"
          description="It stays in the due list until a certified entry closes it."
          value={deferred}
          onChange={(event) => setDeferred(event.currentTarget.value)}
        />
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <NumberInput
          label="Total hours run"
          placeholder={asset.usage.hours.toLocaleString('en')}
          min={0}
          max={1e12}
          decimalScale={3}
          value={hours}
          onChange={setHours}
        />
        <NumberInput
          label="Total cycles run"
          placeholder={asset.usage.cycles.toLocaleString('en')}
          min={0}
          max={1e12}
          allowDecimal={false}
          value={cycles}
          onChange={setCycles}
        />
      </SimpleGrid>
      <ReleaseFields value={release} change={setRelease} />
      <Attachments chosen={files} choose={setFiles} kept={kept} keep={setKept} />
      <JsonField
        label="Data"
        description="Measurements and other details, as a JSON object."
        value={data}
        change={setData}
      />
    </FormDialog>
  );
}
