/** Creates a worker, or edits the name. */
import { Radio, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { FormDialog } from '../frame/form.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { type Worker, workersPath, workerUrl } from './worker.ts';

export interface WorkerFormProps {
  /** Absent: a new one. */
  worker?: Worker;
  close(): void;
  onSaved?(worker: Pick<Worker, 'name' | 'address'>): void;
}

export function WorkerForm({ worker, close, onSaved }: WorkerFormProps) {
  const [name, setName] = useState(worker?.name ?? '');
  const [keyHolder, setKeyHolder] = useState('service');
  const [address, setAddress] = useState('');
  const saving = useSaving({
    nouns: ['workers', 'assets'],
    send: (headers) =>
      worker
        ? call<Worker>('PATCH', workerUrl(worker.address), { body: { name } })
        : call<Pick<Worker, 'name' | 'address'>>('POST', workersPath, {
            body: { name, ...(keyHolder === 'worker' && { address: address.trim() }) },
            headers,
          }),
    onDone(saved) {
      showDone(worker ? 'The worker was renamed.' : `${saved.name} can now be assigned to assets.`);
      close();
      onSaved?.(saved);
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={worker ? 'Rename worker' : 'New worker'}
      submitLabel={worker ? 'Save' : 'Create worker'}
      saving={saving}
    >
      <TextInput
        label="Name"
        description={worker ? 'Earlier signatures keep the earlier name.' : undefined}
        required
        maxLength={200}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {!worker && (
        <Radio.Group label="Who holds the key that signs" value={keyHolder} onChange={setKeyHolder}>
          <Stack gap="xs" mt={6}>
            <Radio
              value="service"
              label="The service"
              description="It creates a key, stores it encrypted, and signs on request."
            />
            <Radio
              value="worker"
              label="The worker"
              description="The worker signs with their own wallet, and only the signature is submitted."
            />
          </Stack>
        </Radio.Group>
      )}
      {!worker && keyHolder === 'worker' && (
        <TextInput
          label="Address of the worker’s wallet"
          description="0x followed by 40 hexadecimal digits. It cannot be changed later."
          required
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
        />
      )}
    </FormDialog>
  );
}
