/** Creates an API key, and shows it only once. */
import { Button, Group, Modal, MultiSelect, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { waitsForApproval } from '../approvals/approval.ts';
import { FormDialog } from '../frame/form.tsx';
import { SecretOnce } from '../frame/secret.tsx';
import { type ApiKey, scopeChoices } from './api-key.ts';

export function KeyForm({ close }: { close(): void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>([]);
  const [lastDay, setLastDay] = useState('');
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      call<ApiKey & { key: string }>('POST', '/platform/api-keys', {
        body: {
          name,
          ...(scopes.length > 0 && { scopes }),
          ...(lastDay !== '' && { expiresAt: `${lastDay}T23:59:59Z` }),
        },
        headers: { 'idempotency-key': idempotencyKey },
      }),
    async onSuccess(made) {
      await client.invalidateQueries({ queryKey: ['keys'] });
      if (waitsForApproval(client, made)) close();
    },
  });
  if (saving.data && 'key' in saving.data) return <KeyShown apiKey={saving.data} close={close} />;
  return (
    <FormDialog opened close={close} title="New API key" submitLabel="Create key" saving={saving}>
      <TextInput
        label="Name"
        description="Where it is used, so that you can recognise it later"
        required
        maxLength={200}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <MultiSelect
        label="Scopes"
        description="If none is chosen, the key may do everything in this workspace, except sign on behalf of workers"
        data={scopeChoices}
        value={scopes}
        onChange={setScopes}
        searchable
        clearable
        hidePickedOptions
      />
      <TextInput
        type="date"
        label="Last day (UTC)"
        description="If empty, it is valid until revoked"
        value={lastDay}
        onChange={(event) => setLastDay(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

function KeyShown({ apiKey, close }: { apiKey: ApiKey & { key: string }; close(): void }) {
  return (
    <Modal opened onClose={close} title={apiKey.name} centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="sm">
        <SecretOnce
          label="Your new API key"
          value={apiKey.key}
          about="Copy it now: only its hash is stored, so it cannot be shown again. Send it in the x-api-key header."
        />
        <Group justify="flex-end">
          <Button onClick={close}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
