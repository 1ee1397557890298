/** Makes an interval, changes one, or says that its work was done. */
import { NumberInput, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { FormDialog } from '../frame/form.tsx';
import { justNow, MomentInput } from '../frame/moment-input.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { type Asset, assetUrl } from './asset.ts';
import type { Interval } from './maintenance.ts';

export interface IntervalFormProps {
  asset: Asset;
  /** Absent: a new one. */
  interval?: Interval;
  /** Only asks when it was done. */
  done?: boolean;
  close(): void;
}

type Count = number | string;

export function IntervalForm({ asset, interval, done = false, close }: IntervalFormProps) {
  const [name, setName] = useState(interval?.name ?? '');
  const [days, setDays] = useState<Count>(interval?.every.days ?? '');
  const [hours, setHours] = useState<Count>(interval?.every.hours ?? '');
  const [cycles, setCycles] = useState<Count>(interval?.every.cycles ?? '');
  const known = done ? undefined : interval?.lastDone;
  const [at, setAt] = useState(() => known?.at ?? justNow());
  const [hoursThen, setHoursThen] = useState<Count>(known?.hours ?? asset.usage.hours);
  const [cyclesThen, setCyclesThen] = useState<Count>(known?.cycles ?? asset.usage.cycles);
  const saving = useSaving({
    nouns: ['assets'],
    send(headers) {
      const every = given({ days, hours, cycles });
      if (Object.keys(every).length === 0) throw new Error('Say after how many days, hours or cycles.');
      const lastDone = {
        at,
        ...given({ hours: hours === '' ? '' : hoursThen, cycles: cycles === '' ? '' : cyclesThen }),
      };
      const body = done ? { lastDone } : { name, every, lastDone };
      return interval
        ? call('PUT', assetUrl(asset.assetId, `intervals/${interval.id}/`), { body })
        : call('POST', assetUrl(asset.assetId, 'intervals/'), { body, headers });
    },
    onDone() {
      showDone(interval ? 'The interval is saved.' : 'The interval is in the due list.');
      close();
    },
  });
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
          <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
            <NumberInput
              label="Every … days"
              min={1}
              max={1_000_000}
              allowDecimal={false}
              value={days}
              onChange={setDays}
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
      <MomentInput
        label="Last done"
        description="What ends first counts from here."
        required
        value={at}
        change={setAt}
      />
      {(hours !== '' || cycles !== '') && (
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

/** Those that were filled in. */
function given(counts: Record<string, Count>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => (count === '' ? [] : [[name, Number(count)]])),
  );
}
