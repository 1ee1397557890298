/** The page of an invitation, including that of the first owner: creates the account and signs in. */

import { Button, Loader, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { ApiError, call, callAuth } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { meQuery } from '../api/session.ts';
import { sessionBegun } from '../api/session-end.ts';
import { chooseWorkspace } from '../api/workspace.ts';
import { FormFailure } from '../frame/form.tsx';
import { SignInCard } from './card.tsx';

type OpenInvitation = Schemas['InvitationPreview'];

const passwordMin = 12;

export function JoinPage() {
  const token = window.location.hash.slice(1);
  const {
    data: invitation,
    error,
    refetch,
  } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call<OpenInvitation>('POST', '/platform/invitations/look', { body: { token } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data: me, isPending } = useQuery(meQuery);
  // Only the service itself can decide that a link is invalid.
  if (error && !(error instanceof ApiError && error.status >= 400 && error.status < 500)) {
    return (
      <SignInCard title="The invitation could not be opened">
        <FormFailure error={error} />
        <Button onClick={() => void refetch()}>Try again</Button>
      </SignInCard>
    );
  }
  if (error) {
    return (
      <SignInCard title="This link does not work">
        <FormFailure error={error} />
        <Button component="a" href="/sign-in" variant="default">
          Go to sign in
        </Button>
      </SignInCard>
    );
  }
  if (!invitation || isPending) {
    return (
      <SignInCard title="One moment">
        <Loader aria-label="Loading" />
      </SignInCard>
    );
  }
  const title = invitation.role === 'owner' && !invitation.email ? 'Become the owner' : 'You are invited';
  const about = (
    <>
      To the workspace <b>{invitation.workspaceName}</b>, as {invitation.role}.
    </>
  );
  return (
    <SignInCard title={title} about={about}>
      {me ? (
        <JoinAs email={me.email} token={token} invitation={invitation} />
      ) : (
        <NewAccount token={token} invitation={invitation} />
      )}
    </SignInCard>
  );
}

interface JoinProps {
  token: string;
  invitation: OpenInvitation;
}

function useEnter(workspaceId: string): () => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    chooseWorkspace(workspaceId);
    // Also removes what another user or another workspace left behind.
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'invitation' });
    sessionBegun();
    await client.ensureQueryData(meQuery);
    await navigate({ to: '/' });
  };
}

function JoinAs({ email, token, invitation }: JoinProps & { email: string }) {
  const enter = useEnter(invitation.workspaceId);
  const joining = useMutation({
    meta: { shown: true },
    mutationFn: () => call('POST', '/platform/invitations/accept', { body: { token } }),
    onSuccess: enter,
  });
  return (
    <Stack gap="sm">
      <Text size="sm">You are signed in as {email}.</Text>
      <FormFailure error={joining.error} />
      <Button onClick={() => joining.mutate()} loading={joining.isPending}>
        Join {invitation.workspaceName}
      </Button>
    </Stack>
  );
}

function NewAccount({ token, invitation }: JoinProps) {
  const enter = useEnter(invitation.workspaceId);
  const [name, setName] = useState('');
  const [email, setEmail] = useState(invitation.email ?? '');
  const [password, setPassword] = useState('');
  const joining = useMutation({
    meta: { shown: true },
    async mutationFn() {
      await call('POST', '/platform/invitations/accept', { body: { token, name, email, password } });
      await callAuth('sign-in/email', { email, password });
    },
    onSuccess: enter,
  });
  const short = password !== '' && password.length < passwordMin;
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (!short) joining.mutate();
      }}
    >
      <Stack gap="sm">
        <TextInput
          label="Your name"
          autoComplete="name"
          required
          autoFocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          {...(invitation.email !== null && {
            readOnly: true,
            description: 'The invitation is for this address.',
          })}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          description={`At least ${passwordMin} characters. A sentence works well.`}
          autoComplete="new-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={short ? `${passwordMin - password.length} characters to go` : null}
        />
        <FormFailure error={joining.error} />
        <Button type="submit" loading={joining.isPending} fullWidth>
          Create account
        </Button>
      </Stack>
    </form>
  );
}
