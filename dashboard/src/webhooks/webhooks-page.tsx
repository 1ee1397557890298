/** Endpoints with their health, and the delivery log. */
import { Button, Tabs, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/lists.ts';
import { useMayWrite } from '../api/session.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { EmptyState } from '../frame/states.tsx';
import { useTab } from '../frame/tab.ts';
import { Status, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { DeliveryLog } from './delivery-log.tsx';
import { type Endpoint, endpointList } from './endpoint.ts';
import { EndpointForm } from './endpoint-form.tsx';

const columns: Column<Endpoint>[] = [
  {
    title: 'Endpoint',
    cell: ({ id, url, description }) => (
      <Link to={pathTo('/webhooks/$endpointId', id)} className="row-link">
        <Text fw={550} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {url}
        </Text>
        {description !== '' && (
          <Text c="dimmed" size="xs" lineClamp={2}>
            {description}
          </Text>
        )}
      </Link>
    ),
  },
  {
    title: 'Events',
    cell: ({ eventTypes, filter }) => (
      <Text size="sm" title={eventTypes.join(', ')}>
        {eventTypes.length === 1 ? eventTypes[0] : `${eventTypes.length} types`}
        {filter !== null && ', filtered'}
      </Text>
    ),
    width: 230,
    wide: true,
  },
  { title: 'Health', cell: ({ status }) => <Status value={status} />, width: 110 },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, width: 140, wide: true },
];

export function WebhooksPage() {
  const mayWrite = useMayWrite();
  const [tab, setTab] = useTab('endpoints');
  const [opened, { open, close }] = useDisclosure();
  const create = mayWrite && (
    <Button onClick={open} leftSection={<Icon name="plus" size={16} />}>
      New endpoint
    </Button>
  );
  return (
    <>
      <PageHead
        title="Webhooks"
        about="Events are signed and sent to your endpoints, and retried when a delivery fails."
        actions={create}
      />
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="endpoints">Endpoints</Tabs.Tab>
          <Tabs.Tab value="deliveries">Delivery log</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="endpoints">
          <EndpointList create={create} />
        </Tabs.Panel>
        <Tabs.Panel value="deliveries">
          <DeliveryLog />
        </Tabs.Panel>
      </Tabs>
      {opened && <EndpointForm close={close} />}
    </>
  );
}

function EndpointList({ create }: { create: React.ReactNode }) {
  const list = useList<Endpoint>(endpointList);
  return (
    <DataTable
      list={list}
      label="Endpoints"
      columns={columns}
      keyOf={({ id }) => id}
      empty={
        <EmptyState icon="webhook" title="No endpoints yet" action={create}>
          An endpoint is an https URL of yours that accepts POST. Choose which events it gets.
        </EmptyState>
      }
    />
  );
}
