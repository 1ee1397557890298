/** The page for signing in. */
import { Anchor, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { meQuery } from '../api/session.ts';
import { sessionBegun } from '../api/session-end.ts';
import { SignInCard } from './card.tsx';
import { CodeStep, PasswordStep } from './sign-in-steps.tsx';

export function SignInPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { to } = useSearch({ from: '/sign-in' });
  const [needsCode, setNeedsCode] = useState(false);

  async function enter() {
    // Also removes what another user left behind.
    client.clear();
    sessionBegun();
    await client.ensureQueryData(meQuery);
    await navigate({ to: to ?? '/' });
  }

  if (needsCode) {
    return (
      <SignInCard title="Two-factor code">
        <CodeStep
          enter={enter}
          about={(words) => (
            <Text c="dimmed" size="sm">
              {words}
            </Text>
          )}
        />
      </SignInCard>
    );
  }
  return (
    <SignInCard
      title="Sign in"
      about="Accounts are created by invitation. The link for the first owner is printed when the service starts."
    >
      <PasswordStep enter={enter} askForCode={() => setNeedsCode(true)}>
        <Text c="dimmed" size="xs">
          Locked out? The operator of the service can help: <code>holdfast users reset-password EMAIL</code>.
          You do not need an account to check a proof:{' '}
          <Anchor href="/verify" underline="always">
            verify a proof
          </Anchor>
          .
        </Text>
      </PasswordStep>
    </SignInCard>
  );
}
