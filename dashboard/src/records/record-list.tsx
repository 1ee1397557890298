/** Records, newest first: all of them, or those of one vault. */
import { Box, Group, Select, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useList } from '../api/lists.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { EmptyState } from '../frame/states.tsx';
import { TextFilter } from '../frame/text-filter.tsx';
import { Code, Status, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { anchorStatuses, type RecordVersion, recordsPath } from './record.ts';

const columns: Column<RecordVersion>[] = [
  {
    title: 'Record',
    cell: ({ id, externalId, createdAt }) => (
      <Link to={pathTo('/records/$recordId', id)} className="row-link">
        <Text fw={550} size="sm" className="breaks">
          {externalId === '' ? <span className="mono">{id}</span> : externalId}
        </Text>
        <Text c="dimmed" size="xs" component="div" hiddenFrom="sm">
          <Time at={createdAt} />
        </Text>
      </Link>
    ),
  },
  { title: 'Version', cell: ({ version }) => version, width: 90, align: 'right', wide: true },
  { title: 'Hash', cell: ({ dataHash }) => <Code value={dataHash} label="hash" />, width: 210, wide: true },
  { title: 'Status', cell: ({ status }) => <Status value={status} />, width: 120 },
  {
    title: 'Created',
    cell: ({ createdAt }) => <Time at={createdAt} />,
    width: 140,
    align: 'right',
    wide: true,
  },
];

export function RecordList({ vaultAddress, create }: { vaultAddress?: string; create?: ReactNode }) {
  const [filters, setFilter] = useFilters('externalId', 'status');
  const list = useList<RecordVersion>({
    noun: 'records',
    path: recordsPath,
    query: { vaultAddress, ...filters },
  });
  const filtered = Object.keys(filters).length > 0;
  return (
    <>
      <Group gap="sm" mb="md" align="flex-end">
        <TextFilter
          label="External id"
          placeholder="exactly"
          flex="1 1 140px"
          maw={240}
          value={filters.externalId}
          set={(value) => setFilter('externalId', value)}
        />
        <Select
          label="Status"
          placeholder="any"
          clearable
          flex="1 1 120px"
          maw={170}
          data={anchorStatuses}
          value={filters.status ?? null}
          onChange={(value) => setFilter('status', value)}
        />
        {vaultAddress !== undefined && create && <Box ml="auto">{create}</Box>}
      </Group>
      <DataTable
        list={list}
        label="Records"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState
            icon="record"
            title={filtered ? 'Nothing matches these filters' : 'No records yet'}
            action={filtered ? undefined : create}
          >
            {filtered
              ? 'Remove a filter to see more.'
              : 'A record is any JSON object: its hash is anchored, and anyone can check it later.'}
          </EmptyState>
        }
      />
    </>
  );
}
