/** Sending on a real chain: bytes are stored before they are sent, and none are sent twice or lost, whatever breaks. */
// tier: process
import assert from 'node:assert/strict';
import { parseTransaction } from 'viem';
import { type RpcFailure, rpcFailures } from '../../../test/support/chain/rpc-proxy.ts';
import {
  type Fixture,
  openFixture,
  payload,
  startTestChain,
  type TestChain,
} from '../../../test/support/fixtures/sender-fixture.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import { rpcFaultOf } from '../rpc/json-rpc.ts';

const { after, before, test } = needs('anvil');
let chain: TestChain;
before(async () => {
  chain = await startTestChain();
});
after(() => chain?.stop());
const bedOf = (t: Parameters<typeof openFixture>[0], options?: Parameters<typeof openFixture>[2]) =>
  openFixture(t, chain, options);

test('stores a transaction before it sends it, and reports it as submitted, confirmed and final', async (t) => {
  const fixture = await bedOf(t, { confirmations: 2 });
  const { id, hash } = await fixture.enqueue();
  assert.deepEqual(fixture.rawSent(), []);
  assert.equal((await fixture.row(id)).status, 'signed');
  const [attempt] = await fixture.attempts(id);
  assert.equal(attempt?.hash, hash);

  assert.equal(await fixture.sender.step(fixture.lead), false);
  assert.deepEqual(fixture.rawSent(), [attempt?.raw]);
  assert.deepEqual(await fixture.row(id), { nonce: 0, status: 'submitted', reason: null, mined: null });
  await fixture.sender.step(fixture.lead);
  assert.equal(fixture.rawSent().length, 1, 'nothing is sent again at once');

  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(id)).status, 'mined');
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(id)).status, 'confirmed');
  await fixture.mine(4);
  await fixture.index();
  assert.deepEqual(await fixture.row(id), { nonce: 0, status: 'finalized', reason: null, mined: hash });
  assert.deepEqual(
    fixture.outcomes.map(({ outgoingId, to }) => [outgoingId, to]),
    [
      [id, 'submitted'],
      [id, 'confirmed'],
      [id, 'finalized'],
    ],
  );
});

test('takes the first nonce from the chain, pending ones included, and later ones from the database', async (t) => {
  const fixture = await bedOf(t);
  await sendElsewhere(fixture, 0);
  await fixture.mine();
  await sendElsewhere(fixture, 1);
  const first = await fixture.enqueue();
  assert.equal((await fixture.row(first.id)).nonce, 2);
  const second = await fixture.enqueue();
  assert.equal((await fixture.row(second.id)).nonce, 3);
  const asked = () => fixture.proxy.calls.filter(({ method }) => method === 'eth_getTransactionCount').length;
  const before = asked();
  await fixture.enqueue();
  assert.equal(asked(), before, 'the chain is not asked for what is known');
});

test('a commit that fails after nonce and signature leaves no gap', async (t) => {
  const fixture = await bedOf(t);
  const quote = await fixture.sender.quote(fixture.lead);
  for (const round of [1, 2]) {
    await assert.rejects(
      fixture.lead.term.commit(async (db) => {
        await fixture.sender.enqueue(db, quote, payload());
        throw new Error(`killed ${round}`);
      }),
      /killed/,
    );
  }
  const { id } = await fixture.enqueue();
  assert.equal((await fixture.row(id)).nonce, 0);
  await fixture.sender.step(fixture.lead);
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(id)).status, 'confirmed');
});

test('numbers transactions of one or several commits in sequence, and sends them in that order', async (t) => {
  const fixture = await bedOf(t);
  const quote = await fixture.sender.quote(fixture.lead);
  const ids = await fixture.lead.term.commit(async (db) => {
    const made: number[] = [];
    for (let count = 0; count < 20; count += 1)
      made.push((await fixture.sender.enqueue(db, quote, payload())).id);
    return made;
  });
  ids.push((await fixture.enqueue()).id);
  await fixture.sender.step(fixture.lead);
  assert.deepEqual(
    fixture.rawSent().map((raw) => parseTransaction(raw).nonce ?? 0),
    ids.map((_, nonce) => nonce),
  );
  await fixture.mine();
  await fixture.index();
  for (const id of ids) assert.equal((await fixture.row(id)).status, 'confirmed');
});

test('after a kill before or after the broadcast the same bytes are sent again and mined once', async (t) => {
  const fixture = await bedOf(t);
  const { id } = await fixture.enqueue();
  // It has not been sent. A new process finds it.
  const killed = fixture.newSender({
    applyOutcomes: () => Promise.reject(new Error('killed before the answer was stored')),
  });
  await assert.rejects(killed.step(fixture.lead), /killed/);
  assert.equal((await fixture.row(id)).status, 'signed');
  assert.equal((await fixture.inPool()).length, 1);

  const next = fixture.newSender();
  await next.step(fixture.lead);
  assert.equal((await fixture.row(id)).status, 'submitted');
  assert.equal(new Set(fixture.rawSent()).size, 1);
  assert.equal(fixture.rawSent().length, 2);
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(id)).status, 'confirmed');
  assert.equal(await fixture.anvil.client.getTransactionCount({ address: fixture.account.address }), 1);
});

test('a transaction mined before the next start counts as submitted and confirmed', async (t) => {
  const fixture = await bedOf(t);
  const { id, hash } = await fixture.enqueue();
  const killed = fixture.newSender({ applyOutcomes: () => Promise.reject(new Error('killed')) });
  await assert.rejects(killed.step(fixture.lead), /killed/);
  await fixture.mine();
  // The new process may send before its indexer has read the block.
  const next = fixture.newSender();
  await next.step(fixture.lead);
  assert.equal((await fixture.attempts(id)).length, 1);
  await fixture.index();
  assert.deepEqual(await fixture.row(id), { nonce: 0, status: 'confirmed', reason: null, mined: hash });
  assert.deepEqual(
    fixture.outcomes.map(({ to }) => to),
    ['submitted', 'confirmed'],
  );
});

for (const failure of rpcFailures.filter((one) => one !== 'staleHead')) {
  test(`RPC failure "${failure}" while sending: resends the same bytes with one nonce, mined once`, async (t) => {
    const fixture = await bedOf(t);
    const ids = [await fixture.enqueue(), await fixture.enqueue()].map(({ id }) => id);
    await fixture.proxy.fail(
      failure,
      failure === 'wrongChainId' ? {} : { methods: ['eth_sendRawTransaction'] },
    );
    // Another process, which has not checked the chain's identity yet.
    const fresh = await senderAgain(fixture, failure);
    const failing = failure === 'hang' ? fixture.hurriedLead : fixture.lead;
    await assert.rejects(fresh.step(failing), (error) => rpcFaultOf(error) !== null);
    await assert.rejects(fresh.step(failing), (error) => rpcFaultOf(error) !== null);
    fixture.proxy.heal();
    while ((await fixture.row(ids[1] as number)).status === 'signed') await fresh.step(fixture.lead);
    await fresh.step(fixture.lead);
    for (const id of ids) {
      assert.equal((await fixture.row(id)).status, 'submitted');
      assert.equal((await fixture.attempts(id)).length, 1);
    }
    await fixture.mine();
    await fixture.index();
    for (const id of ids) assert.equal((await fixture.row(id)).status, 'confirmed');
    assert.equal(await fixture.anvil.client.getTransactionCount({ address: fixture.account.address }), 2);
  });
}

test('a chain node with a stale head causes neither a second nonce nor a wrong verdict', async (t) => {
  const fixture = await bedOf(t);
  const { id, hash } = await fixture.enqueue();
  await fixture.proxy.fail('staleHead');
  await fixture.sender.step(fixture.lead);
  await fixture.mine();
  await fixture.age(60);
  // The node does not return the receipt, but says that the nonce is used.
  await fixture.sender.step(fixture.lead);
  await fixture.age(60);
  await fixture.sender.step(fixture.lead);
  assert.deepEqual(new Set(fixture.rawSent().map((raw) => parseTransaction(raw).nonce ?? 0)), new Set([0]));
  fixture.proxy.heal();
  await fixture.index();
  assert.deepEqual(await fixture.row(id), { nonce: 0, status: 'confirmed', reason: null, mined: hash });
});

test('a transaction without a verdict from any chain node does not hold up those behind it', async (t) => {
  const fixture = await bedOf(t, { holdMs: 60_000 });
  const first = await fixture.enqueue();
  const second = await fixture.enqueue();
  const [attempt] = await fixture.attempts(first.id);
  fixture.proxy.refuseWith(
    { code: -32603, message: 'internal error' },
    ({ params }) => params[0] === attempt?.raw,
  );
  await assert.rejects(
    fixture.sender.step(fixture.lead),
    (error) => rpcFaultOf(error)?.kind === 'bad_answer',
  );
  await fixture.sender.step(fixture.lead);
  assert.equal((await fixture.row(second.id)).status, 'submitted');
  fixture.proxy.heal();
  await fixture.newSender().step(fixture.lead);
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(first.id)).status, 'confirmed');
  assert.equal((await fixture.row(second.id)).status, 'confirmed');
});

test('retries after an unexpected refusal, and sends the transactions behind it too', async (t) => {
  const fixture = await bedOf(t);
  const first = await fixture.enqueue();
  const second = await fixture.enqueue();
  const [attempt] = await fixture.attempts(first.id);
  fixture.proxy.refuseWith(
    { code: -32000, message: 'moon is full' },
    ({ params }) => params[0] === attempt?.raw,
  );
  await fixture.sender.step(fixture.lead);
  await fixture.sender.step(fixture.lead);
  assert.deepEqual(fixture.sender.status().waiting, {
    what: 'refused',
    reason: 'moon is full',
    outgoingId: first.id,
  });
  assert.equal(fixture.logged.filter((line) => line.includes('moon is full')).length, 1, 'told once');
  assert.equal((await fixture.row(first.id)).status, 'signed');
  assert.equal((await fixture.row(second.id)).status, 'submitted');
  fixture.proxy.heal();
  await fixture.sender.step(fixture.lead);
  assert.equal((await fixture.row(first.id)).status, 'submitted');
  assert.equal(fixture.sender.status().waiting, null);
});

test('resends the same bytes some time after the pool was dropped', async (t) => {
  const fixture = await bedOf(t);
  const { id, hash } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await fixture.anvil.client.dropTransaction({ hash });
  assert.deepEqual(await fixture.inPool(), []);
  await fixture.age(5);
  await fixture.sender.step(fixture.lead);
  assert.equal(fixture.rawSent().length, 1, 'not yet');
  await fixture.age(15);
  await fixture.sender.step(fixture.lead);
  assert.deepEqual(await fixture.inPool(), [hash]);
  assert.equal((await fixture.attempts(id)).length, 1);
});

test('reports a confirmed transaction that a reorg removed, and resends the same bytes at once', async (t) => {
  for (const depth of [1, 3, 10]) {
    const fixture = await bedOf(t);
    fixture.outcomes.length = 0;
    await fixture.mine();
    await fixture.index();
    const { id, hash } = await fixture.enqueue();
    await fixture.sender.step(fixture.lead);
    await fixture.mine(depth);
    await fixture.index();
    const was = fixture.outcomes.find(({ to }) => to === 'confirmed');
    assert.ok(was);
    await fixture.anvil.client.request({
      method: 'anvil_reorg',
      params: [depth, []],
    } as never);
    await fixture.index();
    assert.deepEqual(await fixture.row(id), {
      nonce: (await fixture.row(id)).nonce,
      status: 'submitted',
      reason: null,
      mined: null,
    });
    const reorged = fixture.outcomes.at(-1);
    assert.deepEqual(reorged, {
      outgoingId: id,
      purpose: 'anchor',
      to: 'reorged',
      was: was.to === 'confirmed' && was.mined,
    });
    await fixture.sender.step(fixture.lead);
    assert.deepEqual(await fixture.inPool(), [hash]);
    await fixture.mine(depth + 1);
    await fixture.index();
    assert.equal((await fixture.row(id)).mined, hash);
    assert.equal((await fixture.attempts(id)).length, 1);
  }
});

test('a node that loses the lead during a round sends nothing more of it', async (t) => {
  const fixture = await bedOf(t);
  for (let count = 0; count < 3; count += 1) await fixture.enqueue();
  const lost = new AbortController();
  const { client } = fixture.lead.chain;
  const losing: typeof client = Object.assign(Object.create(client), {
    async sendRawTransaction(given: Parameters<typeof client.sendRawTransaction>[0]) {
      const hash = await client.sendRawTransaction(given);
      lost.abort();
      return hash;
    },
  });
  const { chain, term } = fixture.lead;
  await fixture.sender.step({
    chain: { ...chain, client: losing },
    term: { ...term, signal: lost.signal },
  });
  assert.equal(fixture.rawSent().length, 1);
  await fixture.sender.step(fixture.lead);
  assert.equal(fixture.rawSent().length, 3, 'the successor sends the rest');
});

async function sendElsewhere(fixture: Fixture, nonce: number): Promise<void> {
  const raw = await fixture.account.signTransaction({
    chainId: fixture.lead.chain.chainId,
    type: 'eip1559',
    nonce,
    to: fixture.account.address,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
  });
  await fixture.anvil.client.sendRawTransaction({ serializedTransaction: raw });
}

/** The chain's identity is checked before the first call and after each failure; only a wrong chain fails there. */
async function senderAgain(fixture: Fixture, failure: RpcFailure): Promise<Fixture['sender']> {
  if (failure === 'wrongChainId') {
    // Any fault makes it check the node's identity again.
    await fixture.proxy.fail('refuse', { times: 1 });
    await fixture.lead.chain.client.getBlockNumber().catch(() => {});
    await fixture.proxy.fail('wrongChainId');
  }
  return fixture.newSender();
}
