/** The maintenance of an asset, latest work first. */
import { Button, Group, Select, Timeline } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { More } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { Icon } from '../frame/icons.tsx';
import { EmptyState, FailureState, LoadingRows } from '../frame/states.tsx';
import { TextFilter } from '../frame/text-filter.tsx';
import { anchorStatuses } from '../records/record.ts';
import type { Asset } from './asset.ts';
import { entriesQuery, type Maintenance } from './maintenance.ts';
import { MaintenanceCard } from './maintenance-card.tsx';
import type { MaintenanceStart } from './maintenance-form.tsx';

export interface MaintenanceTimelineProps {
  asset: Asset;
  open(maintenanceId: string): void;
  /** Absent for users who may not write. */
  start: ((start: MaintenanceStart) => void) | undefined;
}

export function MaintenanceTimeline({ asset, open, start }: MaintenanceTimelineProps) {
  const [filters, setFilter] = useFilters('type', 'status');
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(
    entriesQuery(asset.assetId, filters),
  );
  if (error && !data) return <FailureState error={error} again={() => void refetch()} />;
  const entries = data?.pages.flatMap(({ items }) => items);
  const filtered = Object.keys(filters).length > 0;
  if (entries?.length === 0 && !filtered && !hasNextPage) {
    return (
      <EmptyState
        icon="record"
        title="No maintenance recorded yet"
        action={
          start && (
            <Button onClick={() => start({})} leftSection={<Icon name="plus" size={16} />}>
              New entry
            </Button>
          )
        }
      >
        An entry says what was done, by whom and when. It is anchored, signed off, and never changed.
      </EmptyState>
    );
  }
  return (
    <>
      <Group gap="sm" mb="md" align="flex-end">
        <TextFilter
          label="Type"
          placeholder="exactly"
          w={170}
          value={filters.type}
          set={(value) => setFilter('type', value)}
        />
        <Select
          label="Status"
          placeholder="any"
          clearable
          w={150}
          data={anchorStatuses}
          value={filters.status ?? null}
          onChange={(value) => setFilter('status', value)}
        />
      </Group>
      {!entries && <LoadingRows />}
      {entries?.length === 0 && !hasNextPage && (
        <EmptyState icon="search" title="Nothing matches these filters">
          Remove a filter to see more.
        </EmptyState>
      )}
      {entries && entries.length > 0 && (
        <Timeline
          bulletSize={28}
          lineWidth={2}
          aria-label="Maintenance"
          active={entries.length}
          styles={{ itemBullet: { borderWidth: 0 } }}
        >
          {entries.map((entry) => (
            <Timeline.Item
              key={entry.maintenanceId}
              bullet={<Icon name={iconOf(entry)} size={15} />}
              color={colorOf(entry)}
            >
              <MaintenanceCard asset={asset} entry={entry} open={open} start={start} />
            </Timeline.Item>
          ))}
        </Timeline>
      )}
      {hasNextPage && <More more={() => void fetchNextPage()} loading={isFetchingNextPage} />}
    </>
  );
}

function iconOf({ type, supersededBy, signoffs }: Maintenance) {
  if (supersededBy !== null) return 'pencil';
  if (type.toLowerCase() === 'defect') return 'warning';
  return signoffs.some(({ role }) => role === 'certified') ? 'verify' : 'record';
}

function colorOf({ type, supersededBy }: Maintenance): string {
  if (supersededBy !== null) return 'gray';
  return type.toLowerCase() === 'defect' ? 'orange.8' : 'sea';
}
