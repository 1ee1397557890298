/** Creates a record, or a new version of one, from JSON that is checked while typing. */
import { JsonInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { FormDialog } from '../frame/form.tsx';
import { readObject } from '../frame/json-field.tsx';
import { showDone } from '../frame/notice.ts';
import { pathTo } from '../links.ts';
import { VaultChoice } from '../vaults/vault-choice.tsx';
import { type RecordVersion, recordsPath, type WholeRecord } from './record.ts';

export interface RecordFormProps {
  /** Absent: a new record. */
  record?: WholeRecord;
  /** The preselected vault. */
  vaultAddress?: string;
  close(): void;
}

export function RecordForm({ record, vaultAddress: given, close }: RecordFormProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [vaultAddress, setVault] = useState(given ?? null);
  const [externalId, setExternalId] = useState('');
  const [data, setData] = useState(() => JSON.stringify(record?.data ?? {}, null, 2));
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () => {
      if (!record && vaultAddress === null) throw new Error('Choose the vault that the record belongs to.');
      const parsed = readObject(data, 'The data');
      const path = record ? `${recordsPath}/${record.id}/versions` : recordsPath;
      const body = record
        ? { data: parsed }
        : { vaultAddress, data: parsed, ...(externalId !== '' && { externalId }) };
      return call<RecordVersion>('POST', path, { body, headers: { 'idempotency-key': idempotencyKey } });
    },
    async onSuccess(saved) {
      await client.invalidateQueries({ queryKey: ['records'] });
      showDone(record ? `Version ${saved.version} was accepted.` : 'The record was accepted.');
      close();
      await navigate({ to: pathTo('/records/$recordId', saved.id) });
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={record ? 'New version' : 'New record'}
      submitLabel={record ? 'Add version' : 'Create record'}
      saving={saving}
    >
      {!record && (
        <>
          <VaultChoice value={vaultAddress} choose={setVault} />
          <TextInput
            label="External id"
            description="Your own id for it"
            maxLength={255}
            value={externalId}
            onChange={(event) => setExternalId(event.currentTarget.value)}
          />
        </>
      )}
      <JsonInput
        label="Data"
        description="A JSON object. Write integers beyond 2^53 as strings."
        required
        autosize
        spellCheck={false}
        minRows={6}
        maxRows={18}
        formatOnBlur
        validationError="This is not JSON"
        value={data}
        onChange={setData}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
      />
    </FormDialog>
  );
}
