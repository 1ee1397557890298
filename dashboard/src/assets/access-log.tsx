/** Who looked at an asset, including refused attempts. */
import { Badge, Group, Switch, Text } from '@mantine/core';
import { type List, useList } from '../api/lists.ts';
import { type Column, DataTable, More } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { EmptyState } from '../frame/states.tsx';
import { Code, Time } from '../frame/values.tsx';
import { type Actor, useActorName } from '../members/actor-name.ts';
import { type Asset, assetList, type Look } from './asset.ts';

export function AccessLog({ asset, open }: { asset: Asset; open(maintenanceId: string): void }) {
  const [{ who }, setFilter] = useFilters('who');
  const list = useList<Look>(assetList(asset.assetId, 'access-log/'));
  const others = who === 'others';
  const nameOf = useActorName();
  const shown: List<Look> = {
    ...list,
    items: list.items?.filter(({ viewerAddress }) => !others || viewerAddress !== asset.vaultAddress),
  };
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text c="dimmed" size="sm">
          Every access, newest first. This dashboard acts as the owner; requests by one person within a minute
          count as one access.
        </Text>
        <Switch
          label="Hide access by the owner"
          checked={others}
          onChange={(event) => setFilter('who', event.currentTarget.checked ? 'others' : null)}
        />
      </Group>
      {shown.items?.length === 0 && list.more ? (
        <More more={list.more} loading={list.loadingMore} />
      ) : (
        <DataTable
          list={shown}
          label="Access log"
          columns={columnsFor(open, nameOf)}
          keyOf={({ at, viewerAddress, what, targetId }) => `${at} ${viewerAddress} ${what} ${targetId}`}
          empty={
            <EmptyState
              icon="eye"
              title={others ? 'No one else has viewed this asset' : 'No one has viewed this asset yet'}
            >
              Every access to the maintenance of this asset is listed here, including refused ones.
            </EmptyState>
          }
        />
      )}
    </>
  );
}

const columnsFor = (
  open: (maintenanceId: string) => void,
  nameOf: (actor: Actor) => string,
): Column<Look>[] => [
  {
    title: 'Viewed',
    cell: ({ at, what, also, targetId, allowed }) => (
      <>
        <Group gap={6}>
          <Text span size="sm">
            {[what, ...also].join(', ')}
          </Text>
          {targetId !== null && (
            <button
              type="button"
              className="plain-button mono"
              title={targetId}
              onClick={() => open(targetId)}
            >
              …{targetId.slice(-6)}
            </button>
          )}
          {!allowed && (
            <Badge variant="light" color="red" tt="none" radius="sm">
              refused
            </Badge>
          )}
        </Group>
        <Text c="dimmed" size="xs" component="div">
          <Time at={at} />
        </Text>
      </>
    ),
  },
  { title: 'Viewer', cell: ({ viewerAddress }) => <Code value={viewerAddress} label="viewer" />, width: 180 },
  {
    title: 'Requested by',
    cell: ({ actor }) => (
      <Text span size="sm" title={`${actor.kind} ${actor.id}`}>
        {nameOf(actor)}
      </Text>
    ),
    wide: true,
  },
];
