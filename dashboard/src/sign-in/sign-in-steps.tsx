/** The two steps of signing in: email and password, then a code if two-factor is on. */
import { Anchor, Button, PasswordInput, PinInput, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { callAuth } from '../api/call.ts';
import { FormFailure } from '../frame/form.tsx';

interface SignInAnswer {
  twoFactorRedirect?: boolean;
}

export interface PasswordStepProps {
  /** Filled in when the user is known. */
  email?: string;
  enter(): Promise<void>;
  askForCode(): void;
  /** Below the button. */
  children?: ReactNode;
}

export function PasswordStep({ email: known = '', enter, askForCode, children }: PasswordStepProps) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const signing = useMutation({
    meta: { shown: true },
    mutationFn: () => callAuth<SignInAnswer>('sign-in/email', { email, password }),
    onSuccess: (answer) => (answer.twoFactorRedirect ? askForCode() : enter()),
  });
  return (
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
          {...(known === '' && { autoFocus: true })}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          {...(known !== '' && { 'data-autofocus': true })}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <FormFailure error={signing.error} />
        <Button type="submit" loading={signing.isPending} fullWidth>
          Sign in
        </Button>
        {children}
      </Stack>
    </form>
  );
}

/** `about`: renders the sentence that says which code is needed. */
export function CodeStep({ enter, about }: { enter(): Promise<void>; about(words: string): ReactNode }) {
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
    <>
      {about(
        backup
          ? 'Enter one of your backup codes. Each works once.'
          : 'Enter the code from your authenticator app.',
      )}
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
            Continue
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
    </>
  );
}
