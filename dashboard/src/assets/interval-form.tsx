/** Creates or edits an interval, or completes it through an entry. */
import { NumberInput, Select, SimpleGrid, Switch, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { ChangedMeanwhile, useSeen } from '../frame/changed-meanwhile.tsx';
import { FormDialog } from '../frame/form.tsx';
import { justNow, MomentInput } from '../frame/moment-input.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { type Asset, assetUrl } from './asset.ts';
import { countsText, everyText } from './interval-list.tsx';
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
  const [isLimit, setIsLimit] = useState(interval?.kind === 'life-limit');
  const [tolerance, setTolerance] = useState(() => toleranceOf(interval));
  const [limitCorrection, setLimitCorrection] = useState('');
  const [completedBy, setCompletedBy] = useState<string | null>(null);
  const [at, setAt] = useState(justNow);
  const [hoursThen, setHoursThen] = useState<Count>(asset.usage.hours);
  const [cyclesThen, setCyclesThen] = useState<Count>(asset.usage.cycles);
  const { seen, changed, headers: seenHeaders, catchUp } = useSeen(interval);
  /** A life limit that stays needs no reason. */
  const isSameLimit =
    interval?.kind === 'life-limit' &&
    ([days, months, hours, cycles] as const).every(
      (count, place) =>
        count === (interval.every[(['days', 'months', 'hours', 'cycles'] as const)[place] ?? 'days'] ?? ''),
    );
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
      const kept = given({
        days: days === '' && months === '' ? '' : tolerance.days,
        hours: hours === '' ? '' : tolerance.hours,
        cycles: cycles === '' ? '' : tolerance.cycles,
      });
      const fields = {
        name,
        ...(!isSameLimit && { every }),
        ...(!isLimit && { tolerance: kept }),
        ...(!interval && { kind: isLimit ? 'life-limit' : 'recurring', lastDone }),
        ...(interval && isLimit && !isSameLimit && limitCorrection !== '' && { limitCorrection }),
      };
      const body = done ? { completedBy } : fields;
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
    if (all || JSON.stringify(tolerance) === JSON.stringify(toleranceOf(before)))
      setTolerance(toleranceOf(now));
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
          {!interval && (
            <Switch
              label="Life limit"
              description="When it is reached the asset is retired. No work extends it."
              checked={isLimit}
              onChange={(event) => setIsLimit(event.currentTarget.checked)}
            />
          )}
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            <NumberInput
              label={isLimit ? 'After … days' : 'Every … days'}
              min={1}
              max={1_000_000}
              allowDecimal={false}
              value={days}
              onChange={setDays}
            />
            <NumberInput
              label={isLimit ? 'After … months' : 'Every … months'}
              min={1}
              max={12_000}
              allowDecimal={false}
              value={months}
              onChange={setMonths}
            />
            <NumberInput
              label={isLimit ? 'After … hours' : 'Every … hours'}
              min={0}
              max={1e12}
              value={hours}
              onChange={setHours}
            />
            <NumberInput
              label={isLimit ? 'After … cycles' : 'Every … cycles'}
              min={1}
              max={1e12}
              allowDecimal={false}
              value={cycles}
              onChange={setCycles}
            />
          </SimpleGrid>
          {!isLimit && (
            <ToleranceFields
              tolerance={tolerance}
              change={setTolerance}
              uses={{ days: days !== '' || months !== '', hours: hours !== '', cycles: cycles !== '' }}
            />
          )}
          {interval && isLimit && !isSameLimit && (
            <TextInput
              label="Why the limit is corrected"
              description="Kept in the audit log."
              required
              maxLength={500}
              value={limitCorrection}
              onChange={(event) => setLimitCorrection(event.currentTarget.value)}
            />
          )}
        </>
      )}
      {done && <EntryChoice assetId={asset.assetId} value={completedBy} choose={setCompletedBy} />}
      {!interval && (
        <MomentInput
          label={isLimit ? 'In use since' : 'Last done'}
          description={isLimit ? 'The life counts from here.' : 'The interval counts from here.'}
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
    ['Repeats', everyText(interval)],
    ['Tolerance', countsText(interval.tolerance)],
    ['Last done', interval.lastDone.at],
  ];
  const earlier = new Map(texts(before));
  return texts(now).filter(([label, text]) => earlier.get(label) !== text);
}

type Tolerances = Record<'days' | 'hours' | 'cycles', Count>;

const toleranceOf = (interval: Interval | undefined): Tolerances => ({
  days: interval?.tolerance.days ?? '',
  hours: interval?.tolerance.hours ?? '',
  cycles: interval?.tolerance.cycles ?? '',
});

/** Only for the units that the interval uses. */
function ToleranceFields({
  tolerance,
  change,
  uses,
}: {
  tolerance: Tolerances;
  change(tolerance: Tolerances): void;
  uses: Record<keyof Tolerances, boolean>;
}) {
  const used = (['days', 'hours', 'cycles'] as const).filter((unit) => uses[unit]);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      {used.map((unit) => (
        <NumberInput
          key={unit}
          label={`Tolerance in ${unit}`}
          description="Using it does not move the next due date."
          min={unit === 'hours' ? 0 : 1}
          max={unit === 'days' ? 1_000_000 : 1e12}
          allowDecimal={unit === 'hours'}
          value={tolerance[unit]}
          onChange={(value) => change({ ...tolerance, [unit]: value })}
        />
      ))}
    </SimpleGrid>
  );
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
