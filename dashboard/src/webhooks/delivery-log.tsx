/** The delivery log: every event that was or will be sent, by endpoint, state, type and time. */
import { Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useList } from '../api/lists.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { type Filters, useFilters } from '../frame/filters.ts';
import { EmptyState } from '../frame/states.tsx';
import { TextFilter } from '../frame/text-filter.tsx';
import { Code, Status, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { type Delivery, type Endpoint, endpointList, eventTypes } from './endpoint.ts';
import { EventType } from './event-type.tsx';

const states = ['pending', 'delivering', 'succeeded', 'failed', 'skipped'];

/** `urls`: URLs of the endpoints by id; null on the page of one endpoint. */
const columnsFor = (urls: Map<string, string> | null): Column<Delivery>[] => [
  {
    title: 'Event',
    cell: ({ id, type, replayId, endpointId, createdAt }) => (
      <Link to={pathTo('/webhooks/deliveries/$deliveryId', id)} className="row-link">
        <span className="row-title breaks">
          <EventType type={type} />
        </span>
        {urls && <span className="row-note one-line">{urls.get(endpointId) ?? endpointId}</span>}
        <span className="row-note">
          {replayId !== null && 'replayed'}
          <span className="mantine-hidden-from-sm">
            {replayId !== null && ', '}
            <Time at={createdAt} />
          </span>
        </span>
      </Link>
    ),
  },
  {
    title: 'Event id',
    cell: ({ eventId }) => <Code value={eventId} label="event id" />,
    width: 200,
    wide: true,
  },
  { title: 'Status', cell: ({ status }) => <Status value={status} />, width: 110 },
  {
    title: 'Next attempt',
    cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? '–' : <Time at={nextAttemptAt} />),
    width: 140,
    wide: true,
  },
  {
    title: 'Created',
    cell: ({ createdAt }) => <Time at={createdAt} />,
    width: 140,
    align: 'right',
    wide: true,
  },
];

/** No event reports the end of an attempt that is due. */
function isUnderWay({ status, nextAttemptAt }: Delivery): boolean {
  const due = nextAttemptAt === null || Date.parse(nextAttemptAt) < Date.now() + 10_000;
  return status === 'delivering' || (status === 'pending' && due);
}

/** `endpointId`: only deliveries of this endpoint, without the filter for it. */
export function DeliveryLog({ endpointId }: { endpointId?: string }) {
  const [filters, setFilter] = useFilters('endpoint', 'event', 'status', 'type', 'from', 'to');
  return (
    <>
      <div className="filters">
        {endpointId === undefined && (
          <EndpointChoice value={filters.endpoint ?? null} choose={(id) => setFilter('endpoint', id)} />
        )}
        <Select
          label="Status"
          placeholder="any"
          clearable
          w={{ base: '100%', sm: 130 }}
          data={states}
          value={filters.status ?? null}
          onChange={(value) => setFilter('status', value)}
        />
        <Select
          label="Event type"
          placeholder="any"
          clearable
          searchable
          w={{ base: '100%', sm: 230 }}
          data={[...eventTypes.map(([type]) => type), 'webhook.test']}
          value={filters.type ?? null}
          onChange={(value) => setFilter('type', value)}
        />
        <TextFilter
          label="Event id"
          placeholder="evt_…"
          value={filters.event}
          set={(value) => setFilter('event', value)}
        />
        <TextFilter
          type="date"
          label="From day (UTC)"
          value={filters.from}
          set={(value) => setFilter('from', value)}
        />
        <TextFilter
          type="date"
          label="To day (UTC)"
          value={filters.to}
          set={(value) => setFilter('to', value)}
        />
      </div>
      {endpointId === undefined ? (
        <DeliveriesOfAll filters={filters} />
      ) : (
        <Deliveries filters={filters} endpointId={endpointId} urls={null} />
      )}
    </>
  );
}

function DeliveriesOfAll({ filters }: { filters: Filters }) {
  const { items } = useList<Endpoint>(endpointList);
  const urls = useMemo(() => new Map((items ?? []).map(({ id, url }) => [id, url])), [items]);
  return <Deliveries filters={filters} endpointId={filters.endpoint} urls={urls} />;
}

interface DeliveriesProps {
  filters: Filters;
  endpointId: string | undefined;
  urls: Map<string, string> | null;
}

/** A component of its own, so that the filters do not render again as pages load. */
function Deliveries({ filters, endpointId, urls }: DeliveriesProps) {
  const query = {
    endpointId,
    eventId: filters.event?.trim(),
    status: filters.status,
    type: filters.type,
    from: filters.from && `${filters.from}T00:00:00Z`,
    to: filters.to && `${filters.to}T23:59:59.999Z`,
  };
  const list = useList<Delivery>(
    { noun: 'deliveries', path: '/platform/webhooks/deliveries', query },
    isUnderWay,
  );
  // Memoised, because new columns render all rows again.
  const columns = useMemo(() => columnsFor(urls), [urls]);
  const filtered = Object.keys(filters).length > 0;
  return (
    <DataTable
      list={list}
      label="Deliveries"
      columns={columns}
      keyOf={({ id }) => id}
      empty={
        <EmptyState
          icon="webhook"
          title={filtered ? 'Nothing matches these filters' : 'Nothing has been sent yet'}
        >
          {filtered
            ? 'Remove a filter to see more.'
            : 'Every event that an endpoint subscribes to is listed here, with every attempt.'}
        </EmptyState>
      }
    />
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
      w={{ base: '100%', sm: 220 }}
      className="whole"
      data={items.map(({ id, url }) => ({ value: id, label: url }))}
      value={value}
      onChange={choose}
    />
  );
}
