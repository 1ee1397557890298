/** Events, newest first; new ones appear by themselves. */
import { Badge, Code as CodeBlock, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { useList } from '../api/lists.ts';
import { type FeedEvent, useIsLive } from '../api/live.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { PageHead } from '../frame/page-head.tsx';
import { EmptyState } from '../frame/states.tsx';
import { Code, Time } from '../frame/values.tsx';
import { eventTypes } from '../webhooks/endpoint.ts';

export function EventsPage() {
  const [{ type }, setFilter] = useFilters('type');
  const [opened, setOpened] = useState<string | null>(null);
  const live = useIsLive();
  const list = useList<FeedEvent>({
    noun: 'events',
    path: '/platform/events',
    query: { order: 'newest', type },
  });
  const columns: Column<FeedEvent>[] = [
    {
      title: 'Event',
      cell: (event) => (
        <>
          <button
            type="button"
            className="plain-button"
            aria-expanded={opened === event.id}
            onClick={() => setOpened(opened === event.id ? null : event.id)}
          >
            <Text fw={550} size="sm" component="span" style={{ overflowWrap: 'anywhere' }}>
              {event.type}
            </Text>
          </button>
          <Text c="dimmed" size="xs" component="div" hiddenFrom="sm">
            <Time at={event.timestamp} />
          </Text>
          {opened === event.id && (
            <CodeBlock block mt={6}>
              {JSON.stringify(event, null, 2)}
            </CodeBlock>
          )}
        </>
      ),
    },
    { title: 'Id', cell: ({ id }) => <Code value={id} label="event id" />, width: 230, wide: true },
    {
      title: 'Time',
      cell: ({ timestamp }) => <Time at={timestamp} />,
      width: 140,
      align: 'right',
      wide: true,
    },
  ];
  return (
    <>
      <PageHead
        title="Events"
        about="The same events that webhooks deliver."
        actions={
          <Badge variant="dot" color={live ? 'green' : 'yellow'} tt="none" role="status">
            {live ? 'live' : 'reconnecting'}
          </Badge>
        }
      />
      <div className="filters">
        <Select
          label="Event type"
          placeholder="any"
          clearable
          searchable
          w={{ base: '100%', sm: 260 }}
          className="whole"
          data={eventTypes.map(([type]) => type)}
          value={type ?? null}
          onChange={(value) => setFilter('type', value)}
        />
      </div>
      <DataTable
        list={list}
        label="Events"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState icon="event" title={type === undefined ? 'No events yet' : 'No events of this type'}>
            {type === undefined
              ? 'Events appear here, for example when a file or record is confirmed or a vault is deactivated.'
              : 'Remove the filter to see all events.'}
          </EmptyState>
        }
      />
    </>
  );
}
