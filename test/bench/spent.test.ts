/** The benchmark's account of CPU time, against processes that use a known amount of it. */
// tier: process
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { perOperation, watchProcesses } from '../../bench/spent.ts';

const skip = process.platform === 'linux' ? false : 'there is no /proc';
const children: ChildProcess[] = [];

after(async () => {
  for (const child of children) {
    child.disconnect();
    await once(child, 'exit');
  }
});

/** Returns it when it has done a first turn, so that its start is over. */
async function startBurner(): Promise<{ pid: number; burn: typeof burn }> {
  const child = fork(join(import.meta.dirname, 'burn.child.ts'));
  children.push(child);
  async function burn({ ownMs = 0, threadMs = 0, childMs = 0 }): Promise<void> {
    child.send({ ownMs, threadMs, childMs });
    await once(child, 'message');
  }
  await burn({ ownMs: 1 });
  return { pid: child.pid ?? 0, burn };
}

/** Loading a thread or a Node.js takes time too. */
function assertBetween(value: number | undefined, least: number, most: number): void {
  assert.ok(value !== undefined && value >= least && value <= most, `${value} is not in ${least}…${most}`);
}

test('time is counted for the process that used it, to the millisecond', { skip }, async () => {
  const service = await startBurner();
  const client = await startBurner();
  const watch = await watchProcesses({ service: [service.pid], client: [client.pid] });
  await service.burn({ ownMs: 300 });
  await client.burn({ ownMs: 100 });
  const spent = await watch.sofar();
  assert.deepEqual(Object.keys(spent ?? {}), ['service', 'client']);
  assertBetween(spent?.service, 280, 400);
  assertBetween(spent?.client, 80, 200);
});

test('threads and children that ended meanwhile are counted', { skip }, async () => {
  const { pid, burn } = await startBurner();
  const watch = await watchProcesses({ service: [pid] });
  await burn({ threadMs: 300 });
  const thread = (await watch.sofar())?.service;
  assertBetween(thread, 280, 500);
  await burn({ childMs: 300 });
  const both = (await watch.sofar())?.service;
  assertBetween((both ?? 0) - (thread ?? 0), 280, 1_000);
});

test('a child that is named belongs to its own part, and one of nobody to none', { skip }, async () => {
  const { pid, burn } = await startBurner();
  const own = process.pid;
  const named = await watchProcesses({ service: [own], chain: [pid] });
  const unnamed = await watchProcesses({ service: [own], nobody: [pid] });
  const together = await watchProcesses({ service: [own] });
  await burn({ ownMs: 400 });
  const [apart, left, all] = [await named.sofar(), await unnamed.sofar(), await together.sofar()];
  assertBetween(apart?.chain, 380, 500);
  assertBetween(apart?.service, 0, 370);
  assertBetween(left?.service, 0, 370);
  assertBetween(all?.service, 380, 900);
});

test('per operation the turns are summed, and what came afterwards is apart', () => {
  const cpu = { answering: { service: 10, postgres: 4 }, afterwards: { service: 2, postgres: 1 } };
  assert.deepEqual(
    perOperation([
      { cpu, operations: 100 },
      { cpu, operations: 300 },
    ]),
    { service: 50, postgres: 20, afterwards: { service: 10, postgres: 5 }, rounds: [170, 17_000 / 300] },
  );
  assert.equal(
    perOperation([
      { cpu, operations: 1 },
      { cpu: null, operations: 1 },
    ]),
    null,
  );
});
