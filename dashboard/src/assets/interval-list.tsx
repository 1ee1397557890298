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
          {interval.name !== '' && (
            <Text c="dimmed" size="xs">
              {everyText(interval.every)}
            </Text>
          )}
        </>
      ),
    },
    { title: 'Last done', cell: ({ lastDone }) => <Time at={lastDone.at} />, width: 140, wide: true },
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
            <Menu.Item leftSection={<Icon name="done" size={16} />} onClick={() => edit(interval, true)}>
              Done
            </Menu.Item>
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

function titleOf({ name, every }: Interval): string {
  if (name !== '') return name;
  const text = everyText(every);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function everyText(every: Interval['every']): string {
  const parts = units.flatMap((unit) => {
    const count = every[unit];
    return count === null ? [] : [`${count.toLocaleString('en')} ${count === 1 ? unit.slice(0, -1) : unit}`];
  });
  return `every ${parts.join(' or ')}`;
}

/** A bar for what is used up most, and all remainders in words. */
function Next({ interval }: { interval: Interval }) {
  const { nextDue, remaining, every, lastDone, overdue } = interval;
  const days = nextDue.at === null ? null : (Date.parse(nextDue.at) - Date.parse(lastDone.at)) / dayMs;
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
        {overdue && <Status value="overdue" />}
      </Group>
      <Progress
        size={4}
        mt={6}
        value={Math.min(100, Math.max(2, used * 100))}
        color={overdue ? 'red' : used > 0.9 ? 'yellow' : 'sea'}
        aria-label={`${Math.round(used * 100)} percent of the interval has passed`}
      />
    </Box>
  );
}
