/** The audit log: who did what to which thing, chained by hash so that no entry can be removed unnoticed. */

import { Code as CodeBlock, Text } from '@mantine/core';
import { useState } from 'react';
import { useList } from '../api/lists.ts';
import type { Schemas } from '../api/schemas.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { PageHead } from '../frame/page-head.tsx';
import { EmptyState } from '../frame/states.tsx';
import { TextFilter } from '../frame/text-filter.tsx';
import { Code, Time } from '../frame/values.tsx';
import { useActorName } from '../members/actor-name.ts';

type AuditEntry = Schemas['AuditEntry'];

export function AuditPage() {
  const [filters, setFilter] = useFilters('action', 'actorId', 'targetId');
  const [opened, setOpened] = useState<string | null>(null);
  const list = useList<AuditEntry>({ noun: 'audit', path: '/platform/audit-log', query: filters });
  const nameOf = useActorName();
  const columns: Column<AuditEntry>[] = [
    {
      title: 'Action',
      cell: (entry) => (
        <>
          <button
            type="button"
            className="plain-button"
            aria-expanded={opened === entry.id}
            onClick={() => setOpened(opened === entry.id ? null : entry.id)}
          >
            <Text fw={550} size="sm" component="span">
              {entry.action}
            </Text>
          </button>
          <Text c="dimmed" size="xs" component="div" hiddenFrom="sm">
            {nameOf(entry.actor)}, <Time at={entry.at} />
          </Text>
          {opened === entry.id && (
            <CodeBlock block mt={6}>
              {JSON.stringify(
                { details: entry.details, sequence: entry.sequence, hash: entry.hash },
                null,
                2,
              )}
            </CodeBlock>
          )}
        </>
      ),
    },
    {
      title: 'By',
      cell: ({ actor }) => (
        <Text size="sm" title={`${actor.kind} ${actor.id}`}>
          {nameOf(actor)}
        </Text>
      ),
      width: 200,
      wide: true,
    },
    {
      title: 'Resource',
      cell: ({ targetId }) => <Code value={targetId} label="id" />,
      width: 220,
      wide: true,
    },
    { title: 'Time', cell: ({ at }) => <Time at={at} />, width: 140, align: 'right', wide: true },
  ];
  return (
    <>
      <PageHead
        title="Audit log"
        about="Every change: who made it, and when. Entries are chained by hash and can be verified outside this service."
      />
      <div className="filters">
        <TextFilter
          label="Action"
          placeholder="exactly"
          value={filters.action}
          set={(value) => setFilter('action', value)}
        />
        <TextFilter
          label="Actor id"
          placeholder="exactly"
          value={filters.actorId}
          set={(value) => setFilter('actorId', value)}
        />
        <TextFilter
          label="Resource id"
          // In a row of its own on narrow screens.
          className="whole"
          placeholder="exactly"
          value={filters.targetId}
          set={(value) => setFilter('targetId', value)}
        />
      </div>
      <DataTable
        list={list}
        label="Audit log"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState icon="audit" title="Nothing matches these filters">
            Filters match exactly. Remove one to see more.
          </EmptyState>
        }
      />
    </>
  );
}
