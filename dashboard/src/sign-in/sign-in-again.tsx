/**
 * Covers the page when the session has ended: the user signs in again in place, and every form keeps what was typed. Until
 * then nothing of the page is visible.
 */
import { Anchor, Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery, useMe } from '../api/session.ts';
import { sessionBegun, useSessionEnded } from '../api/session-end.ts';
import { PasskeyButton } from './passkey-button.tsx';
import { CodeStep, PasswordStep } from './sign-in-steps.tsx';

export function SignInAgain() {
  const ended = useSessionEnded();
  return ended ? <SignInDialog /> : null;
}

function SignInDialog() {
  const client = useQueryClient();
  const before = useMe();
  const [needsCode, setNeedsCode] = useState(false);

  async function enter() {
    const now = await client.fetchQuery({ ...meQuery, staleTime: 0 });
    // What one person typed and saw here is not for another person, role or workspace.
    if (now?.id !== before.id || now.workspaceId !== before.workspaceId || now.role !== before.role) {
      window.location.assign('/');
      return;
    }
    sessionBegun();
    await client.invalidateQueries();
  }

  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title="Your session has ended"
      centered
      // Above forms and notices.
      zIndex={1000}
      overlayProps={{ backgroundOpacity: 1, color: 'var(--mantine-color-body)' }}
    >
      <Stack gap="sm">
        {needsCode ? (
          <CodeStep enter={enter} about={(words) => <Text size="sm">{words}</Text>} />
        ) : (
          <>
            <Text size="sm">
              Sign in again to continue where you left off. What you typed is kept; nothing was sent.
            </Text>
            <PasswordStep email={before.email} enter={enter} askForCode={() => setNeedsCode(true)}>
              <PasskeyButton label="Sign in with a passkey" done={enter} />
              <Anchor href="/sign-in" size="sm">
                Leave this page and sign in as someone else
              </Anchor>
            </PasswordStep>
          </>
        )}
      </Stack>
    </Modal>
  );
}
