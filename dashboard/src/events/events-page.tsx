/** What happened, newest first; new events appear by themselves. */
import { Badge, Code as CodeBlock, Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { useList } from '../api/lists.ts';
import type { FeedEvent } from '../api/live.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { PageHead } from '../frame/page-head.tsx';
import { EmptyState } from '../frame/states.tsx';
import { Code, Time } from '../frame/values.tsx';
import { eventTypes } from '../webhooks/endpoint.ts';

export function EventsPage() {
  const [{ type }, setFilter] = useFilters('type');
  const [opened, setOpened] = useState<string | null>(null);
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
            <Text fw={550} size="sm" component="span">
              {event.type}
            </Text>
          </button>
          {opened === event.id && (
            <CodeBlock block mt={6}>
              {JSON.stringify(event, null, 2)}
            </CodeBlock>
          )}
        </>
      ),
    },
    { title: 'Id', cell: ({ id }) => <Code value={id} label="event id" />, width: 230, wide: true },
    { title: 'Time', cell: ({ timestamp }) => <Time at={timestamp} />, width: 140, align: 'right' },
  ];
  return (
    <>
      <PageHead
        title="Events"
        about="The same events that webhooks carry."
        actions={
          <Badge variant="dot" color="green" tt="none">
            live
          </Badge>
        }
      />
      <Group mb="md">
        <Select
          label="Event type"
          placeholder="any"
          clearable
          searchable
          w={260}
          data={eventTypes.map(([type]) => type)}
          value={type ?? null}
          onChange={(value) => setFilter('type', value)}
        />
      </Group>
      <DataTable
        list={list}
        label="Events"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState icon="event" title="Nothing happened yet">
            When a file or record is confirmed, a vault is deactivated and so on, it appears here.
          </EmptyState>
        }
      />
    </>
  );
}
