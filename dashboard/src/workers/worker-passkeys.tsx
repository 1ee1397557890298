/** The passkeys of a worker: invited, confirmed by a second person, revoked. */
import { Badge, Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { useMayWrite, useMe } from '../api/session.ts';
import { Confirm } from '../frame/confirm.tsx';
import { FormDialog } from '../frame/form.tsx';
import { Icon } from '../frame/icons.tsx';
import { LinkOnce } from '../frame/link-once.tsx';
import { showDone } from '../frame/notice.ts';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { Time } from '../frame/values.tsx';
import { SignatureDialog } from './passkey-signature.tsx';
import { type Worker, workerUrl } from './worker.ts';

type Passkey = Schemas['WorkerPasskey'];

const passkeysQuery = (address: string) =>
  queryOptions({
    queryKey: ['workers', 'passkeys', address],
    queryFn: () => call<Passkey[]>('GET', `${workerUrl(address)}passkeys/`, { query: { limit: 1000 } }),
  });

export function WorkerPasskeys({ worker }: { worker: Worker }) {
  const mayWrite = useMayWrite();
  const { data: passkeys, error, refetch } = useQuery(passkeysQuery(worker.address));
  const [inviting, invite] = useDisclosure();
  return (
    <Stack gap="xs" maw={620}>
      <Group justify="space-between" mt="lg">
        <Title order={2} size="h4">
          Passkeys
        </Title>
        {mayWrite && (
          <Button
            variant="default"
            size="xs"
            onClick={invite.open}
            leftSection={<Icon name="key" size={14} />}
          >
            Invite by link
          </Button>
        )}
      </Group>
      {error ? (
        <FailureState error={error} again={() => void refetch()} />
      ) : !passkeys ? (
        <LoadingRows rows={1} />
      ) : passkeys.length === 0 ? (
        <Text size="sm" c="dimmed">
          None. Invite {worker.name} to register one on their own device: then only they can sign.
        </Text>
      ) : (
        passkeys.map((passkey) => <PasskeyRow key={passkey.id} worker={worker} passkey={passkey} />)
      )}
      {inviting && <InviteDialog worker={worker} close={invite.close} />}
    </Stack>
  );
}

const stateWords: Record<string, { text: string; color: string }> = {
  unconfirmed: { text: 'to be confirmed', color: 'yellow' },
  unsigned: { text: 'to be signed', color: 'yellow' },
  active: { text: 'active', color: 'sea' },
  refused: { text: 'refused', color: 'gray' },
  revoked: { text: 'revoked', color: 'gray' },
};

function PasskeyRow({ worker, passkey }: { worker: Worker; passkey: Passkey }) {
  const mayWrite = useMayWrite();
  const { role } = useMe();
  const mayConfirm = role === 'admin' || role === 'owner';
  const [confirming, confirm] = useDisclosure();
  const [refusing, refuse] = useDisclosure();
  const [revoking, revoke] = useDisclosure();
  const [signing, sign] = useDisclosure();
  const client = useQueryClient();
  const { text = passkey.state, color = 'gray' } = stateWords[passkey.state] ?? {};
  const at = `${workerUrl(worker.address)}passkeys/${passkey.id}`;
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" gap="xs">
        <div>
          <Badge variant="light" color={color} radius="sm" tt="none">
            {text}
          </Badge>
          <Text size="sm" c="dimmed" component="div" mt={4}>
            Registered <Time at={passkey.createdAt} /> for {passkey.rpId}
          </Text>
        </div>
        <Group gap={6}>
          {(passkey.state === 'unconfirmed' || passkey.state === 'unsigned') && mayConfirm && (
            <Button size="xs" variant="default" onClick={refuse.open}>
              Refuse
            </Button>
          )}
          {passkey.state === 'unconfirmed' && mayConfirm && (
            <Button size="xs" onClick={confirm.open}>
              Confirm
            </Button>
          )}
          {passkey.state === 'unsigned' && mayWrite && (
            <Button size="xs" onClick={sign.open}>
              {worker.keyHolder === 'passkey' ? 'Link to sign' : 'Sign'}
            </Button>
          )}
          {passkey.state === 'active' && mayWrite && (
            <Button size="xs" variant="default" onClick={revoke.open}>
              Revoke
            </Button>
          )}
        </Group>
      </Group>
      {passkey.state === 'unconfirmed' && (
        <Text size="xs" c="dimmed" mt={6}>
          It signs once an admin has confirmed it with the code on the worker’s device. That must be somebody
          else than who invited them.
        </Text>
      )}
      {passkey.state === 'unsigned' && (
        <Text size="xs" c="dimmed" mt={6}>
          {worker.keyHolder === 'passkey'
            ? 'It signs once the worker has signed, with a passkey that they have, that this one is theirs.'
            : 'It signs once the worker has signed with their own key that it is theirs.'}
        </Text>
      )}
      {signing && <SignatureDialog worker={worker} at={at} close={sign.close} />}
      {confirming && <ConfirmDialog worker={worker} at={at} close={confirm.close} />}
      {refusing && (
        <Confirm
          title="Refuse this registration?"
          label="Refuse"
          close={refuse.close}
          act={async () => {
            await call('POST', `${at}/refuse`);
            await client.invalidateQueries({ queryKey: ['workers'] });
          }}
        >
          Somebody who had the link registered a passkey that is not of {worker.name}. It will never sign.
          Then invite {worker.name} anew.
        </Confirm>
      )}
      {revoking && <RevokeDialog worker={worker} at={at} close={revoke.close} />}
    </Paper>
  );
}

function InviteDialog({ worker, close }: { worker: Worker; close(): void }) {
  const inviting = useMutation({
    meta: { shown: true },
    mutationFn: () => call<Schemas['WorkerInvitation']>('POST', `${workerUrl(worker.address)}invite`),
  });
  if (inviting.data) {
    return (
      <LinkOnce
        title={`Invite ${worker.name}`}
        label="The link to register a passkey"
        link={inviting.data.link}
        about={`For ${worker.name} only: to scan with their phone, or to open on their device. It works once, is valid for seven days, and cannot be shown again.`}
        close={close}
      />
    );
  }
  return (
    <FormDialog
      opened
      close={close}
      title={`Invite ${worker.name}`}
      submitLabel="Create link"
      saving={inviting}
    >
      <Text size="sm">
        {worker.name} opens a link on their own phone and registers a passkey there. Then an admin other than
        you confirms it with a code that the phone shows.
      </Text>
      {worker.keyHolder === 'service' && (
        <Text size="sm" c="dimmed">
          The confirmation destroys the key that the service holds for {worker.name}, once that has signed the
          passkey: from then on only the passkey signs.
        </Text>
      )}
      {worker.keyHolder !== 'service' && (
        <Text size="sm" c="dimmed">
          At the end {worker.name} signs that it is theirs, with{' '}
          {worker.keyHolder === 'passkey' ? 'a passkey that they have' : 'their own key'}.
        </Text>
      )}
    </FormDialog>
  );
}

function ConfirmDialog({ worker, at, close }: { worker: Worker; at: string; close(): void }) {
  const client = useQueryClient();
  const [code, setCode] = useState('');
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () => call('POST', `${at}/confirm`, { body: { code: code.trim() } }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['workers'] });
      showDone(
        worker.keyHolder === 'service'
          ? `${worker.name} can sign with this passkey now.`
          : `Confirmed. ${worker.name} has to sign it now.`,
      );
      close();
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={`Is this the passkey of ${worker.name}?`}
      submitLabel="Confirm"
      saving={saving}
    >
      <Text size="sm">
        Ask {worker.name} in person or by phone for the code on their device. You vouch for it that it was
        them; your confirmation is anchored.
      </Text>
      <TextInput
        label="Code"
        placeholder="3FA9-C01E"
        required
        maxLength={20}
        autoComplete="off"
        data-autofocus
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

function RevokeDialog({ worker, at, close }: { worker: Worker; at: string; close(): void }) {
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () => call('POST', `${at}/revoke`, { body: { reason } }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['workers'] });
      showDone('The passkey was revoked.');
      close();
    },
  });
  return (
    <FormDialog opened close={close} title="Revoke this passkey?" submitLabel="Revoke" saving={saving} danger>
      <Text size="sm">
        It signs nothing any more; what it has signed stays valid. If it is the last one, nothing signs for
        this address again: {worker.name} then needs a new worker.
      </Text>
      <TextInput
        label="Reason"
        description="Is anchored, and cannot be changed"
        placeholder="Phone lost"
        required
        maxLength={1000}
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
