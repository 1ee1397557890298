/** When batches are made: one interval after the start of the previous batch, and only by the leading node. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Lead } from '../../chain/chain.ts';
import { type Changes, pause } from '../../runtime/loop.ts';
import { batcherLoop } from './batcher.loop.ts';

const leading = {} as Lead;

/** A loop on a clock that the test advances. */
function follow(
  t: TestContext,
  options: {
    intervalMs: number;
    lead(): Lead | null;
    /** How long the step takes, and whether it reports more work. */
    work?(step: number): { ms: number; more: boolean };
    /** Whether the previous batch is not in a block yet. */
    waits?(): boolean;
    isBusy?(): boolean;
    changes?: Changes;
  },
) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  /** The start time of each step. */
  const starts: number[] = [];
  const seen = { beats: 0, resends: 0, looks: 0 };
  const stopping = new AbortController();
  const loop = batcherLoop(
    {
      async step() {
        starts.push(now);
        const { ms, more } = options.work?.(starts.length) ?? { ms: 0, more: false };
        if (ms > 0) await pause(ms, stopping.signal);
        return more;
      },
      waits: async () => options.waits?.() ?? false,
      async resend() {
        seen.resends += 1;
      },
      isBusy: () => options.isBusy?.() ?? false,
    },
    {
      intervalMs: options.intervalMs,
      ...(options.changes && { changes: options.changes }),
      lead() {
        seen.looks += 1;
        return options.lead();
      },
    },
  );
  const done = loop.run(stopping.signal, () => {
    seen.beats += 1;
  });
  const pass = async (ms: number) => {
    await nextTurn();
    for (let passed = 0; passed < ms; passed += 10) {
      now += 10;
      t.mock.timers.tick(10);
      // The loop waits only for the clock, so all work that is due is done by the next turn.
      await nextTurn();
    }
  };
  const stop = () => {
    stopping.abort();
    return done;
  };
  return { starts, seen, pass, stop };
}

test('the time that a batch takes counts towards the interval', async (t) => {
  const { starts, pass, stop } = follow(t, {
    intervalMs: 300,
    lead: () => leading,
    work: () => ({ ms: 200, more: false }),
  });
  await pass(1000);
  await stop();
  assert.deepEqual(starts, [0, 300, 600, 900]);
});

test('batches at once what did not fit into the last batch', async (t) => {
  const { starts, pass, stop } = follow(t, {
    intervalMs: 60_000,
    lead: () => leading,
    work: (step) => ({ ms: 20, more: step < 3 }),
  });
  await pass(1000);
  await stop();
  // A delay of 0 takes one tick of this clock.
  assert.equal(starts.length, 3);
  assert.ok((starts[2] ?? 0) <= 60, String(starts));
});

test('a node that does not lead makes no batch, and polls only once per interval', async (t) => {
  let lead: Lead | null = null;
  const { starts, seen, pass, stop } = follow(t, { intervalMs: 40, lead: () => lead });
  await pass(200);
  assert.equal(seen.looks, 1 + 200 / 40);
  assert.deepEqual([starts.length, seen.resends], [0, 0]);
  lead = leading;
  await pass(40);
  assert.deepEqual(starts, [240]);
  await stop();
});

test('checks for the lead and for failed transactions every second, even with a long interval', async (t) => {
  let lead: Lead | null = null;
  const { starts, seen, pass, stop } = follow(t, { intervalMs: 3_600_000, lead: () => lead });
  await pass(500);
  assert.equal(seen.looks, 1);
  lead = leading;
  await pass(2500);
  await stop();
  assert.deepEqual(starts, [1000]);
  assert.equal(seen.resends, 3);
});

test('makes no batch while one waits for its block, and then one with everything that gathered', async (t) => {
  let waits = false;
  const { starts, seen, pass, stop } = follow(t, {
    intervalMs: 1000,
    lead: () => leading,
    waits: () => waits,
  });
  await pass(10);
  waits = true;
  await pass(20_000);
  assert.deepEqual(starts, [0]);
  assert.ok(seen.resends > 20 && seen.beats > 20, 'the loop gives signs of life, and sees to failed ones');
  waits = false;
  await pass(100);
  assert.equal(starts.length, 2);
  await stop();
});

test('without anything pending it looks only after a change, but never before the interval has passed', async (t) => {
  let change = () => {};
  let busy = true;
  const changes: Changes = {
    follow(wakeup) {
      change = wakeup.wake;
      return () => {};
    },
  };
  const options = { intervalMs: 300, lead: () => leading, isBusy: () => busy, changes };
  const { starts, pass, stop } = follow(t, options);
  await pass(350);
  busy = false;
  await pass(2_000);
  assert.deepEqual(starts, [0, 300, 600], 'once more, to find nothing');
  change();
  await pass(50);
  assert.equal(starts.length, 4, 'at once, as the interval has long passed');
  change();
  await pass(200);
  assert.equal(starts.length, 4);
  await pass(100);
  assert.equal((starts[4] ?? 0) - (starts[3] ?? 0), 300);
  await stop();
});
