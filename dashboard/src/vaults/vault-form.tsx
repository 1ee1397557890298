/** Creates a vault, or edits its name and description. */
import { Text, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { FormDialog } from '../frame/form.tsx';
import { showDone } from '../frame/notice.ts';
import type { Vault } from './vault.ts';

export interface VaultFormProps {
  /** Absent: a new one. */
  vault?: Vault;
  close(): void;
  onSaved?(vault: Vault): void;
}

export function VaultForm({ vault, close, onSaved }: VaultFormProps) {
  const client = useQueryClient();
  const [name, setName] = useState(vault?.name ?? '');
  const [description, setDescription] = useState(vault?.description ?? '');
  // One key for this form: a second click, or a retry after a lost response, creates no second vault.
  const [key] = useState(() => crypto.randomUUID());
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      vault
        ? call<Vault>('PUT', `/platform/vaults/${vault.address}`, { body: { name, description } })
        : call<Vault>('POST', '/platform/vaults', {
            body: { name, description },
            headers: { 'idempotency-key': key },
          }),
    async onSuccess(saved) {
      await client.invalidateQueries({ queryKey: ['vaults'] });
      showDone(vault ? 'The vault was renamed.' : `The vault ${saved.name} is ready.`);
      close();
      onSaved?.(saved);
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={vault ? 'Rename vault' : 'New vault'}
      submitLabel={vault ? 'Save' : 'Create vault'}
      saving={saving}
    >
      {!vault && (
        <Text size="sm" c="dimmed">
          A vault is a separate wallet. The service creates its key, stores it encrypted, and uses it to seal
          what belongs to the vault.
        </Text>
      )}
      <TextInput
        label="Name"
        required
        maxLength={200}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxLength={2000}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
