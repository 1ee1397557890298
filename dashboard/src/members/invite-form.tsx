/** Invites somebody: the link is shown only once, for the user to send. */
import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { type Role, useMe } from '../api/session.ts';
import { FormDialog } from '../frame/form.tsx';
import { SecretOnce } from '../frame/secret.tsx';
import { type Invitation, rolesFor, roleTexts } from './member.ts';

export function InviteForm({ close }: { close(): void }) {
  const client = useQueryClient();
  const me = useMe();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      call<Invitation & { link: string }>('POST', '/platform/invitations', {
        body: { role, ...(email !== '' && { email }) },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['members'] }),
  });
  if (saving.data) {
    return (
      <Modal opened onClose={close} title="Invitation" centered closeButtonProps={{ 'aria-label': 'Close' }}>
        <Stack gap="sm">
          <SecretOnce
            label="The invitation link"
            value={saving.data.link}
            about="Send it to the person you invite. It works once, is valid for seven days, and cannot be shown again."
          />
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      </Modal>
    );
  }
  return (
    <FormDialog opened close={close} title="Invite a member" submitLabel="Create link" saving={saving}>
      <TextInput
        label="Email"
        type="email"
        description="If empty, anyone with the link can use it"
        data-autofocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Select
        label="Role"
        allowDeselect={false}
        data={rolesFor(me.role).map((role) => ({ value: role, label: `${role}: ${roleTexts[role]}` }))}
        value={role}
        onChange={(value) => setRole((value ?? 'developer') as Role)}
      />
    </FormDialog>
  );
}
