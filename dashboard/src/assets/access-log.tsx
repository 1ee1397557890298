/** Who looked at an asset, also in vain. */
import { Badge, Text } from '@mantine/core';
import { useList } from '../api/lists.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { EmptyState } from '../frame/states.tsx';
import { Code, Time } from '../frame/values.tsx';
import { assetList, type Look } from './asset.ts';

export function AccessLog({ assetId, open }: { assetId: string; open(maintenanceId: string): void }) {
  const list = useList<Look>(assetList(assetId, 'access-log/'));
  const columns: Column<Look>[] = [
    { title: 'Time', cell: ({ at }) => <Time at={at} />, width: 150 },
    {
      title: 'Viewer',
      cell: ({ viewerAddress }) => <Code value={viewerAddress} label="viewer" />,
      width: 210,
    },
    {
      title: 'Looked at',
      cell: ({ what, targetId }) => (
        <>
          {what}{' '}
          {targetId !== null && (
            <button type="button" className="plain-button mono" onClick={() => open(targetId)}>
              {targetId}
            </button>
          )}
        </>
      ),
      wide: true,
    },
    {
      title: 'Asked by',
      cell: ({ actor }) => (
        <Text span size="sm">
          {actor.kind} <span className="mono">{actor.id}</span>
        </Text>
      ),
      wide: true,
    },
    {
      title: 'Answer',
      cell: ({ allowed }) => (
        <Badge variant="light" color={allowed ? 'green' : 'red'} tt="none" radius="sm">
          {allowed ? 'shown' : 'refused'}
        </Badge>
      ),
      width: 110,
      align: 'right',
    },
  ];
  return (
    <>
      <Text c="dimmed" size="sm" mb="sm">
        Every look with a viewer’s address, newest first, also those of this dashboard, which looks for the
        owner.
      </Text>
      <DataTable
        list={list}
        label="Access log"
        columns={columns}
        keyOf={({ at, viewerAddress, what, targetId }) => `${at} ${viewerAddress} ${what} ${targetId}`}
        empty={
          <EmptyState icon="eye" title="Nobody has looked yet">
            Every look at the maintenance of this asset is listed here.
          </EmptyState>
        }
      />
    </>
  );
}
