/** Intervals with what remains of each, and when they are due. */
import { ActionIcon, Box, Group, Menu, Progress, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { call } from '../api/call.ts';
import { useMayWrite } from '../api/session.ts';
import { Confirm } from '../frame/confirm.tsx';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { Status, Time } from '../frame/values.tsx';
import { assetUrl } from './asset.ts';
import type { Interval } from './maintenance.ts';

export interface IntervalListProps {
  assetId: string;
  intervals: Interval[];
  edit(interval: Interval, done: boolean): void;
}

export function IntervalList({ assetId, intervals, edit }: IntervalListProps) {
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const [deleting, setDeleting] = useState<Interval | null>(null);
  const columns: Column<Interval>[] = [
    {
      title: 'Work',
      cell: (interval) => (
        <>
          <Text fw={550} size="sm">
            {titleOf(interval)}
          </Text>
          <Text c="dimmed" size="xs">
            {detailText(interval)}
          </Text>
        </>
      ),
    },
    {
      title: 'Last done',
      cell: ({ kind, lastDone }) =>
        kind === 'life-limit' ? (
          <>
            in use since <Time at={lastDone.at} />
          </>
        ) : (
          <Time at={lastDone.at} />
        ),
      width: 140,
      wide: true,
    },
    { title: 'Next due', cell: (interval) => <Next interval={interval} />, width: '40%' },
  ];
  if (mayWrite) {
    columns.push({
      title: 'Actions',
      width: 60,
      align: 'right',
      cell: (interval) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${titleOf(interval)}`}>
              <Icon name="more" />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {interval.kind === 'recurring' && (
              <Menu.Item leftSection={<Icon name="done" size={16} />} onClick={() => edit(interval, true)}>
                Done
              </Menu.Item>
            )}
            <Menu.Item leftSection={<Icon name="pencil" size={16} />} onClick={() => edit(interval, false)}>
              Change
            </Menu.Item>
            <Menu.Item
              color="red"
              leftSection={<Icon name="bin" size={16} />}
              onClick={() => setDeleting(interval)}
            >
              Delete
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ),
    });
  }
  return (
    <>
      <DataTable
        list={{ items: intervals, error: null, more: undefined, loadingMore: false, again: () => {} }}
        label="Intervals"
        columns={columns}
        keyOf={({ id }) => id}
        empty={null}
      />
      {deleting && (
        <Confirm
          title="Delete interval"
          label="Delete"
          close={() => setDeleting(null)}
          act={async () => {
            const headers = { 'if-match': `"${deleting.version}"` };
            await call('DELETE', assetUrl(assetId, `intervals/${deleting.id}/`), { headers });
            await client.invalidateQueries({ queryKey: ['assets'] });
            showDone('The interval was deleted.');
          }}
        >
          “{titleOf(deleting)}” will no longer be in the due list. Existing entries stay.
        </Confirm>
      )}
    </>
  );
}

const units = ['days', 'months', 'hours', 'cycles'] as const;
const dayMs = 86_400_000;

function titleOf(interval: Interval): string {
  if (interval.name !== '') return interval.name;
  const text = everyText(interval);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Such as “every 6 months or 500 hours”. */
export function everyText({ kind, every }: Pick<Interval, 'kind' | 'every'>): string {
  return `${kind === 'life-limit' ? 'life limit:' : 'every'} ${countsText(every)}`;
}

/** Such as “14 days or 25 hours”; empty without a tolerance. */
export function countsText(counts: Partial<Interval['every']>): string {
  const parts = units.flatMap((unit) => {
    const count = counts[unit] ?? null;
    return count === null ? [] : [`${count.toLocaleString('en')} ${count === 1 ? unit.slice(0, -1) : unit}`];
  });
  return parts.join(' or ');
}

/** What the title does not say. */
function detailText(interval: Interval): string {
  const tolerance = countsText(interval.tolerance);
  return [
    ...(interval.name === '' ? [] : [everyText(interval)]),
    ...(tolerance === '' ? [] : [`tolerance ${tolerance}`]),
  ].join(', ');
}

/** A bar for what is used up most, and all remainders in words. */
function Next({ interval }: { interval: Interval }) {
  const { kind, nextDue, latest, remaining, every, countsFrom, inTolerance, overdue } = interval;
  const days = nextDue.at === null ? null : (Date.parse(nextDue.at) - Date.parse(countsFrom.at)) / dayMs;
  const used = Math.max(
    ...(['days', 'hours', 'cycles'] as const).map((unit) => {
      const [whole, rest] = [unit === 'days' ? days : every[unit], remaining[unit]];
      return whole === null || rest === null ? 0 : 1 - rest / whole;
    }),
  );
  const left = (['hours', 'cycles'] as const).flatMap((unit) => {
    const [at, rest] = [nextDue[unit], remaining[unit]];
    if (at === null || rest === null) return [];
    const words = `${Math.abs(rest).toLocaleString('en')} ${unit} ${rest < 0 ? 'over' : 'left'}`;
    return [{ unit, words, at: `at ${at.toLocaleString('en')}` }];
  });
  return (
    <Box>
      <Group gap={6}>
        <Text span size="sm">
          {nextDue.at !== null && <Time at={nextDue.at} />}
          {left.map(({ unit, words, at }, index) => (
            <Fragment key={unit}>
              {(nextDue.at !== null || index > 0) && ', '}
              <span title={at} style={{ whiteSpace: 'nowrap' }}>
                {words}
              </span>
            </Fragment>
          ))}
        </Text>
        {overdue && <Status value={kind === 'life-limit' ? 'retired' : 'overdue'} />}
        {inTolerance && <Status value="in tolerance" />}
      </Group>
      {inTolerance && (
        <Text c="dimmed" size="xs">
          At the latest{' '}
          {[
            ...(latest.at === null ? [] : [latest.at.slice(0, 10)]),
            ...(latest.hours === null ? [] : [`${latest.hours.toLocaleString('en')} hours`]),
            ...(latest.cycles === null ? [] : [`${latest.cycles.toLocaleString('en')} cycles`]),
          ].join(', ')}
        </Text>
      )}
      <Progress
        size={4}
        mt={6}
        value={Math.min(100, Math.max(2, used * 100))}
        color={overdue ? 'red' : inTolerance || used > 0.9 ? 'yellow' : 'sea'}
        aria-label={`${Math.round(used * 100)} percent of the interval has passed`}
      />
    </Box>
  );
}
