/** The engine's process: it can be lost at any time, and the next one answers. */
// tier: process
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineAccount, signCode, startEngine } from '../../../../test/support/fixtures/engine-fixture.ts';
import { waitUntil } from '../../../../test/support/service/process.ts';

const endlessLoop = '0x5b5f56';

test('answers again after its process was killed, at rest or in the middle of a request', async (t) => {
  const { engine, head, losses } = await startEngine(t);
  const account = () =>
    engine.ask('account', { stateRoot: head().stateRoot, address: engineAccount.address });
  const before = await account();
  for (const when of ['at rest', 'in the first request', 'in the second request'] as const) {
    const pid = engine.pid() ?? assert.fail();
    // Stopped, it is certainly at it when it is killed.
    const stop = () => process.kill(pid, 'SIGSTOP');
    const outcomes: string[] = [];
    const ask = async () => {
      const outcome = await engine.ask('call', { at: head(), call: { data: endlessLoop } }).then(
        () => 'answered',
        (error) => error.kind,
      );
      outcomes.push(outcome);
      // Nothing of the next one is answered before this goes on.
      if (when === 'in the second request' && outcomes.length === 1) stop();
    };
    if (when === 'in the first request') stop();
    const asked = when === 'at rest' ? [] : [ask(), ask(), ask(), ask()];
    if (when === 'in the second request') await waitUntil(() => outcomes.length === 1);
    process.kill(pid, 'SIGKILL');
    if (when === 'at rest') await waitUntil(() => losses.length === 1);
    await Promise.all([...asked, ...(when === 'at rest' ? [ask()] : [])]);
    // Only what it was doing is lost.
    assert.deepEqual(
      outcomes,
      {
        'at rest': ['answered'],
        'in the first request': ['lost', 'answered', 'answered', 'answered'],
        'in the second request': ['answered', 'lost', 'answered', 'answered'],
      }[when],
    );
    assert.notEqual(engine.pid(), pid);
  }
  assert.deepEqual(await account(), before);
  assert.equal(losses.length, 3);
});

test('ends a process that takes too long, and starts another', async (t) => {
  const { engine, head, losses } = await startEngine(t);
  const call = { at: head(), call: { data: endlessLoop } } as const;
  await assert.rejects(engine.ask('call', call, { timeoutMs: 1 }), { kind: 'lost' });
  assert.deepEqual(losses, ['no answer within 1 ms']);
  assert.equal((await engine.ask('call', call)).failure?.reason, 'out of gas');
});

test('does what comes first before what waits, and refuses what does not fit', async (t) => {
  const { engine, head } = await startEngine(t);
  const done: string[] = [];
  const ask = (name: string, first: boolean) =>
    engine.ask('code', { stateRoot: head().stateRoot, address: engineAccount.address }, { first }).then(
      () => done.push(name),
      (error) => done.push(error.kind),
    );
  const asked = [
    ask('one', false),
    ...Array.from({ length: 257 }, () => ask('usual', false)),
    ask('first', true),
  ];
  await Promise.all(asked);
  const inOrder = done.filter((name) => name !== 'busy');
  assert.deepEqual(inOrder.slice(0, 3), ['one', 'first', 'usual']);
  assert.equal(done.filter((name) => name === 'busy').length, 1);
});

test('fails the request whose state cannot be read, and answers the next', async (t) => {
  let broken = false;
  const nodes = new Map<string, Uint8Array>();
  const {
    engine,
    head,
    nodes: state,
  } = await startEngine(t, {
    readNode: async (key) => {
      if (broken) throw new Error('the database is away');
      return nodes.get(Buffer.from(key).toString('hex')) ?? null;
    },
  });
  for (const [key, value] of state) nodes.set(key, value);
  const account = () =>
    engine.ask('account', { stateRoot: head().stateRoot, address: engineAccount.address });
  assert.equal((await account()).exists, true);
  // Another process, which remembers no nodes.
  process.kill(engine.pid() ?? 0, 'SIGKILL');
  broken = true;
  await waitUntil(() =>
    account().then(
      () => false,
      (error) => error.message === 'the database is away',
    ),
  );
  broken = false;
  assert.equal((await account()).exists, true);
});

test('says that a node is missing rather than taking it for an empty account', async (t) => {
  const { engine, head, nodes } = await startEngine(t);
  nodes.clear();
  process.kill(engine.pid() ?? 0, 'SIGKILL');
  const account = () =>
    engine.ask('account', { stateRoot: head().stateRoot, address: engineAccount.address });
  await account().catch(() => {});
  await assert.rejects(account(), { kind: 'missing' });
});

test('leaves out a transaction that does not fit, and drops what never will', async (t) => {
  const { build, engine, head } = await startEngine(t);
  const raws = await Promise.all([signCode('0x00', 0), signCode('0x01', 0), signCode('0x00', 2)]);
  const { block, dropped } = await build(raws);
  assert.deepEqual(
    block.transactions.map(({ raw }) => raw),
    [raws[0]],
  );
  assert.deepEqual(
    dropped.map(({ reason }) => reason),
    ['nonce too low'],
  );
  for (const raw of ['0x', '0x02', '0xc0', '0x00', `0x${'ff'.repeat(200)}`, '0x04c0'] as const) {
    await assert.rejects(engine.ask('check', { raw, stateRoot: head().stateRoot }), { kind: 'invalid' });
  }
});

test('ends when the service does, and refuses requests when closed', async (t) => {
  const { engine, head } = await startEngine(t);
  const pid = engine.pid() ?? 0;
  await engine.close();
  assert.throws(() => process.kill(pid, 0));
  await assert.rejects(engine.ask('code', { stateRoot: head().stateRoot, address: engineAccount.address }), {
    kind: 'lost',
  });
});
