/** The delivery log: every event that was or will be sent, by endpoint, state, type and time. */
import { Group, Select, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/lists.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { EmptyState } from '../frame/states.tsx';
import { Code, Status, Time } from '../frame/values.tsx';
import { deliveryPath } from '../links.ts';
import { type Delivery, type Endpoint, endpointList, eventTypes } from './endpoint.ts';

const states = ['pending', 'delivering', 'succeeded', 'failed', 'skipped'];

const columns: Column<Delivery>[] = [
  {
    title: 'Event',
    cell: ({ id, type, replayId }) => (
      <Link to={deliveryPath(id)} className="row-link">
        <Text fw={550} size="sm">
          {type}
        </Text>
        {replayId !== null && (
          <Text c="dimmed" size="xs">
            replayed
          </Text>
        )}
      </Link>
    ),
  },
  {
    title: 'Event id',
    cell: ({ eventId }) => <Code value={eventId} label="event id" />,
    width: 230,
    wide: true,
  },
  { title: 'Status', cell: ({ status }) => <Status value={status} />, width: 110 },
  {
    title: 'Next attempt',
    cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? '–' : <Time at={nextAttemptAt} />),
    width: 140,
    wide: true,
  },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, width: 140, align: 'right' },
];

/** Of an attempt that is due no event tells how it ended. */
function isUnderWay({ status, nextAttemptAt }: Delivery): boolean {
  const due = nextAttemptAt === null || Date.parse(nextAttemptAt) < Date.now() + 10_000;
  return status === 'delivering' || (status === 'pending' && due);
}

/** `endpointId`: only those of one endpoint, and no choice of it. */
export function DeliveryLog({ endpointId }: { endpointId?: string }) {
  const [filters, setFilter] = useFilters('endpoint', 'status', 'type', 'from', 'to');
  const query = {
    endpointId: endpointId ?? filters.endpoint,
    status: filters.status,
    type: filters.type,
    from: filters.from && `${filters.from}T00:00:00Z`,
    to: filters.to && `${filters.to}T23:59:59.999Z`,
  };
  const list = useList<Delivery>(
    { noun: 'deliveries', path: '/platform/webhooks/deliveries', query },
    isUnderWay,
  );
  const filtered = Object.keys(filters).length > 0;
  return (
    <>
      <Group gap="sm" mb="md" align="flex-end">
        {endpointId === undefined && (
          <EndpointChoice value={filters.endpoint ?? null} choose={(id) => setFilter('endpoint', id)} />
        )}
        <Select
          label="Status"
          placeholder="any"
          clearable
          w={140}
          data={states}
          value={filters.status ?? null}
          onChange={(value) => setFilter('status', value)}
        />
        <Select
          label="Event type"
          placeholder="any"
          clearable
          searchable
          w={240}
          data={[...eventTypes.map(([type]) => type), 'webhook.test']}
          value={filters.type ?? null}
          onChange={(value) => setFilter('type', value)}
        />
        <TextInput
          type="date"
          label="From day (UTC)"
          value={filters.from ?? ''}
          onChange={(event) => setFilter('from', event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label="To day (UTC)"
          value={filters.to ?? ''}
          onChange={(event) => setFilter('to', event.currentTarget.value)}
        />
      </Group>
      <DataTable
        list={list}
        label="Deliveries"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState icon="webhook" title={filtered ? 'Nothing fits these filters' : 'Nothing was sent yet'}>
            {filtered
              ? 'Take one away to see more.'
              : 'Each event that an endpoint subscribes to is listed here, with every attempt.'}
          </EmptyState>
        }
      />
    </>
  );
}

function EndpointChoice({ value, choose }: { value: string | null; choose(id: string | null): void }) {
  const { items = [] } = useList<Endpoint>(endpointList);
  return (
    <Select
      label="Endpoint"
      placeholder="any"
      clearable
      searchable
      w={260}
      data={items.map(({ id, url }) => ({ value: id, label: url }))}
      value={value}
      onChange={choose}
    />
  );
}
