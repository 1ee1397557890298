/** Assigns workers to an asset. */
import { Anchor, MultiSelect, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { useList } from '../api/lists.ts';
import { FormDialog } from '../frame/form.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { type Worker, workerList } from '../workers/worker.ts';
import { assetUrl } from './asset.ts';

export interface AssignFormProps {
  assetId: string;
  /** Addresses of assigned workers. */
  assigned: string[];
  close(): void;
}

export function AssignForm({ assetId, assigned, close }: AssignFormProps) {
  const { items } = useList<Worker>({ ...workerList, limit: 1000 });
  const [chosen, setChosen] = useState<string[]>([]);
  const free = (items ?? []).filter(({ address }) => !assigned.includes(address));
  const saving = useSaving({
    nouns: ['assets'],
    send(headers) {
      if (chosen.length === 0) throw new Error('Choose at least one worker.');
      return call('POST', assetUrl(assetId, 'workers/'), { body: { workers: chosen }, headers });
    },
    onDone() {
      showDone(chosen.length === 1 ? 'The worker was assigned.' : `${chosen.length} workers were assigned.`);
      close();
    },
  });
  return (
    <FormDialog opened close={close} title="Assign workers" submitLabel="Assign" saving={saving}>
      {items && free.length === 0 ? (
        <Text size="sm">
          {items.length === 0 ? 'There are no workers yet.' : 'All workers are already assigned.'}{' '}
          <Anchor component={Link} to="/workers" size="sm">
            Create one
          </Anchor>
          , then come back.
        </Text>
      ) : (
        <MultiSelect
          label="Workers"
          required
          searchable
          data-autofocus
          data={free.map(({ name, address }) => ({
            value: address,
            label: `${name} (${address.slice(0, 8)}…)`,
          }))}
          value={chosen}
          onChange={setChosen}
        />
      )}
    </FormDialog>
  );
}
