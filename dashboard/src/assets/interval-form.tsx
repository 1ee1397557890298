/** Creates or edits an interval, or completes it through an entry. */
import { NumberInput, Select, SimpleGrid, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { ChangedMeanwhile, useSeen } from '../frame/changed-meanwhile.tsx';
import { FormDialog } from '../frame/form.tsx';
import { justNow, MomentInput } from '../frame/moment-input.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { type Asset, assetUrl } from './asset.ts';
import { everyText } from './interval-list.tsx';
import { entriesQuery, type Interval } from './maintenance.ts';

export interface IntervalFormProps {
  asset: Asset;
  /** Absent: creates a new one. */
  interval?: Interval;
  /** Only asks for the entry that completes it. */
  done?: boolean;
  close(): void;
}

type Count = number | string;

export function IntervalForm({ asset, interval, done = false, close }: IntervalFormProps) {
  const [name, setName] = useState(interval?.name ?? '');
  const [days, setDays] = useState<Count>(interval?.every.days ?? '');
  const [months, setMonths] = useState<Count>(interval?.every.months ?? '');
  const [hours, setHours] = useState<Count>(interval?.every.hours ?? '');
  const [cycles, setCycles] = useState<Count>(interval?.every.cycles ?? '');
  const [completedBy, setCompletedBy] = useState<string | null>(null);
  const [at, setAt] = useState(justNow);
  const [hoursThen, setHoursThen] = useState<Count>(asset.usage.hours);
  const [cyclesThen, setCyclesThen] = useState<Count>(asset.usage.cycles);
  const { seen, changed, headers: seenHeaders, catchUp } = useSeen(interval);
  const saving = useSaving({
    nouns: ['assets'],
    send(headers) {
      if (done && completedBy === null) throw new Error('Choose the entry that records the work.');
      const every = given({ days, months, hours, cycles });
      if (Object.keys(every).length === 0)
        throw new Error('Enter a number of days, months, hours or cycles.');
      const lastDone = {
        at,
        ...given({ hours: hours === '' ? '' : hoursThen, cycles: cycles === '' ? '' : cyclesThen }),
      };
      const body = done ? { completedBy } : { name, every, ...(!interval && { lastDone }) };
      return interval
        ? call('PUT', assetUrl(asset.assetId, `intervals/${interval.id}/`), { body, headers: seenHeaders })
        : call('POST', assetUrl(asset.assetId, 'intervals/'), { body, headers });
    },
    onDone() {
      showDone(interval ? 'The interval was saved.' : 'The interval was added to the due list.');
      close();
    },
  });
  /** Updates all fields, or only those that were not edited. */
  const take = (before: Interval, now: Interval, all: boolean) => {
    if (all || name === before.name) setName(now.name);
    if (all || days === (before.every.days ?? '')) setDays(now.every.days ?? '');
    if (all || months === (before.every.months ?? '')) setMonths(now.every.months ?? '');
    if (all || hours === (before.every.hours ?? '')) setHours(now.every.hours ?? '');
    if (all || cycles === (before.every.cycles ?? '')) setCycles(now.every.cycles ?? '');
    catchUp();
    saving.reset();
  };
  return (
    <FormDialog
      opened
      close={close}
      title={
        done ? `Done: ${name || 'the work of this interval'}` : interval ? 'Change interval' : 'New interval'
      }
      submitLabel={interval ? 'Save' : 'Create interval'}
      saving={saving}
      size="lg"
    >
      {seen && changed && !saving.isPending && (
        <ChangedMeanwhile
          values={differences(seen, changed)}
          take={() => take(seen, changed, true)}
          keep={() => take(seen, changed, false)}
        />
      )}
      {!done && (
        <>
          <TextInput
            label="Work"
            placeholder="such as Annual inspection"
            maxLength={200}
            {...(!interval && { 'data-autofocus': true })}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            <NumberInput
              label="Every … days"
              min={1}
              max={1_000_000}
              allowDecimal={false}
              value={days}
              onChange={setDays}
            />
            <NumberInput
              label="Every … months"
              min={1}
              max={12_000}
              allowDecimal={false}
              value={months}
              onChange={setMonths}
            />
            <NumberInput label="Every … hours" min={0} max={1e12} value={hours} onChange={setHours} />
            <NumberInput
              label="Every … cycles"
              min={1}
              max={1e12}
              allowDecimal={false}
              value={cycles}
              onChange={setCycles}
            />
          </SimpleGrid>
        </>
      )}
      {done && <EntryChoice assetId={asset.assetId} value={completedBy} choose={setCompletedBy} />}
      {!interval && (
        <MomentInput
          label="Last done"
          description="The interval counts from here."
          required
          value={at}
          change={setAt}
        />
      )}
      {!interval && (hours !== '' || cycles !== '') && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {hours !== '' && (
            <NumberInput
              label="Hours run by then"
              required
              min={0}
              max={1e12}
              value={hoursThen}
              onChange={setHoursThen}
            />
          )}
          {cycles !== '' && (
            <NumberInput
              label="Cycles run by then"
              required
              min={0}
              max={1e12}
              allowDecimal={false}
              value={cyclesThen}
              onChange={setCyclesThen}
            />
          )}
        </SimpleGrid>
      )}
    </FormDialog>
  );
}

/** What differs in another version, in readable form. */
function differences(before: Interval, now: Interval): [label: string, value: string][] {
  const texts = (interval: Interval): [string, string][] => [
    ['Work', interval.name],
    ['Repeats', everyText(interval.every)],
    ['Last done', interval.lastDone.at],
  ];
  const earlier = new Map(texts(before));
  return texts(now).filter(([label, text]) => earlier.get(label) !== text);
}

/** Offers the newest entries that are not superseded. */
function EntryChoice({
  assetId,
  value,
  choose,
}: {
  assetId: string;
  value: string | null;
  choose(id: string | null): void;
}) {
  const { data } = useInfiniteQuery(entriesQuery(assetId, {}));
  const entries = data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Select
      label="Entry that records the work"
      description="The interval continues from the time and usage of this entry."
      placeholder="Choose an entry; record the work first if there is none"
      required
      searchable
      value={value}
      onChange={choose}
      data={entries
        .filter(({ supersededBy }) => supersededBy === null)
        .map(({ maintenanceId, performedAt, type, summary }) => ({
          value: maintenanceId,
          label: `${performedAt.slice(0, 10)} ${type}: ${summary.slice(0, 80)}`,
        }))}
    />
  );
}

/** Only the fields that were filled in. */
function given(counts: Record<string, Count>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => (count === '' ? [] : [[name, Number(count)]])),
  );
}
