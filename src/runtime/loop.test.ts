/** The supervisor of loops: restarts, health, stops and wakeups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '../../test/support/service/process.ts';
import { OperatorError } from './errors.ts';
import { createWakeup, type Loop, pause, repeating, superviseLoops } from './loop.ts';

const quiet = { info() {}, error() {} };

test('restarts a loop that fails, and counts the failure', async () => {
  let runs = 0;
  const loop: Loop = {
    name: 'shaky',
    stuckAfterMs: 60_000,
    async run(signal, beat) {
      runs += 1;
      if (runs === 1) throw new Error('first time');
      beat();
      await pause(60_000, signal);
    },
  };
  const supervisor = superviseLoops([loop], quiet);
  supervisor.start();
  await waitUntil(() => runs === 2);
  const [health] = supervisor.health();
  assert.equal(health?.failures, 1);
  assert.equal(health?.state, 'running');
  assert.equal(health?.lastError, null);
  await supervisor.stop(1_000);
  assert.equal(supervisor.health()[0]?.state, 'stopped');
});

test('waits longer before it retries a loop that needs an operator', async () => {
  const waits: number[] = [];
  const loop: Loop = {
    name: 'waits',
    stuckAfterMs: 60_000,
    async run() {
      throw new OperatorError('set it up');
    },
  };
  const note = { info() {}, error: (details: object) => waits.push(Number(Object(details).retryInMs)) };
  const supervisor = superviseLoops([loop], note);
  supervisor.start();
  await waitUntil(() => waits.length === 1);
  assert.deepEqual(waits, [30_000]);
  const [health] = supervisor.health();
  assert.deepEqual([health?.state, health?.lastError], ['backing-off', 'set it up']);
  await supervisor.stop(1_000);
});

test('a loop without a beat is stuck, even while it keeps failing', async () => {
  const hangs: Loop = { name: 'hangs', stuckAfterMs: 30, run: (signal) => pause(60_000, signal) };
  const fails: Loop = {
    name: 'fails',
    stuckAfterMs: 30,
    async run() {
      throw new Error('always');
    },
  };
  const supervisor = superviseLoops([hangs, fails], quiet);
  supervisor.start();
  await waitUntil(() => supervisor.health().every(({ state }) => state === 'stuck'));
  await supervisor.stop(1_000);
});

test('stop waits for a loop to finish its step, and gives up on one that ignores the signal', async () => {
  const begun = Promise.withResolvers<void>();
  const mayFinish = Promise.withResolvers<void>();
  const order: string[] = [];
  const slow = repeating({
    name: 'slow',
    restMs: 60_000,
    async step(signal) {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      order.push('told to stop');
      await mayFinish.promise;
      order.push('finished');
      return false;
    },
  });
  const waiting = superviseLoops([slow], quiet);
  waiting.start();
  await begun.promise;
  const stopped = waiting.stop(600_000).then(() => order.push('stopped'));
  await waitUntil(() => order.length > 0);
  mayFinish.resolve();
  await stopped;
  assert.deepEqual(order, ['told to stop', 'finished', 'stopped']);

  // It never ends, so stopping succeeds only because it does not wait for it.
  const deaf: Loop = { name: 'deaf', stuckAfterMs: 60_000, run: () => new Promise(() => {}) };
  const givingUp = superviseLoops([deaf], quiet);
  givingUp.start();
  await givingUp.stop(20);
});

test('a wakeup ends the rest of a loop, and is not lost during a step', async () => {
  const wakeup = createWakeup();
  let steps = 0;
  const loop = repeating({
    name: 'ringing',
    restMs: 60_000,
    wakeup,
    async step() {
      steps += 1;
      if (steps === 1) wakeup.wake();
      return false;
    },
  });
  const supervisor = superviseLoops([loop], quiet);
  supervisor.start();
  await waitUntil(() => steps === 2);
  wakeup.wake();
  await waitUntil(() => steps === 3);
  await supervisor.stop(1_000);
});

test('a loop that follows changes rests until there is one, unless it wants to look again', async () => {
  const followers: (() => void)[] = [];
  const changes = {
    follow(wakeup: { wake(): void }, everyMs: number) {
      assert.equal(everyMs, 20);
      followers.push(wakeup.wake);
      return () => void followers.pop();
    },
  };
  let steps = 0;
  const step = async () => {
    steps += 1;
    return steps < 3 ? 'again' : false;
  };
  const supervisor = superviseLoops([repeating({ name: 'following', restMs: 20, changes, step })], quiet);
  supervisor.start();
  await waitUntil(() => steps === 3);
  await pause(200, new AbortController().signal);
  assert.equal(steps, 3);
  followers[0]?.();
  await waitUntil(() => steps === 4);
  await supervisor.stop(1_000);
  assert.equal(followers.length, 0);
});
