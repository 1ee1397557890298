/** When batches are made: at every interval from the start of the last one, and only by the node that leads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '../../test/process.ts';
import type { Lead } from '../chain/chain.ts';
import { pause } from '../loop.ts';
import { batcherLoop } from './batcher.loop.ts';

const leading = {} as Lead;

function follow(options: {
  intervalMs: number;
  lead(): Lead | null;
  /** How long the step takes, and whether it says that there is more. */
  work?(step: number): { ms: number; more: boolean };
}) {
  const starts: number[] = [];
  const seen = { beats: 0, resends: 0, looks: 0 };
  const stopping = new AbortController();
  const loop = batcherLoop(
    {
      async step() {
        starts.push(performance.now());
        const { ms, more } = options.work?.(starts.length) ?? { ms: 0, more: false };
        await pause(ms, stopping.signal);
        return more;
      },
      async resend() {
        seen.resends += 1;
      },
    },
    {
      intervalMs: options.intervalMs,
      lead() {
        seen.looks += 1;
        return options.lead();
      },
    },
  );
  const done = loop.run(stopping.signal, () => {
    seen.beats += 1;
  });
  const stop = () => {
    stopping.abort();
    return done;
  };
  return { starts, seen, stop };
}

test('the time that a batch takes is part of the interval', async () => {
  const { starts, stop } = follow({
    intervalMs: 300,
    lead: () => leading,
    work: () => ({ ms: 200, more: false }),
  });
  await waitUntil(() => starts.length >= 4);
  await stop();
  const [first = 0, , , fourth = 0] = starts;
  // Were it counted from the end, three would take 1,500 ms.
  assert.ok(fourth - first >= 890 && fourth - first < 1400, `${fourth - first} ms`);
});

test('what did not fit into a batch comes at once', async () => {
  const { starts, stop } = follow({
    intervalMs: 60_000,
    lead: () => leading,
    work: (step) => ({ ms: 0, more: step < 3 }),
  });
  await waitUntil(() => starts.length >= 3);
  await stop();
  assert.equal(starts.length, 3);
});

test('a node that does not lead makes none, and does not ask without rest', async () => {
  let lead: Lead | null = null;
  const { starts, seen, stop } = follow({ intervalMs: 40, lead: () => lead });
  await waitUntil(() => seen.looks >= 5);
  const begun = performance.now();
  const looked = seen.looks;
  await waitUntil(() => performance.now() - begun > 200);
  assert.ok(seen.looks - looked <= 8, `${seen.looks - looked} looks`);
  assert.deepEqual([starts.length, seen.resends], [0, 0]);
  lead = leading;
  await waitUntil(() => starts.length > 0);
  await stop();
});

test('with a long interval the lead and failed transactions are seen to much sooner', async () => {
  let lead: Lead | null = null;
  const { starts, seen, stop } = follow({ intervalMs: 3_600_000, lead: () => lead });
  await waitUntil(() => seen.looks >= 1);
  lead = leading;
  await waitUntil(() => starts.length === 1 && seen.resends >= 2);
  await stop();
  assert.equal(starts.length, 1);
});
