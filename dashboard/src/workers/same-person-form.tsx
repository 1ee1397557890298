/** Says that a worker is the same person as another one. */
import { Select, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { useList } from '../api/lists.ts';
import { FormDialog } from '../frame/form.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { type Worker, workerList, workerUrl } from './worker.ts';

export function SamePersonForm({ worker, close }: { worker: Worker; close(): void }) {
  const { items } = useList<Worker>({ ...workerList, limit: 1000 });
  const [chosen, setChosen] = useState<string | null>(null);
  const others = (items ?? []).filter(({ identity }) => identity !== worker.identity);
  const saving = useSaving({
    nouns: ['workers'],
    send() {
      if (chosen === null) throw new Error('Choose the other worker.');
      return call<Worker>('PUT', `${workerUrl(worker.address)}identity/`, {
        body: { workerAddress: chosen },
      });
    },
    onDone() {
      showDone('Both count as one person now.');
      close();
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={`Who ${worker.name} is, too`}
      submitLabel="They are one person"
      saving={saving}
    >
      <Text size="sm" c="dimmed">
        What one of them did counts as done by both: neither can inspect or certify it. Workers who have the
        same licence, or are the same member, are one person without this.
      </Text>
      <Select
        label="The same person as"
        required
        searchable
        placeholder="Choose a worker"
        data={others.map(({ name, address }) => ({
          value: address,
          label: `${name} (${address.slice(0, 8)}…)`,
        }))}
        value={chosen}
        onChange={setChosen}
      />
    </FormDialog>
  );
}

/** The other records of the same person. */
export function OtherRecords({ worker }: { worker: Worker }) {
  const { items } = useList<Worker>({ ...workerList, limit: 1000 });
  const same = (items ?? []).filter(
    ({ identity, address }) => identity === worker.identity && address !== worker.address,
  );
  if (same.length === 0) return 'this record alone';
  const shown = same.slice(0, 5).map(({ name, address }) => `${name} (${address.slice(0, 8)}…)`);
  const more = same.length > shown.length ? ` and ${same.length - shown.length} more` : '';
  return `also ${shown.join(', ')}${more}`;
}
