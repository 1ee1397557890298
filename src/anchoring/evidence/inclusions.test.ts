/** How the blocks of confirmed batches are read before they are announced, and later when the node did not answer. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  type InventedBlock,
  inventAnchor,
  inventBlock,
  mixedReceipts,
  nodeWith,
} from '../../../test/support/chain/inclusion-fixtures.ts';
import {
  type Fixture,
  leadOf,
  openFixture,
  type TestVault,
} from '../../../test/support/fixtures/batcher-fixture.ts';
import type { RpcCall } from '../../chain/rules/rpc-call.ts';
import { runEach } from '../../runtime/check.ts';
import { createAnnouncer } from '../announcer.ts';
import { applyOutcomes } from '../batching/batches.ts';
import { evidencePass } from './evidence.check.ts';
import { createInclusions, type InclusionsDeps } from './inclusions.ts';

let fixture: Fixture;
let vault: TestVault;
let block: InventedBlock;
let now = 0;
const logged: string[] = [];
/** The node of the lead, and what it was asked. */
let node: RpcCall;
let asked: string[] = [];

before(async () => {
  fixture = await openFixture();
  vault = await fixture.newVault();
  block = await inventBlock(mixedReceipts(20));
});
after(() => fixture.close());
afterEach(async () => {
  await fixture.clear();
  logged.length = 0;
});

const down: RpcCall = async (method) => {
  asked.push(method);
  throw new Error('connection refused');
};
const up = (known: InventedBlock) => {
  asked = [];
  return nodeWith(known, { asked });
};

function open(deps: Partial<InclusionsDeps> = {}) {
  const log = {
    info: (details: object, message: string) => logged.push(`${message} ${JSON.stringify(details)}`),
  };
  const inclusions = createInclusions({ db: fixture.db, log, now: () => now, ...deps });
  const request = ({ method, params }: { method: string; params: unknown[] }) => node(method, params);
  return { ...inclusions, lead: leadOf(fixture.db, { client: { request } as never }) };
}

let subjects = 0;
/** A batch that is confirmed by a transaction of this block. */
async function confirmIn(known: InventedBlock, index = 0): Promise<number> {
  subjects += 1;
  await fixture.accept(vault, `rec_${subjects}`);
  await fixture.batcher().step(fixture.lead);
  const batch = (await fixture.batches()).at(-1);
  assert.ok(batch);
  await confirmAgain(batch.outgoing_id, known, index);
  return batch.id;
}

async function confirmAgain(outgoingId: number, known: InventedBlock, index = 0): Promise<void> {
  const { hash: blockHash, number: blockNumber, time: blockTime, transactionHashes } = known;
  const mined = { blockHash, blockNumber, blockTime, transactionHash: transactionHashes[index] ?? '0x' };
  await applyOutcomes(fixture.db, [{ outgoingId, purpose: 'anchor', to: 'confirmed', mined }]);
}

async function stored(id: number) {
  const batch = (await fixture.batches()).find((one) => one.id === id);
  assert.ok(batch);
  const {
    inclusion_header: header,
    inclusion_index: index,
    inclusion_nodes: nodes,
    inclusion_refused,
  } = batch;
  const hex = (bytes: Buffer) => `0x${bytes.toString('hex')}`;
  return {
    refused: inclusion_refused,
    inclusion: header && nodes ? { header: hex(header), index, nodes: nodes.map(hex) } : null,
  };
}

test('stores header and receipt path of the block, in the leader’s commit', async () => {
  const { read, catchUp, lead } = open();
  node = up(block);
  const id = await confirmIn(block, 17);
  await read(lead, id);
  assert.deepEqual(await stored(id), { refused: null, inclusion: await block.inclusionOf(17) });
  assert.equal(lead.commits, 1);
  const before = asked.length;
  await read(lead, id);
  assert.equal(await catchUp(lead), false);
  assert.equal(asked.length, before, 'nothing is read twice');
});

test('a batch that is not announced, because it has no leaves, is found within a minute', async () => {
  const { catchUp, lead } = open();
  node = up(block);
  assert.equal(await catchUp(lead), false);
  const id = await confirmIn(block, 3);
  assert.equal(await catchUp(lead), false);
  now += 60_000;
  while (await catchUp(lead));
  assert.deepEqual((await stored(id)).inclusion, await block.inclusionOf(3));
  const before = asked.length;
  now += 60_000;
  assert.equal(await catchUp(lead), false);
  assert.equal(asked.length, before);
});

test('a node that fails delays nothing, and is asked again after pauses that grow', async () => {
  const { read, catchUp, lead } = open();
  node = down;
  const [first, second] = [await confirmIn(block, 0), await confirmIn(block, 1)];
  asked = [];
  await read(lead, first);
  await read(lead, second);
  assert.equal(asked.length, 1, 'not once for each batch');
  const pauses: number[] = [];
  for (let last = now; pauses.length < 8; now += 1_000) {
    asked = [];
    assert.equal(await catchUp(lead), false);
    if (asked.length === 0) continue;
    pauses.push((now - last) / 1_000);
    last = now;
  }
  assert.deepEqual(pauses, [0, 5, 10, 20, 40, 80, 160, 300]);
  node = up(block);
  now += 300_000;
  while (await catchUp(lead));
  assert.deepEqual((await stored(first)).inclusion, await block.inclusionOf(0));
  assert.deepEqual((await stored(second)).inclusion, await block.inclusionOf(1));
});

test('a node that does not answer is given up soon, and the batch is announced', async () => {
  const { read, lead } = open({ patienceMs: 50 });
  node = () => new Promise(() => {});
  const id = await confirmIn(block);
  const announcer = createAnnouncer({
    ...{ db: fixture.db, confirmations: {}, readInclusion: read },
    placeEvents: async () => {},
    countSubscribers: async () => new Map(),
    eventWakeup: { wake() {} },
  });
  assert.equal(await announcer.step(lead), true);
  assert.equal((await fixture.batches()).find((batch) => batch.id === id)?.announced, 1);
  assert.match(logged.join(), /no answer within 50 ms/);
});

test('a block that does not follow the rules is noted once, and never asked for again', async () => {
  const { read, catchUp, lead } = open();
  node = up({ ...block, block: { ...block.block, extraData: '0xdead' } });
  const id = await confirmIn(block);
  await read(lead, id);
  assert.deepEqual(await stored(id), { refused: 'the header has another hash', inclusion: null });
  const before = asked.length;
  assert.equal(await catchUp(lead), false);
  assert.equal(asked.length, before);
});

test('one block that no node has does not keep others from being read', async () => {
  const { read, catchUp, lead } = open();
  const gone = await inventBlock(mixedReceipts(2), { number: 5 });
  node = up(block);
  const lost = await confirmIn(gone);
  const missed = await confirmIn(block, 3);
  for (let tries = 0; tries < 4; tries += 1) {
    await catchUp(lead);
    now += 300_000;
  }
  assert.deepEqual((await stored(missed)).inclusion, await block.inclusionOf(3));
  assert.equal((await stored(lost)).inclusion, null);
  const fresh = await confirmIn(block, 4);
  await read(lead, fresh);
  assert.deepEqual((await stored(fresh)).inclusion, await block.inclusionOf(4));
});

test('after a reorg nothing is kept of the block that is gone', async () => {
  const { read, lead } = open();
  const next = await inventBlock(mixedReceipts(3), { number: block.number + 1 });
  const id = await confirmIn(block, 1);
  const outgoingId = (await fixture.batches()).find((batch) => batch.id === id)?.outgoing_id ?? 0;
  // While the node answers, the transaction moves into another block.
  const answer = up(block);
  node = async (method, params) => {
    await confirmAgain(outgoingId, next);
    return answer(method, params);
  };
  await read(lead, id);
  assert.deepEqual(await stored(id), { refused: null, inclusion: null });

  node = up(next);
  await read(lead, id);
  assert.deepEqual((await stored(id)).inclusion, await next.inclusionOf(0));
  await confirmAgain(outgoingId, next);
  assert.deepEqual((await stored(id)).inclusion, await next.inclusionOf(0), 'still the same block');
  const { hash: blockHash, number: blockNumber, time: blockTime, transactionHashes } = next;
  const was = { blockHash, blockNumber, blockTime, transactionHash: transactionHashes[0] ?? '0x' };
  await applyOutcomes(fixture.db, [{ outgoingId, purpose: 'anchor', to: 'reorged', was }]);
  assert.deepEqual(await stored(id), { refused: null, inclusion: null });
});

test('fsck finds a stored block that does not show the anchor', async () => {
  const { read, lead } = open();
  const { db } = fixture;
  const [registry, submitter] = [Buffer.alloc(20, 1), Buffer.alloc(20, 2)];
  await sql`insert into chain (chain_id, genesis_hash, embedded, registry, submitter)
    values (1, sha256('genesis'), false, ${registry}, ${submitter})`.execute(db);
  const findings = async () => {
    const [report] = await runEach([{ name: 'x', passes: [evidencePass(db)] }], { settleMs: 0 });
    assert.deepEqual(report?.skipped, []);
    return report?.findings.map(({ rule, message }) => `${rule} ${message}`) ?? [];
  };
  const other = await confirmIn(block);
  const [batch] = await fixture.batches();
  assert.ok(batch);
  const root = `0x${batch.root.toString('hex')}` as const;
  const hex = (bytes: Buffer) => `0x${bytes.toString('hex')}` as const;
  const anchored = await inventAnchor({ registry: hex(registry), submitter: hex(submitter), root, size: 1 });
  node = up(block);
  await read(lead, other);
  assert.match((await findings()).join(), /^inclusion_wrong .* its transaction did not anchor the root\.$/);
  await confirmAgain(batch.outgoing_id, anchored);
  node = up(anchored);
  await read(lead, batch.id);
  assert.deepEqual(await findings(), []);
  await sql`update anchor_batches set block_time = block_time + 1`.execute(db);
  assert.match((await findings()).join(), /it is another block/);
  await sql`update anchor_batches set inclusion_index = 1`.execute(db);
  assert.equal((await findings()).length, 1);
  await sql`delete from chain`.execute(db);
});
