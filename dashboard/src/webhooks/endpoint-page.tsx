/** One endpoint: its health, its secret, its deliveries, and replays. */
import { Alert, Badge, Button, Group, Menu, Stack, Tabs } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { call } from '../api/call.ts';
import { useMayWrite } from '../api/session.ts';
import { Confirm } from '../frame/confirm.tsx';
import { Details } from '../frame/details.tsx';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { useTab } from '../frame/tab.ts';
import { Code, Status, Time } from '../frame/values.tsx';
import { DeliveryLog } from './delivery-log.tsx';
import { type Endpoint, endpointQuery, type TestOutcome } from './endpoint.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { PortalLinks } from './portal-links.tsx';
import { ReplayForm } from './replay-form.tsx';
import { SecretPanel } from './secret-panel.tsx';
import { TestOutcomeNote } from './test-outcome.tsx';

export function EndpointPage() {
  const { endpointId } = useParams({ strict: false }) as { endpointId: string };
  const { data: endpoint, error, refetch } = useQuery(endpointQuery(endpointId));
  if (error) return <FailureState error={error} again={() => void refetch()} />;
  if (!endpoint) return <LoadingRows />;
  return <WholeEndpoint endpoint={endpoint} />;
}

const disabledTexts = {
  owner: 'It was disabled manually.',
  gone: 'It answered 410 Gone, which means that it must not be called again.',
  failing: 'It failed for five days.',
};

function WholeEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const mayWrite = useMayWrite();
  const [tab, setTab] = useTab('deliveries');
  const [test, setTest] = useState<TestOutcome | null>(null);
  return (
    <>
      <PageHead
        title={endpoint.url}
        back={{ to: '/webhooks', label: 'Webhooks' }}
        about={
          <Group gap="xs" mt={4}>
            <Status value={endpoint.status} /> {endpoint.description}
          </Group>
        }
        actions={mayWrite && <EndpointActions endpoint={endpoint} onTested={setTest} />}
      />
      <Stack gap="sm" {...((test || endpoint.status === 'disabled') && { mb: 'md' })}>
        {endpoint.status === 'disabled' && (
          <Alert color="yellow" icon={<Icon name="warning" />}>
            {disabledTexts[endpoint.disabledReason ?? 'owner']} Events are marked as skipped: enable the
            endpoint, then replay them.
          </Alert>
        )}
        {test && <TestOutcomeNote test={test} />}
      </Stack>
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="deliveries">Deliveries</Tabs.Tab>
          <Tabs.Tab value="settings">Settings</Tabs.Tab>
          {mayWrite && <Tabs.Tab value="secret">Signing secret</Tabs.Tab>}
          {mayWrite && <Tabs.Tab value="portal">Portal links</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="deliveries">
          <DeliveryLog endpointId={endpoint.id} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <Details
            items={[
              ['Id', <Code key="id" value={endpoint.id} label="endpoint id" whole />],
              [
                'Event types',
                <Group key="types" gap={4}>
                  {endpoint.eventTypes.map((type) => (
                    <Badge key={type} variant="default" tt="none" radius="sm" fw={450}>
                      {type}
                    </Badge>
                  ))}
                </Group>,
              ],
              ['Filter', endpoint.filter === null ? 'none' : <code key="filter">{endpoint.filter}</code>],
              ['Order', endpoint.ordering === 'resource' ? 'one after the other for each resource' : 'any'],
              ...(endpoint.headerNames.length > 0
                ? [['Own headers', endpoint.headerNames.join(', ')] as [string, string]]
                : []),
              ...(endpoint.publicKey === null
                ? []
                : [
                    [
                      'Public key',
                      <Code key="public-key" value={endpoint.publicKey} label="public key" whole />,
                    ] as [string, ReactNode],
                  ]),
              ...(endpoint.clientCertificate === null
                ? []
                : [
                    [
                      'Client certificate',
                      <span key="certificate">
                        {endpoint.clientCertificate.subject}, until{' '}
                        <Time at={endpoint.clientCertificate.notAfter} exact />
                      </span>,
                    ] as [string, ReactNode],
                  ]),
              ['Requests per second', endpoint.rateLimit ?? 'no limit'],
              ['Created', <Time key="created" at={endpoint.createdAt} exact />],
              ['Changed', <Time key="changed" at={endpoint.updatedAt} exact />],
            ]}
          />
        </Tabs.Panel>
        {mayWrite && (
          <Tabs.Panel value="secret">
            <SecretPanel endpointId={endpoint.id} />
          </Tabs.Panel>
        )}
        {mayWrite && (
          <Tabs.Panel value="portal">
            <PortalLinks endpointId={endpoint.id} />
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  );
}

function EndpointActions({ endpoint, onTested }: { endpoint: Endpoint; onTested(test: TestOutcome): void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [changing, change] = useDisclosure();
  const [replaying, replay] = useDisclosure();
  const [deleting, remove] = useDisclosure();
  const testing = useMutation({
    mutationFn: () => call<TestOutcome>('POST', `/platform/webhooks/endpoints/${endpoint.id}/test`),
    async onSuccess(outcome) {
      onTested(outcome);
      await client.invalidateQueries({ queryKey: ['deliveries'] });
    },
  });
  return (
    <>
      <Button variant="default" onClick={() => testing.mutate()} loading={testing.isPending}>
        Send test
      </Button>
      <Button variant="default" onClick={replay.open} leftSection={<Icon name="again" size={16} />}>
        Replay
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default">Actions</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="pencil" size={16} />} onClick={change.open}>
            Change
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="bin" size={16} />} color="red" onClick={remove.open}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {changing && <EndpointForm endpoint={endpoint} close={change.close} />}
      {replaying && <ReplayForm endpoint={endpoint} close={replay.close} />}
      {deleting && (
        <Confirm
          title="Delete this endpoint?"
          label="Delete endpoint"
          close={remove.close}
          act={async () => {
            await call('DELETE', `/platform/webhooks/endpoints/${endpoint.id}`);
            await client.invalidateQueries({ queryKey: ['webhooks'] });
            await navigate({ to: '/webhooks' });
          }}
        >
          Nothing more is sent to it. Its deliveries stay in the log.
        </Confirm>
      )}
    </>
  );
}
