/** The page for signing in. */
import { Alert, Anchor, Button, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { meQuery } from '../api/session.ts';
import { sessionBegun } from '../api/session-end.ts';
import { SignInCard } from './card.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { problemText } from './problems.ts';
import { ProviderButton } from './sign-in-options.tsx';
import { CodeStep, PasswordStep } from './sign-in-steps.tsx';

export function SignInPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { to, problem, confirmed } = useSearch({ from: '/sign-in' });
  const [needsCode, setNeedsCode] = useState(false);

  async function enter() {
    // Also removes what another user left behind.
    client.clear();
    sessionBegun();
    await client.ensureQueryData(meQuery);
    await navigate({ to: to ?? '/' });
  }

  if (confirmed) {
    return (
      <SignInCard title="Confirmed" about="You can close this window and continue in the one before.">
        <Button onClick={() => window.close()}>Close this window</Button>
      </SignInCard>
    );
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
      {problem !== undefined && (
        <Alert color="red" role="alert" py="xs">
          {problemText(problem)}
        </Alert>
      )}
      <ProviderButton to={to} />
      <PasskeyButton label="Sign in with a passkey" done={enter} />
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
