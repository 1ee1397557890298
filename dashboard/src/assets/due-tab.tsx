/** What is due on an asset: recurring work, life limits, retired parts and open defects. */
import { Alert, Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMayWrite } from '../api/session.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Icon } from '../frame/icons.tsx';
import { EmptyState, FailureState, LoadingRows } from '../frame/states.tsx';
import { Status, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import type { Asset } from './asset.ts';
import { IntervalForm } from './interval-form.tsx';
import { IntervalList } from './interval-list.tsx';
import { type Due, dueQuery, type Interval, type OpenDefect } from './maintenance.ts';
import type { MaintenanceStart } from './maintenance-form.tsx';

export interface DueTabProps {
  asset: Asset;
  open(maintenanceId: string): void;
  /** Absent for users who may not write. */
  start: ((start: MaintenanceStart) => void) | undefined;
}

export function DueTab({ asset, open, start }: DueTabProps) {
  const mayWrite = useMayWrite();
  const { data: due, error, refetch } = useQuery(dueQuery(asset.assetId));
  const [editing, setEditing] = useState<{ interval?: Interval; done?: boolean } | null>(null);
  if (error && !due) return <FailureState error={error} again={() => void refetch()} />;
  if (!due) return <LoadingRows rows={4} />;
  const add = mayWrite && (
    <Button
      size="xs"
      variant="default"
      onClick={() => setEditing({})}
      leftSection={<Icon name="plus" size={14} />}
    >
      New interval
    </Button>
  );
  return (
    <Stack gap="xl">
      {due.retired && (
        <Alert color="red" icon={<Icon name="warning" />} title="Retired">
          This asset has reached its life limit. No work extends it: take it out of service and replace it.
        </Alert>
      )}
      {due.withdrawnReleases.length > 0 && <WithdrawnReleases releases={due.withdrawnReleases} open={open} />}
      {due.retiredParts.length > 0 && <RetiredParts parts={due.retiredParts} />}
      {due.overdue && !due.retired && due.retiredParts.length === 0 && (
        <Alert color="red" icon={<Icon name="warning" />}>
          Something is overdue. When the work is done, record it, then mark the interval as done.
        </Alert>
      )}
      <section>
        <Group justify="space-between" mb="xs">
          <Title order={2} size="h4">
            Intervals
          </Title>
          {due.intervals.length > 0 && add}
        </Group>
        {due.intervals.length === 0 ? (
          <EmptyState icon="again" title="No intervals yet" action={add}>
            An interval is work that is due again after a number of days, months, hours or cycles, such as a
            yearly inspection or an oil change. A life limit says when the asset is retired.
          </EmptyState>
        ) : (
          <IntervalList
            assetId={asset.assetId}
            intervals={due.intervals}
            edit={(interval, done) => setEditing({ interval, done })}
          />
        )}
      </section>
      <section>
        <Title order={2} size="h4" mb="xs">
          Open defects
        </Title>
        <Defects defects={due.openDefects} open={open} start={start} />
      </section>
      {editing && (
        <IntervalForm
          asset={asset}
          {...editing}
          // In its current version: somebody else may change it while the form is open.
          {...(editing.interval && {
            interval: due.intervals.find(({ id }) => id === editing.interval?.id) ?? editing.interval,
          })}
          close={() => setEditing(null)}
        />
      )}
    </Stack>
  );
}

function WithdrawnReleases({
  releases,
  open,
}: Pick<DueTabProps, 'open'> & { releases: Due['withdrawnReleases'] }) {
  return (
    <Alert color="red" icon={<Icon name="warning" />} title="Release withdrawn">
      {releases.map(({ maintenanceId, summary, correctedBy }) => (
        <Text key={maintenanceId} size="sm" style={{ overflowWrap: 'anywhere' }}>
          “{summary}” was certified and then corrected.{' '}
          <Anchor component="button" type="button" size="sm" onClick={() => open(correctedBy)}>
            The correction
          </Anchor>{' '}
          is not certified yet.
        </Text>
      ))}
    </Alert>
  );
}

function RetiredParts({ parts }: { parts: Due['retiredParts'] }) {
  return (
    <Alert color="red" icon={<Icon name="warning" />} title="Parts to be replaced">
      {parts.map(({ assetId, name, limit }) => (
        <Text key={assetId} size="sm">
          <Anchor component={Link} to={pathTo('/assets/$assetId', assetId)} size="sm">
            {name} ({assetId})
          </Anchor>{' '}
          has reached {limit === '' ? 'its life limit' : `the life limit “${limit}”`}.
        </Text>
      ))}
      <Text size="sm" mt={4}>
        Only the removal of a part clears it from this list.
      </Text>
    </Alert>
  );
}

function Defects({ defects, open, start }: Pick<DueTabProps, 'open' | 'start'> & { defects: OpenDefect[] }) {
  const columns: Column<OpenDefect>[] = [
    {
      title: 'Defect',
      cell: ({ summary, maintenanceId }) => (
        <button type="button" className="plain-button" onClick={() => open(maintenanceId)}>
          <Text fw={550} size="sm" lineClamp={8} style={{ overflowWrap: 'anywhere' }}>
            {summary}
          </Text>
        </button>
      ),
    },
    { title: 'Found', cell: ({ performedAt }) => <Time at={performedAt} />, width: 140, wide: true },
    {
      title: 'Until',
      cell: ({ deferred, deferredUntil, overdue, repairedBy }) => (
        <Group gap={6}>
          {deferredUntil !== null ? <Time at={deferredUntil} /> : deferred ? 'no date given' : 'not deferred'}
          {overdue && <Status value="overdue" />}
          {repairedBy !== null && (
            <button type="button" className="plain-button" onClick={() => open(repairedBy)}>
              <Text size="xs" c="dimmed">
                Repaired, not certified yet
              </Text>
            </button>
          )}
        </Group>
      ),
      width: '30%',
    },
  ];
  if (start) {
    columns.push({
      title: 'Actions',
      width: 90,
      align: 'right',
      cell: ({ maintenanceId, summary }) => (
        <Button
          size="compact-xs"
          variant="subtle"
          aria-label={`Repaired: ${summary}`}
          onClick={() => start({ type: 'repair', data: { closes: maintenanceId } })}
        >
          Repaired
        </Button>
      ),
    });
  }
  return (
    <DataTable
      list={{ items: defects, error: null, more: undefined, loadingMore: false, again: () => {} }}
      label="Open defects"
      columns={columns}
      keyOf={({ maintenanceId }) => maintenanceId}
      empty={
        <Text c="dimmed" size="sm">
          None. A defect is an entry of type defect; it is open until a certified entry closes it.
        </Text>
      }
    />
  );
}
