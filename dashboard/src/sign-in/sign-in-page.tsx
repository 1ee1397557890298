/** Signing in: email and password, then a code where two-factor is on. */
import { Anchor, Button, PasswordInput, PinInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { callAuth } from '../api/call.ts';
import { meQuery } from '../api/session.ts';
import { FormFailure } from '../frame/form.tsx';
import { SignInCard } from './card.tsx';

interface SignInAnswer {
  twoFactorRedirect?: boolean;
}

export function SignInPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { to } = useSearch({ from: '/sign-in' });
  const [needsCode, setNeedsCode] = useState(false);

  async function enter() {
    // Also what somebody else left behind.
    client.clear();
    await client.ensureQueryData(meQuery);
    await navigate({ to: to ?? '/' });
  }

  if (needsCode) return <CodeStep enter={enter} />;
  return <PasswordStep enter={enter} askForCode={() => setNeedsCode(true)} />;
}

function PasswordStep({ enter, askForCode }: { enter(): Promise<void>; askForCode(): void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signing = useMutation({
    meta: { shown: true },
    mutationFn: () => callAuth<SignInAnswer>('sign-in/email', { email, password }),
    onSuccess: (answer) => (answer.twoFactorRedirect ? askForCode() : enter()),
  });
  return (
    <SignInCard
      title="Sign in"
      about="Accounts are made by invitation. The first owner's link is printed at start."
    >
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          signing.mutate();
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Email"
            type="email"
            autoComplete="username"
            required
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <FormFailure error={signing.error} />
          <Button type="submit" loading={signing.isPending} fullWidth>
            Sign in
          </Button>
          <Text c="dimmed" size="xs">
            Locked out? Whoever runs the service can help: <code>holdfast users reset-password EMAIL</code>.
            To check a proof, nobody needs an account:{' '}
            <Anchor href="/verify" underline="always">
              verify a proof
            </Anchor>
            .
          </Text>
        </Stack>
      </form>
    </SignInCard>
  );
}

function CodeStep({ enter }: { enter(): Promise<void> }) {
  const [backup, setBackup] = useState(false);
  const [code, setCode] = useState('');
  const verifying = useMutation({
    meta: { shown: true },
    mutationFn: (given: string) =>
      callAuth(backup ? 'two-factor/verify-backup-code' : 'two-factor/verify-totp', { code: given }),
    onSuccess: enter,
    onError: () => setCode(''),
  });
  return (
    <SignInCard
      title="Two-factor code"
      about={
        backup
          ? 'Enter one of your backup codes. Each works once.'
          : 'Enter the code of your authenticator app.'
      }
    >
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          verifying.mutate(code);
        }}
      >
        <Stack gap="sm">
          {backup ? (
            <TextInput
              label="Backup code"
              required
              autoFocus
              value={code}
              onChange={(event) => setCode(event.currentTarget.value)}
            />
          ) : (
            <PinInput
              length={6}
              type="number"
              oneTimeCode
              autoFocus
              aria-label="Code"
              value={code}
              onChange={setCode}
              onComplete={(given) => verifying.mutate(given)}
            />
          )}
          <FormFailure error={verifying.error} />
          <Button type="submit" loading={verifying.isPending} fullWidth>
            Go on
          </Button>
          <Anchor
            component="button"
            type="button"
            size="sm"
            onClick={() => {
              setBackup(!backup);
              setCode('');
            }}
          >
            {backup ? 'Use the authenticator app' : 'Use a backup code'}
          </Anchor>
        </Stack>
      </form>
    </SignInCard>
  );
}
