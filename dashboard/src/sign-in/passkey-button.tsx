/** Signs in, or confirms, with a passkey; on a bare address it leads to where passkeys work. */
import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { addressWithName, canUsePasskeys, usePasskeyNow } from '../api/passkey.ts';
import { FormFailure } from '../frame/form.tsx';

export function PasskeyButton({ label, done }: { label: string; done(): Promise<void> }) {
  const using = useMutation({ meta: { shown: true }, mutationFn: usePasskeyNow, onSuccess: done });
  if (!canUsePasskeys()) return null;
  return (
    <Stack gap="xs">
      <Button variant="default" fullWidth loading={using.isPending} onClick={() => using.mutate()}>
        {label}
      </Button>
      <FormFailure error={using.error} />
    </Stack>
  );
}

/** What to do where browsers offer no passkeys. */
export function PasskeyPlace() {
  const named = addressWithName();
  if (canUsePasskeys()) return null;
  return (
    <Text size="sm" c="dimmed">
      {named === null ? (
        'Passkeys need a host name and https. Open the dashboard under its name, not its address.'
      ) : (
        <>
          Passkeys need a host name:{' '}
          <Anchor href={named} underline="always">
            open this page as localhost
          </Anchor>
          .
        </>
      )}
    </Text>
  );
}
