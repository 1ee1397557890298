/** Legal holds: whether something is held, the note that says so, and the form that places or releases a hold. */
import { Alert, Text, TextInput } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { FormDialog } from '../frame/form.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { vaultQuery } from '../vaults/vault.ts';

type Hold = Schemas['Hold'];

/** The member of the request that names what is held, and its words. */
export interface Holdable {
  subject: { vaultAddress: string } | { fileId: string } | { recordId: string };
  id: string;
  noun: 'vault' | 'file' | 'record';
}

const holdQuery = (subjectId: string) =>
  queryOptions({
    queryKey: ['holds', subjectId],
    queryFn: async () => (await call<Hold[]>('GET', '/platform/holds', { query: { subjectId } }))[0] ?? null,
  });

export const useHold = (subjectId: string): Hold | null => useQuery(holdQuery(subjectId)).data ?? null;

/** A hold of the vault holds everything in it. */
export function useVaultHold(vaultAddress: string): Hold | null {
  const { data: vault } = useQuery(vaultQuery(vaultAddress));
  return useQuery({ ...holdQuery(vault?.id ?? ''), enabled: vault !== undefined }).data ?? null;
}

export function HoldNote({ id, noun }: Pick<Holdable, 'id' | 'noun'>) {
  const hold = useHold(id);
  return hold && <Note what={`This ${noun}`} hold={hold} />;
}

/** On the pages of what is in the vault. */
export function VaultHoldNote({ vaultAddress, noun }: { vaultAddress: string; noun: 'file' | 'record' }) {
  const hold = useVaultHold(vaultAddress);
  return hold && <Note what={`The vault of this ${noun}`} hold={hold} />;
}

function Note({ what, hold }: { what: string; hold: Hold }) {
  return (
    <Alert color="yellow" icon={<Icon name="warning" />} mb="md">
      <span className="breaks">
        {what} is under legal hold, so nothing of it can be erased: {hold.reason}
      </span>
    </Alert>
  );
}

export function HoldForm({ subject, id, noun, close }: Holdable & { close(): void }) {
  const client = useQueryClient();
  const hold = useHold(id);
  const [reason, setReason] = useState('');
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      call('PUT', '/platform/holds', {
        body: hold ? { ...subject, held: false } : { ...subject, held: true, reason },
      }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['holds'] });
      showDone(hold ? 'The hold was released.' : 'The hold was placed.');
      close();
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={hold ? 'Release legal hold' : 'Place legal hold'}
      submitLabel={hold ? 'Release' : 'Place hold'}
      saving={saving}
    >
      <Text size="sm">
        {hold
          ? `The hold was placed for this reason: ${hold.reason}. Once it is released, the ${noun} can be erased again, and retention may erase it within an hour.`
          : `While the ${noun} is held, nothing of it can be erased: neither on request nor by retention.`}
      </Text>
      {!hold && (
        <TextInput
          label="Reason"
          description="Shown to anyone who tries to erase it."
          required
          maxLength={500}
          data-autofocus
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      )}
    </FormDialog>
  );
}
