/** When the loop takes a step: only while this node leads, and not in vain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWakeup } from '../../runtime/loop.ts';
import { senderLoop } from './sender.loop.ts';

test('the loop does nothing without the lead, and one step with it', async () => {
  const wakeup = createWakeup();
  let lead: object | null = null;
  const steps: unknown[] = [];
  const loop = senderLoop(
    {
      async step(present) {
        steps.push(present);
        return false;
      },
    },
    { lead: () => lead as never, wakeup, hasOpen: async () => true },
  );
  const stopping = new AbortController();
  let beats = 0;
  const running = loop.run(stopping.signal, () => {
    beats += 1;
    if (beats === 1) lead = { term: { epoch: 1 } };
    if (beats === 2) stopping.abort();
    wakeup.wake();
  });
  await running;
  assert.deepEqual(steps, [{ term: { epoch: 1 } }]);
});

test('the loop makes no more than one step per epoch while nothing is open', async () => {
  const wakeup = createWakeup();
  let epoch = 1;
  let open = true;
  const steps: [number, boolean][] = [];
  const loop = senderLoop(
    {
      async step({ term }) {
        steps.push([term.epoch, open]);
        return false;
      },
    },
    { lead: () => ({ term: { epoch } }) as never, wakeup, hasOpen: async () => open },
  );
  const stopping = new AbortController();
  let beats = 0;
  await loop.run(stopping.signal, () => {
    beats += 1;
    open = beats < 2;
    if (beats === 5) epoch = 2;
    if (beats === 8) stopping.abort();
    wakeup.wake();
  });
  assert.deepEqual(steps, [
    [1, true],
    [1, true],
    [1, false],
    [2, false],
  ]);
});
