/** Name and password. */
import { Button, PasswordInput, Stack, TextInput, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { callAuth } from '../api/call.ts';
import { useMe } from '../api/session.ts';
import { FormFailure } from '../frame/form.tsx';
import { showDone } from '../frame/notice.ts';

export function ProfileForm() {
  const me = useMe();
  const client = useQueryClient();
  const [name, setName] = useState(me.name);
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () => callAuth('update-user', { name }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['me'] });
      showDone('Your name was changed.');
    },
  });
  return (
    <form onSubmit={sending(() => saving.mutate())}>
      <Stack gap="sm" align="flex-start">
        <Title order={2} size="h4">
          You
        </Title>
        <TextInput label="Email" value={me.email} readOnly w="100%" />
        <TextInput
          label="Name"
          required
          maxLength={200}
          w="100%"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <FormFailure error={saving.error} />
        <Button type="submit" variant="default" loading={saving.isPending} disabled={name === me.name}>
          Save name
        </Button>
      </Stack>
    </form>
  );
}

export function PasswordForm() {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      callAuth('change-password', { currentPassword, newPassword, revokeOtherSessions: true }),
    onSuccess() {
      setCurrent('');
      setNew('');
      showDone('Your password was changed. Your other sessions have ended.');
    },
  });
  return (
    <form onSubmit={sending(() => saving.mutate())}>
      <Stack gap="sm" align="flex-start">
        <Title order={2} size="h4">
          Password
        </Title>
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          w="100%"
          value={currentPassword}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
        <PasswordInput
          label="New password"
          description="At least 12 characters"
          autoComplete="new-password"
          required
          minLength={12}
          w="100%"
          value={newPassword}
          onChange={(event) => setNew(event.currentTarget.value)}
        />
        <FormFailure error={saving.error} />
        <Button type="submit" variant="default" loading={saving.isPending}>
          Change password
        </Button>
      </Stack>
    </form>
  );
}

function sending(send: () => void): (event: FormEvent) => void {
  return (event) => {
    event.preventDefault();
    send();
  };
}
