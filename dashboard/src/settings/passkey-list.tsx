/** The user's passkeys: registered here, and removed. */
import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { canUsePasskeys, registerPasskey } from '../api/passkey.ts';
import type { Schemas } from '../api/schemas.ts';
import { Confirm } from '../frame/confirm.tsx';
import { FormFailure } from '../frame/form.tsx';
import { showDone } from '../frame/notice.ts';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { Time } from '../frame/values.tsx';
import { PasskeyPlace } from '../sign-in/passkey-button.tsx';

type Passkey = Schemas['Passkey'];

const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: () => call<Passkey[]>('GET', '/platform/passkeys'),
});

export function PasskeyList() {
  const client = useQueryClient();
  const { data: passkeys, error, refetch } = useQuery(passkeysQuery);
  const [removing, setRemoving] = useState<Passkey | null>(null);
  /** What asks for a proof offers those that there are. */
  const changed = async () => {
    await client.invalidateQueries({ queryKey: ['passkeys'] });
    await client.invalidateQueries({ queryKey: ['me'] });
  };
  if (error) return <FailureState error={error} again={() => void refetch()} />;
  if (!passkeys) return <LoadingRows rows={2} />;
  return (
    <Stack gap="sm" maw={560} mb="xl">
      <Title order={2} size="h4">
        Passkeys
      </Title>
      <Text size="sm" c="dimmed">
        With a passkey you sign in and confirm by fingerprint, face or PIN, without a password. Register one
        on each device.
      </Text>
      {passkeys.map((passkey) => (
        <Paper key={passkey.id} withBorder p="sm">
          <Group justify="space-between" wrap="nowrap">
            <div>
              <Text size="sm" fw={550} className="breaks">
                {passkey.name}
              </Text>
              <Text size="xs" c="dimmed">
                Registered <Time at={passkey.createdAt} />
                {passkey.lastUsedAt === null ? (
                  ', not used yet'
                ) : (
                  <>
                    , last used <Time at={passkey.lastUsedAt} />
                  </>
                )}
              </Text>
            </div>
            <Button
              size="xs"
              variant="default"
              flex="none"
              aria-label={`Remove ${passkey.name}`}
              onClick={() => setRemoving(passkey)}
            >
              Remove
            </Button>
          </Group>
        </Paper>
      ))}
      {canUsePasskeys() ? <NewPasskey changed={changed} /> : <PasskeyPlace />}
      {removing && (
        <Confirm
          title={`Remove ${removing.name}?`}
          label="Remove passkey"
          close={() => setRemoving(null)}
          act={async () => {
            await call('DELETE', `/platform/passkeys/${removing.id}`);
            await changed();
          }}
        >
          It no longer signs you in. The device keeps its half until you delete it there.
        </Confirm>
      )}
    </Stack>
  );
}

function NewPasskey({ changed }: { changed(): Promise<void> }) {
  const [name, setName] = useState('');
  const registering = useMutation({
    meta: { shown: true },
    mutationFn: () => registerPasskey(name),
    async onSuccess() {
      setName('');
      await changed();
      showDone('The passkey was registered.');
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        registering.mutate();
      }}
    >
      <Stack gap="sm">
        <Group align="flex-end" gap="sm">
          <TextInput
            label="Name of the device"
            placeholder="Laptop"
            required
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={registering.isPending}>
            Register a passkey
          </Button>
        </Group>
        <FormFailure error={registering.error} />
      </Stack>
    </form>
  );
}
