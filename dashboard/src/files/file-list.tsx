/** Files, newest first: all of them, or those of one vault. */
import { Badge, Group, Select, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useList } from '../api/lists.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { EmptyState } from '../frame/states.tsx';
import { TextFilter } from '../frame/text-filter.tsx';
import { formatBytes, Status, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { anchorStatuses } from '../records/record.ts';
import { type Vault, vaultList } from '../vaults/vault.ts';
import { VaultLink } from '../vaults/vault-link.tsx';
import { type FileVersion, filesPath } from './file.ts';

const name: Column<FileVersion> = {
  title: 'Name',
  cell: ({ id, name, version, expired, createdAt }) => (
    <Link to={pathTo('/files/$fileId', id)} className="row-link">
      <Group gap={6}>
        <Text fw={550} size="sm" className="breaks">
          {name}
        </Text>
        {version > 1 && (
          <Text c="dimmed" size="xs" component="span">
            version {version}
          </Text>
        )}
        {expired && (
          <Badge size="xs" variant="light" color="yellow" tt="none">
            expired
          </Badge>
        )}
      </Group>
      <Text c="dimmed" size="xs" component="div" hiddenFrom="sm">
        <Time at={createdAt} />
      </Text>
    </Link>
  ),
};

const vault: Column<FileVersion> = {
  title: 'Vault',
  cell: ({ vaultAddress }) => <VaultLink address={vaultAddress} maxWidth={200} />,
  width: 200,
  wide: true,
};

const rest: Column<FileVersion>[] = [
  {
    title: 'Size',
    cell: ({ size }) => <Text size="sm">{size === null ? 'hash only' : formatBytes(size)}</Text>,
    width: 110,
    align: 'right',
    wide: true,
  },
  { title: 'Status', cell: ({ status }) => <Status value={status} />, width: 120 },
  {
    title: 'Created',
    cell: ({ createdAt }) => <Time at={createdAt} />,
    width: 140,
    align: 'right',
    wide: true,
  },
];

export interface FileListProps {
  /** Only files of this vault. */
  vaultAddress?: string;
  /** The button for the first file. */
  create?: ReactNode;
}

export function FileList({ vaultAddress, create }: FileListProps) {
  const [filters, setFilter] = useFilters('vault', 'name', 'status');
  const list = useList<FileVersion>({
    noun: 'files',
    path: filesPath,
    query: { vaultAddress: vaultAddress ?? filters.vault, name: filters.name, status: filters.status },
  });
  const filtered = Object.keys(filters).length > 0;
  return (
    <>
      <Group gap="sm" mb="md" align="flex-end">
        {vaultAddress === undefined && (
          <VaultFilter value={filters.vault ?? null} choose={(value) => setFilter('vault', value)} />
        )}
        <TextFilter
          label="Name"
          placeholder="exactly"
          flex="1 1 140px"
          maw={240}
          value={filters.name}
          set={(value) => setFilter('name', value)}
        />
        <Select
          label="Status"
          placeholder="any"
          clearable
          flex="1 1 140px"
          maw={170}
          data={anchorStatuses}
          value={filters.status ?? null}
          onChange={(value) => setFilter('status', value)}
        />
      </Group>
      <DataTable
        list={list}
        label="Files"
        columns={vaultAddress === undefined ? [name, vault, ...rest] : [name, ...rest]}
        keyOf={({ id }) => id}
        empty={
          <EmptyState
            icon="file"
            title={filtered ? 'Nothing matches these filters' : 'No files yet'}
            action={filtered ? undefined : create}
          >
            {filtered
              ? 'Remove a filter to see more. A name must match exactly.'
              : 'The hash of each file is anchored; the file itself is stored encrypted, or stays with you.'}
          </EmptyState>
        }
      />
    </>
  );
}

/** Includes deactivated vaults, so that their files can still be found. */
function VaultFilter({ value, choose }: { value: string | null; choose(address: string | null): void }) {
  const { items = [] } = useList<Vault>({ ...vaultList, limit: 1000 });
  return (
    <Select
      label="Vault"
      placeholder="any"
      clearable
      searchable
      flex="1 1 140px"
      maw={260}
      data={items.map(({ address, name }) => ({
        value: address,
        label: `${name} (${address.slice(0, 8)}…)`,
      }))}
      value={value}
      onChange={choose}
    />
  );
}
