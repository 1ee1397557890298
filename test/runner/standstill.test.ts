/** A standstill is noticed while it lasts and afterwards, and only by what ran at that time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { standstillMs, watchForStandstill } from './standstill.ts';

/** A server whose answers the test gives by hand, at a time that it sets. */
function watchByHand() {
  let time = 0;
  let pending: PromiseWithResolvers<void> | null = null;
  const watch = watchForStandstill({
    now: () => time,
    pauseMs: 1,
    ask: () => {
      pending = Promise.withResolvers();
      return pending.promise;
    },
  });
  return {
    watch,
    pass: (ms: number) => {
      time += ms;
    },
    async settle(how: 'answer' | 'refuse' = 'answer') {
      while (pending === null) await sleep(1);
      const { resolve, reject } = pending;
      pending = null;
      if (how === 'answer') resolve();
      else reject(new Error('too many clients already'));
      // The next question shows that this one was counted.
      while (pending === null) await sleep(1);
    },
    async stop() {
      const stopped = watch.stop();
      pending?.resolve();
      await stopped;
    },
  };
}

test('counts a silence for what ran at that time, and for nothing that began later', async () => {
  const { watch, pass, settle, stop } = watchByHand();
  pass(standstillMs - 1);
  await settle();
  assert.equal(watch.longestSince(0), 0);
  pass(standstillMs + 500);
  assert.equal(watch.longestSince(0), standstillMs + 500, 'while it lasts');
  await settle();
  assert.equal(watch.longestSince(0), standstillMs + 500, 'afterwards');
  pass(1);
  assert.equal(watch.longestSince(2 * standstillMs + 500), 0, 'for what began after it');
  await stop();
});

test('takes a refusal for an answer', async () => {
  const { watch, pass, settle, stop } = watchByHand();
  for (let turn = 0; turn < 3; turn += 1) {
    pass(standstillMs - 1);
    await settle('refuse');
  }
  assert.equal(watch.longestSince(0), 0);
  await stop();
});
