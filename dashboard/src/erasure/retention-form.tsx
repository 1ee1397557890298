/** Sets how long a vault keeps data and content, and tells what that would erase now. */
import { Button, NumberInput, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { waitsForApproval } from '../approvals/approval.ts';
import { FormDialog } from '../frame/form.tsx';
import { showDone } from '../frame/notice.ts';

type Retention = Schemas['Retention'];
type Days = Pick<Retention, 'recordDays' | 'fileDays'>;
type Preview = Schemas['RetentionPreview'];

export function RetentionForm({ vaultAddress, close }: { vaultAddress: string; close(): void }) {
  const path = `/platform/vaults/${vaultAddress}/retention`;
  const { data } = useQuery({
    queryKey: ['vaults', 'retention', vaultAddress],
    queryFn: () => call<Retention>('GET', path),
  });
  return data ? <Form path={path} stored={data} close={close} /> : null;
}

function Form({ path, stored, close }: { path: string; stored: Retention; close(): void }) {
  const client = useQueryClient();
  const [days, setDays] = useState<Days>({ recordDays: stored.recordDays, fileDays: stored.fileDays });
  const preview = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      call<Preview>('GET', `${path}/preview`, {
        query: { recordDays: days.recordDays ?? undefined, fileDays: days.fileDays ?? undefined },
      }),
  });
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () => call('PUT', path, { body: days }),
    async onSuccess(answer) {
      await client.invalidateQueries({ queryKey: ['vaults'] });
      if (!waitsForApproval(client, answer)) showDone('The retention was set.');
      close();
    },
  });
  const field = (name: keyof Days, label: string) => (
    <NumberInput
      label={label}
      description="Days after the newest version; empty: kept for ever."
      min={1}
      max={36_500}
      allowDecimal={false}
      value={days[name] ?? ''}
      onChange={(value) => {
        preview.reset();
        setDays({ ...days, [name]: typeof value === 'number' ? value : null });
      }}
    />
  );
  return (
    <FormDialog opened close={close} title="Retention" submitLabel="Save" saving={saving} danger>
      <Text size="sm">
        What is older is erased permanently. Hashes and proofs remain. What is under legal hold is kept, and
        so are files attached to a certified entry. Retention has erased {stored.erased.toLocaleString('en')}{' '}
        records and files of this vault so far, and freed {stored.erasedBytes.toLocaleString('en')} bytes.
      </Text>
      {field('recordDays', 'Keep the data of records')}
      {field('fileDays', 'Keep the content of files')}
      <Button variant="default" loading={preview.isPending} onClick={() => preview.mutate()}>
        What would be erased now?
      </Button>
      {preview.data && (
        <Text size="sm" role="status">
          {preview.data.more && 'At least '}
          {preview.data.records.toLocaleString('en')} records and {preview.data.files.toLocaleString('en')}{' '}
          files, which frees {preview.data.bytes.toLocaleString('en')} bytes.
          {preview.data.held > 0 &&
            ` ${preview.data.held.toLocaleString('en')} more are old enough but held: by a legal hold, or by a release.`}
        </Text>
      )}
    </FormDialog>
  );
}
