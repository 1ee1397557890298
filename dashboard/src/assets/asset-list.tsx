/** Assets, newest first: all of them, or those of one vault. */
import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useList } from '../api/lists.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { EmptyState } from '../frame/states.tsx';
import { TextFilter } from '../frame/text-filter.tsx';
import { Status, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { type Asset, assetsPath, usageText } from './asset.ts';
import { Owner } from './owner.tsx';

const columns: Column<Asset>[] = [
  {
    title: 'Asset',
    cell: ({ assetId, name }) => (
      <Link to={pathTo('/assets/$assetId', assetId)} className="row-link">
        <Text fw={550} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Text c="dimmed" size="xs" className="mono" style={{ overflowWrap: 'anywhere' }}>
          {assetId}
        </Text>
      </Link>
    ),
  },
  {
    title: 'Serial number',
    cell: ({ serialNumber, partNumber }) => (
      <>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {serialNumber === '' ? <Nothing /> : serialNumber}
        </Text>
        {partNumber !== '' && (
          <Text c="dimmed" size="xs">
            part {partNumber}
          </Text>
        )}
      </>
    ),
    width: 150,
    wide: true,
  },
  {
    title: 'Owner',
    cell: ({ vaultAddress }) => <Owner address={vaultAddress} lines={2} />,
    width: 190,
    wide: true,
  },
  {
    title: 'Usage',
    cell: ({ usage }) => usageText(usage) || <Nothing />,
    width: 120,
    wide: true,
  },
  { title: 'Status', cell: ({ status }) => <Status value={status} />, width: 110 },
  {
    title: 'Changed',
    cell: ({ updatedAt }) => <Time at={updatedAt} />,
    width: 130,
    align: 'right',
    wide: true,
  },
];

export function AssetList({ vaultAddress, create }: { vaultAddress?: string; create?: ReactNode }) {
  const [filters, setFilter] = useFilters('q');
  const list = useList<Asset>({
    noun: 'assets',
    path: assetsPath,
    query: { vaultAddress, q: filters.q?.trim() },
  });
  const filtered = filters.q !== undefined;
  return (
    <>
      {(filtered || list.items?.length !== 0) && (
        <div className="filters">
          <TextFilter
            label="Search"
            type="search"
            className="whole"
            placeholder="id, name, serial or part number"
            maxLength={100}
            value={filters.q}
            set={(value) => setFilter('q', value)}
          />
        </div>
      )}
      <DataTable
        list={list}
        label="Assets"
        columns={columns}
        keyOf={({ assetId }) => assetId}
        empty={
          <EmptyState
            icon="asset"
            title={filtered ? 'No matches' : 'No assets yet'}
            action={filtered ? undefined : create}
          >
            {filtered
              ? 'All words must appear in the id, the name, the serial number or the part number.'
              : 'An asset is something that is maintained: an aircraft, an engine, a pump. It belongs to a vault.'}
          </EmptyState>
        }
      />
    </>
  );
}

function Nothing() {
  return (
    <Text span c="dimmed" size="sm">
      –
    </Text>
  );
}
