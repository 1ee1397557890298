/** The portal links of an endpoint: made for somebody without an account, shown once, revoked. */
import { Badge, Button, Checkbox, Group, Paper, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { Confirm } from '../frame/confirm.tsx';
import { FormDialog } from '../frame/form.tsx';
import { LinkOnce } from '../frame/link-once.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { Time } from '../frame/values.tsx';

type PortalLink = Schemas['PortalLink'];

const urlOf = (endpointId: string) => `/platform/webhooks/endpoints/${endpointId}/portal-links`;
const linksQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'portal-links', endpointId],
    queryFn: () => call<PortalLink[]>('GET', urlOf(endpointId)),
  });

export function PortalLinks({ endpointId }: { endpointId: string }) {
  const { data: links, error, refetch } = useQuery(linksQuery(endpointId));
  const [making, make] = useDisclosure();
  return (
    <Stack gap="sm" maw={640}>
      <Text size="sm">
        A portal link shows this endpoint and its deliveries to somebody without an account, such as the
        customer who runs the receiver. They can send tests and retry deliveries, and see nothing else of this
        workspace.
      </Text>
      <Group>
        <Button variant="default" onClick={make.open}>
          Create portal link
        </Button>
      </Group>
      {error ? (
        <FailureState error={error} again={() => void refetch()} />
      ) : !links ? (
        <LoadingRows rows={1} />
      ) : (
        links.map((link) => <LinkRow key={link.id} endpointId={endpointId} link={link} />)
      )}
      {making && <MakeDialog endpointId={endpointId} close={make.close} />}
    </Stack>
  );
}

function LinkRow({ endpointId, link }: { endpointId: string; link: PortalLink }) {
  const client = useQueryClient();
  const [revoking, revoke] = useDisclosure();
  const expired = Date.parse(link.expiresAt) <= Date.now();
  const rights = [link.mayChangeUrl && 'may change the URL', link.mayManageSecret && 'may manage the secret'];
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <div>
          <Text size="sm" fw={550} className="breaks">
            {link.description === '' ? 'Portal link' : link.description}
          </Text>
          <Text size="sm" c="dimmed" component="div">
            {expired ? 'Expired' : 'Valid until'} <Time at={link.expiresAt} exact />,{' '}
            {link.lastUsedAt === null ? (
              'never used'
            ) : (
              <>
                last used <Time at={link.lastUsedAt} />
              </>
            )}
          </Text>
          <Group gap={4} mt={4}>
            {rights
              .filter((right) => right !== false)
              .map((right) => (
                <Badge key={right} variant="default" tt="none" radius="sm" fw={450}>
                  {right}
                </Badge>
              ))}
          </Group>
        </div>
        {!expired && (
          <Button size="xs" variant="default" onClick={revoke.open}>
            Revoke
          </Button>
        )}
      </Group>
      {revoking && (
        <Confirm
          title="Revoke this portal link?"
          label="Revoke"
          close={revoke.close}
          act={async () => {
            await call('DELETE', `${urlOf(endpointId)}/${link.id}`);
            await client.invalidateQueries({ queryKey: ['webhooks', 'portal-links'] });
            showDone('The portal link was revoked.');
          }}
        >
          It stops working at once. A secret that its holder has seen stays valid: rotate it if needed.
        </Confirm>
      )}
    </Paper>
  );
}

function MakeDialog({ endpointId, close }: { endpointId: string; close(): void }) {
  const [description, setDescription] = useState('');
  const [days, setDays] = useState('7');
  const [mayChangeUrl, setMayChangeUrl] = useState(false);
  const [mayManageSecret, setMayManageSecret] = useState(false);
  const making = useSaving({
    nouns: ['webhooks'],
    send(headers) {
      const body = { description, validDays: Number(days), mayChangeUrl, mayManageSecret };
      return call<Schemas['MadePortalLink']>('POST', urlOf(endpointId), { body, headers });
    },
    onDone: () => {},
  });
  if (making.data) {
    return (
      <LinkOnce
        title="The portal link"
        label="The portal link"
        link={making.data.link}
        about="Whoever has it can open this endpoint. It cannot be shown again."
        close={close}
      />
    );
  }
  return (
    <FormDialog opened close={close} title="Create a portal link" submitLabel="Create link" saving={making}>
      <TextInput
        label="For whom"
        description="Its holder does not see this."
        placeholder="Harbour Cranes Ltd"
        maxLength={200}
        data-autofocus
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <Select
        label="Valid for"
        allowDeselect={false}
        data={[
          { value: '1', label: '1 day' },
          { value: '7', label: '7 days' },
          { value: '30', label: '30 days' },
          { value: '90', label: '90 days' },
        ]}
        value={days}
        onChange={(value) => setDays(value ?? '7')}
      />
      <Checkbox
        label="May change the URL"
        checked={mayChangeUrl}
        onChange={(event) => setMayChangeUrl(event.currentTarget.checked)}
      />
      <Checkbox
        label="May see and rotate the signing secret"
        checked={mayManageSecret}
        onChange={(event) => setMayManageSecret(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}
