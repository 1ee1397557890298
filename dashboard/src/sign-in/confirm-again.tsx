/** The dialog above a form whose change needs a fresh proof of who is there; what was typed is kept and then sent. */
import { Button, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { callAuth } from '../api/call.ts';
import { confirmationOver, useConfirmationNeeded } from '../api/confirmation.ts';
import { type Me, useMe } from '../api/session.ts';
import { FormFailure } from '../frame/form.tsx';
import { PasskeyButton, PasskeyPlace } from './passkey-button.tsx';
import { useProviderHost } from './sign-in-options.tsx';
import { CodeStep } from './sign-in-steps.tsx';

export function ConfirmAgain() {
  const needed = useConfirmationNeeded();
  return needed ? <ConfirmDialog /> : null;
}

function ConfirmDialog() {
  const me = useMe();
  const has = (way: Me['provedBy'][number]) => me.provedBy.includes(way);
  const confirmed = async () => confirmationOver(true);
  return (
    <Modal
      opened
      onClose={() => confirmationOver(false)}
      title="Confirm that it is you"
      centered
      // Above forms and notices.
      zIndex={900}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="sm">
        <Text size="sm">
          This change needs a fresh proof of who is at the keyboard. You are asked again only after ten
          minutes.
        </Text>
        {has('passkey') && (
          <>
            <PasskeyButton label="Confirm with a passkey" done={confirmed} />
            <PasskeyPlace />
          </>
        )}
        {has('provider') && <ConfirmAtProvider confirmed={confirmed} />}
        {has('code') && <CodeStep enter={confirmed} about={(words) => <Text size="sm">{words}</Text>} />}
        {has('password') && !has('passkey') && !has('code') && <ConfirmByPassword confirmed={confirmed} />}
      </Stack>
    </Modal>
  );
}

/** For people who have no password here: signs in there again, in another window. */
function ConfirmAtProvider({ confirmed }: { confirmed(): Promise<void> }) {
  const host = useProviderHost();
  const [opened, setOpened] = useState(false);
  if (host === null) return null;
  return opened ? (
    <Button onClick={() => void confirmed()} fullWidth>
      I have confirmed there: continue
    </Button>
  ) : (
    <Button
      component="a"
      href="/auth/provider/start?confirm=true"
      target="_blank"
      rel="opener"
      variant="default"
      fullWidth
      onClick={() => setOpened(true)}
    >
      Confirm with {host}
    </Button>
  );
}

function ConfirmByPassword({ confirmed }: { confirmed(): Promise<void> }) {
  const [password, setPassword] = useState('');
  const confirming = useMutation({
    meta: { shown: true },
    mutationFn: () => callAuth('confirm/password', { password }),
    onSuccess: confirmed,
  });
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        // The dialog may be opened by a form around it.
        event.stopPropagation();
        confirming.mutate();
      }}
    >
      <Stack gap="sm">
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          required
          data-autofocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <FormFailure error={confirming.error} />
        <Button type="submit" loading={confirming.isPending} fullWidth>
          Confirm
        </Button>
      </Stack>
    </form>
  );
}
