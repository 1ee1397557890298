/** Nonces that somebody else used, on a real chain: the payload goes on under another one, and is mined once whatever happens. */
// tier: process
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Hex, type PublicClient, parseTransaction } from 'viem';
import {
  type Fixture,
  finalAfter,
  openFixture,
  payload,
  startTestChain,
  type TestChain,
} from '../../../test/support/fixtures/sender-fixture.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import { runEach } from '../../runtime/check.ts';
import { lostCommitsCheck } from './lost-commits.check.ts';
import { noncesCheck } from './nonces.check.ts';

const { after, before, test } = needs('anvil');
let chain: TestChain;
before(async () => {
  chain = await startTestChain();
});
after(() => chain?.stop());
const bedOf = (t: TestContext, options?: Parameters<typeof openFixture>[2]) => openFixture(t, chain, options);

const gwei = 10n ** 9n;

test('reports a nonce used by somebody else, and moves the payload to another once that is final', async (t) => {
  const fixture = await bedOf(t);
  const first = await fixture.enqueue();
  const second = await fixture.enqueue();
  await useNonceElsewhere(fixture, 0);
  await fixture.mine();
  await fixture.index();
  await fixture.sender.step(fixture.lead);
  assert.equal(fixture.sender.status().waiting?.what, 'nonce');
  assert.equal(await nonceOf(fixture, first.id), 0);
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(second.id)).status, 'confirmed', 'what lies behind does not wait');

  await fixture.mine(finalAfter);
  await fixture.age(60);
  await fixture.sender.step(fixture.lead);
  assert.equal(await nonceOf(fixture, first.id), 0, 'the indexer has not come so far');
  assert.equal(fixture.losses.found, 0);
  await fixture.index();
  await fixture.age(60);
  await fixture.sender.step(fixture.lead);
  assert.equal(await nonceOf(fixture, first.id), 2);
  assert.equal(fixture.losses.found, 1);
  assert.ok(fixture.logged.some((line) => line.includes('nothing else may use')));
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(first.id)).status, 'confirmed');
  assert.equal((await fixture.attempts(first.id)).length, 1);
  // What was signed for the old nonce stays with that nonce, set aside.
  const left = await fixture.db
    .selectFrom('outgoing_transactions')
    .select(['id', 'nonce', 'status', 'reason'])
    .orderBy('nonce')
    .execute();
  assert.deepEqual(
    left.map(({ nonce, status }) => [nonce, status]),
    [
      [0, 'failed'],
      [1, 'finalized'],
      [2, 'confirmed'],
    ],
  );
  assert.match(left[0]?.reason ?? '', /not sent by this service/);
  assert.equal((await fixture.attempts(left[0]?.id as number))[0]?.hash, first.hash);
  assert.deepEqual(
    fixture.outcomes.filter(({ outgoingId, to }) => outgoingId === first.id && to === 'failed'),
    [],
  );
  assert.equal(await usedNonces(fixture), 3);
});

test('finds lost nonces with one look at the chain, without historical state', async (t) => {
  const fixture = await bedOf(t);
  const { id } = await fixture.enqueue();
  const lost = 40;
  for (let nonce = 0; nonce < lost; nonce += 1) await useNonceElsewhere(fixture, nonce);
  await fixture.mine(finalAfter + 1);
  const head = await fixture.anvil.client.getBlockNumber();
  // The indexer comes later, when the chain has gone on and no node has that state any more.
  await fixture.sender.step(fixture.lead);
  await fixture.mine(30);
  fixture.proxy.refuseWith({ code: -32000, message: 'missing trie node' }, ({ method, params }) => {
    return method === 'eth_getTransactionCount' && params[1] !== 'latest' && params[1] !== 'pending';
  });
  await fixture.index();
  const before = fixture.proxy.calls.length;
  await fixture.age(60);
  await fixture.sender.step(fixture.lead);
  assert.equal(await nonceOf(fixture, id), lost);
  assert.equal(fixture.losses.found, 1);
  const counted = fixture.proxy.calls
    .slice(before)
    .filter(({ method }) => method === 'eth_getTransactionCount');
  assert.ok(counted.length <= 2, `${counted.length} counts for ${lost} nonces at block ${head}`);
  fixture.proxy.heal();
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(id)).status, 'confirmed');
  const rows = await fixture.db
    .selectFrom('outgoing_transactions')
    .select('nonce')
    .orderBy('nonce')
    .execute();
  assert.deepEqual(
    rows.map(({ nonce }) => nonce),
    [0, lost],
  );
  const [report] = await runEach([noncesCheck(fixture.db)], { settleMs: 0 });
  assert.deepEqual(report?.findings, [], 'nonces that are known to be lost are no gap');
  // What comes next goes on from there.
  assert.equal(await nonceOf(fixture, (await fixture.enqueue()).id), lost + 1);
});

test('whoever begins to lead finds unknown transactions with the first quote, before anything is signed', async (t) => {
  const fixture = await bedOf(t);
  // Transactions from before the database's first one are not its own: a deployment, for example.
  await useNonceElsewhere(fixture, 0);
  await fixture.mine();
  await fixture.enqueue();
  assert.equal(fixture.losses.found, 0);
  await fixture.sender.step(fixture.lead);
  // The next ones are not mined yet, or only in a block that is not final.
  await useNonceElsewhere(fixture, 2);
  await fixture.sender.quote(fixture.lead);
  assert.equal(fixture.losses.found, 0, 'the chain is not asked again during a tenure');
  const tenures = [fixture.lead, { ...fixture.lead, chain: { ...fixture.lead.chain } }];
  for (const [place, lead] of tenures.entries()) {
    const { quote } = fixture.newSender();
    await quote(lead);
    await quote(lead);
    assert.equal(fixture.losses.found, place + 1);
    await fixture.mine();
  }
});

test('keeps the nonce of a mined transaction whose receipt the chain node hides, however final it is', async (t) => {
  const fixture = await bedOf(t);
  const { id, hash } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await fixture.mine(finalAfter + 2);
  const { client } = fixture.lead.chain;
  const request = client.request.bind(client);
  client.request = (async (args: { method: string }) =>
    args.method === 'eth_getTransactionReceipt' ? null : request(args as never)) as typeof client.request;
  for (let round = 0; round < 3; round += 1) {
    await fixture.age(60);
    await fixture.sender.step(fixture.lead);
  }
  assert.equal(await nonceOf(fixture, id), 0);
  await fixture.index();
  await fixture.age(60);
  await fixture.sender.step(fixture.lead);
  assert.deepEqual(await fixture.row(id), { nonce: 0, status: 'finalized', reason: null, mined: hash });
  assert.equal(fixture.losses.found, 0);
});

test('a payload that can never succeed fails without a new nonce if somebody else used its own', async (t) => {
  const fixture = await bedOf(t);
  const { id } = await fixture.enqueue({ gasLimit: 100_000_000 });
  await fixture.sender.step(fixture.lead);
  const [noOp] = await fixture.inPool();
  await fixture.anvil.client.dropTransaction({ hash: noOp as Hex });
  await useNonceElsewhere(fixture, 0);
  await fixture.mine(finalAfter + 1);
  await fixture.index();
  await fixture.age(60);
  await fixture.sender.step(fixture.lead);
  const row = await fixture.row(id);
  assert.deepEqual([row.status, row.nonce, row.mined], ['failed', 0, null]);
  assert.deepEqual(fixture.outcomes.at(-1), {
    outgoingId: id,
    purpose: 'anchor',
    to: 'failed',
    reason: row.reason,
  });
  assert.match(row.reason ?? '', /gas/);
});

test('a reorg restores the payload that had been mined, not the no-op signed later', async (t) => {
  const fixture = await bedOf(t);
  await fixture.mine();
  await fixture.index();
  const { id, hash } = await fixture.enqueue();
  const [attempt] = await fixture.attempts(id);
  fixture.proxy.refuseWith(
    { code: -32000, message: 'oversized data' },
    ({ params }) => params[0] === attempt?.raw,
  );
  await fixture.sender.step(fixture.lead);
  fixture.proxy.heal();
  await fixture.anvil.client.dropTransaction({ hash: (await fixture.attempts(id))[1]?.hash as Hex });
  await fixture.anvil.client.sendRawTransaction({ serializedTransaction: attempt?.raw as Hex });
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(id)).status, 'confirmed');
  await fixture.anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never);
  await fixture.index();
  await fixture.sender.step(fixture.lead);
  assert.deepEqual(await fixture.inPool(), [hash]);
});

test('sends a legacy transaction with one gas price too', async (t) => {
  const fixture = await bedOf(t);
  const quote = await fixture.sender.quote(fixture.lead);
  const fees = { legacy: true, maxFeeWei: 5n * gwei, priorityFeeWei: 5n * gwei };
  const { id, hash } = await fixture.lead.term.commit((db) =>
    fixture.sender.enqueue(db, { ...quote, fees }, payload()),
  );
  await fixture.sender.step(fixture.lead);
  assert.deepEqual(await fixture.inPool(), [hash]);
  assert.equal(parseTransaction((await fixture.attempts(id))[0]?.raw as Hex).gasPrice, 5n * gwei);
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(id)).status, 'confirmed');
});

test('lost commits are told when a node begins to lead, and by fsck before and after', async (t) => {
  const fixture = await bedOf(t);
  await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await fixture.mine();
  await fixture.index();
  const fsck = async () => {
    const chain = async () => fixture.anvil.client as unknown as PublicClient;
    const [report] = await runEach([lostCommitsCheck({ db: fixture.db, chain })], { settleMs: 0 });
    return report;
  };
  assert.deepEqual((await fsck())?.findings, []);
  // What the database before this one had sent after the last commit that was replicated.
  for (const nonce of [1, 2]) await useNonceElsewhere(fixture, nonce);
  await fixture.mine();

  const [finding] = (await fsck())?.findings ?? [];
  assert.equal(finding?.rule, 'commits_lost');
  assert.match(
    finding?.message ?? '',
    /^The chain has 2 transactions .* the database lacks its last commits/,
  );
  assert.match(finding?.advice ?? '', /holdfast promote/);

  assert.equal(fixture.losses.found, 0);
  await fixture.newSender().quote(fixture.lead);
  assert.equal(fixture.losses.found, 1);
  assert.match(fixture.logged.join('\n'), /The chain has transactions that the database does not know/);

  const { id } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await fixture.mine(finalAfter + 1);
  await fixture.index();
  await fixture.age(60);
  await fixture.sender.step(fixture.lead);
  assert.equal(await nonceOf(fixture, id), 3);
  const after = await fsck();
  assert.deepEqual(after?.findings, []);
  assert.match(
    after?.notes?.join() ?? '',
    /^The chain has \d transactions .* that this database never knew, all later than 20/,
  );
});

async function useNonceElsewhere(fixture: Fixture, nonce: number): Promise<void> {
  const raw = await fixture.account.signTransaction({
    chainId: fixture.lead.chain.chainId,
    type: 'eip1559',
    nonce,
    to: fixture.account.address,
    gas: 21_000n,
    maxFeePerGas: 100n * gwei,
    maxPriorityFeePerGas: 20n * gwei,
  });
  await fixture.anvil.client.sendRawTransaction({ serializedTransaction: raw });
}

function usedNonces(fixture: Fixture): Promise<number> {
  return fixture.anvil.client.getTransactionCount({ address: fixture.account.address });
}

async function nonceOf(fixture: Fixture, id: number): Promise<number> {
  return (await fixture.row(id)).nonce;
}
