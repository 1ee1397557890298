/** Sending on a real chain: what is stored before it is sent, and that nothing is sent twice or forgotten, whatever breaks. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseTransaction } from 'viem';
import { anvilMissing } from '../../../test/support/chain/anvil.ts';
import { type RpcFailure, rpcFailures } from '../../../test/support/chain/rpc-proxy.ts';
import { type Bed, openBed, payload, startTestChain } from '../../../test/support/fixtures/sender-fixture.ts';
import { createWakeup } from '../../runtime/loop.ts';
import { rpcFaultOf } from '../rpc/json-rpc.ts';
import { senderLoop } from './sender.loop.ts';

const skip = await anvilMissing();
const chain = skip ? null : await startTestChain();
after(() => chain?.stop());
const bedOf = (t: Parameters<typeof openBed>[0], options?: Parameters<typeof openBed>[2]) =>
  openBed(t, chain as NonNullable<typeof chain>, options);

test('a transaction is stored before it is sent, and told of when it is taken, confirmed and final', {
  skip,
}, async (t) => {
  const bed = await bedOf(t, { confirmations: 2 });
  const { id, hash } = await bed.enqueue();
  assert.deepEqual(bed.rawSent(), []);
  assert.equal((await bed.row(id)).status, 'signed');
  const [attempt] = await bed.attempts(id);
  assert.equal(attempt?.hash, hash);

  assert.equal(await bed.sender.step(bed.lead), false);
  assert.deepEqual(bed.rawSent(), [attempt?.raw]);
  assert.deepEqual(await bed.row(id), { nonce: 0, status: 'submitted', reason: null, mined: null });
  await bed.sender.step(bed.lead);
  assert.equal(bed.rawSent().length, 1, 'nothing is sent again at once');

  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(id)).status, 'mined');
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(id)).status, 'confirmed');
  await bed.mine(4);
  await bed.index();
  assert.deepEqual(await bed.row(id), { nonce: 0, status: 'finalized', reason: null, mined: hash });
  assert.deepEqual(
    bed.outcomes.map(({ outgoingId, to }) => [outgoingId, to]),
    [
      [id, 'submitted'],
      [id, 'confirmed'],
      [id, 'finalized'],
    ],
  );
});

test('the first nonce is the chain’s, pending ones included, and the database’s from then on', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  await sendElsewhere(bed, 0);
  await bed.mine();
  await sendElsewhere(bed, 1);
  const first = await bed.enqueue();
  assert.equal((await bed.row(first.id)).nonce, 2);
  const second = await bed.enqueue();
  assert.equal((await bed.row(second.id)).nonce, 3);
  const asked = () => bed.proxy.calls.filter(({ method }) => method === 'eth_getTransactionCount').length;
  const before = asked();
  await bed.enqueue();
  assert.equal(asked(), before, 'the chain is not asked for what is known');
});

test('a commit that fails after nonce and signature leaves no gap', { skip }, async (t) => {
  const bed = await bedOf(t);
  const quote = await bed.sender.quote(bed.lead.chain);
  for (const round of [1, 2]) {
    await assert.rejects(
      bed.lead.term.commit(async (db) => {
        await bed.sender.enqueue(db, quote, payload());
        throw new Error(`killed ${round}`);
      }),
      /killed/,
    );
  }
  const { id } = await bed.enqueue();
  assert.equal((await bed.row(id)).nonce, 0);
  await bed.sender.step(bed.lead);
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(id)).status, 'confirmed');
});

test('several in one commit and in later ones have nonces in a row, and are sent in that order', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const quote = await bed.sender.quote(bed.lead.chain);
  const ids = await bed.lead.term.commit(async (db) => {
    const made: number[] = [];
    for (let count = 0; count < 20; count += 1)
      made.push((await bed.sender.enqueue(db, quote, payload())).id);
    return made;
  });
  ids.push((await bed.enqueue()).id);
  await bed.sender.step(bed.lead);
  assert.deepEqual(
    bed.rawSent().map((raw) => parseTransaction(raw).nonce ?? 0),
    ids.map((_, nonce) => nonce),
  );
  await bed.mine();
  await bed.index();
  for (const id of ids) assert.equal((await bed.row(id)).status, 'confirmed');
});

test('killed after the commit, or after the broadcast: the next process sends the same bytes, and it is mined once', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const { id } = await bed.enqueue();
  // Nobody sent it. A new process finds it.
  const killed = bed.newSender({
    applyOutcomes: () => Promise.reject(new Error('killed before the answer was stored')),
  });
  await assert.rejects(killed.step(bed.lead), /killed/);
  assert.equal((await bed.row(id)).status, 'signed');
  assert.equal((await bed.inPool()).length, 1);

  const next = bed.newSender();
  await next.step(bed.lead);
  assert.equal((await bed.row(id)).status, 'submitted');
  assert.equal(new Set(bed.rawSent()).size, 1);
  assert.equal(bed.rawSent().length, 2);
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(id)).status, 'confirmed');
  assert.equal(await bed.anvil.client.getTransactionCount({ address: bed.account.address }), 1);
});

test('killed after the broadcast and mined before the next start: it counts as submitted and confirmed', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const { id, hash } = await bed.enqueue();
  const killed = bed.newSender({ applyOutcomes: () => Promise.reject(new Error('killed')) });
  await assert.rejects(killed.step(bed.lead), /killed/);
  await bed.mine();
  // The new process may send before its indexer has read the block.
  const next = bed.newSender();
  await next.step(bed.lead);
  assert.equal((await bed.attempts(id)).length, 1);
  await bed.index();
  assert.deepEqual(await bed.row(id), { nonce: 0, status: 'confirmed', reason: null, mined: hash });
  assert.deepEqual(
    bed.outcomes.map(({ to }) => to),
    ['submitted', 'confirmed'],
  );
});

for (const failure of rpcFailures.filter((one) => one !== 'staleHead')) {
  test(`RPC failure "${failure}" while sending: the same bytes again, one nonce, mined once`, {
    skip,
  }, async (t) => {
    const bed = await bedOf(t);
    const ids = [await bed.enqueue(), await bed.enqueue()].map(({ id }) => id);
    await bed.proxy.fail(failure, failure === 'wrongChainId' ? {} : { methods: ['eth_sendRawTransaction'] });
    // Another process, that has vetted nothing yet.
    const fresh = await senderAgain(bed, failure);
    const failing = failure === 'hang' ? bed.hurriedLead : bed.lead;
    await assert.rejects(fresh.step(failing), (error) => rpcFaultOf(error) !== null);
    await assert.rejects(fresh.step(failing), (error) => rpcFaultOf(error) !== null);
    bed.proxy.heal();
    while ((await bed.row(ids[1] as number)).status === 'signed') await fresh.step(bed.lead);
    await fresh.step(bed.lead);
    for (const id of ids) {
      assert.equal((await bed.row(id)).status, 'submitted');
      assert.equal((await bed.attempts(id)).length, 1);
    }
    await bed.mine();
    await bed.index();
    for (const id of ids) assert.equal((await bed.row(id)).status, 'confirmed');
    assert.equal(await bed.anvil.client.getTransactionCount({ address: bed.account.address }), 2);
  });
}

test('a node with a stale head causes no second nonce and no wrong verdict', { skip }, async (t) => {
  const bed = await bedOf(t);
  const { id, hash } = await bed.enqueue();
  await bed.proxy.fail('staleHead');
  await bed.sender.step(bed.lead);
  await bed.mine();
  await bed.age(60);
  // It does not show the receipt, but says that the nonce is used.
  await bed.sender.step(bed.lead);
  await bed.age(60);
  await bed.sender.step(bed.lead);
  assert.deepEqual(new Set(bed.rawSent().map((raw) => parseTransaction(raw).nonce ?? 0)), new Set([0]));
  bed.proxy.heal();
  await bed.index();
  assert.deepEqual(await bed.row(id), { nonce: 0, status: 'confirmed', reason: null, mined: hash });
});

test('one that no node gives an opinion on does not hold up those behind it', { skip }, async (t) => {
  const bed = await bedOf(t, { holdMs: 60_000 });
  const first = await bed.enqueue();
  const second = await bed.enqueue();
  const [attempt] = await bed.attempts(first.id);
  bed.proxy.refuseWith(
    { code: -32603, message: 'internal error' },
    ({ params }) => params[0] === attempt?.raw,
  );
  await assert.rejects(bed.sender.step(bed.lead), (error) => rpcFaultOf(error)?.kind === 'bad_answer');
  await bed.sender.step(bed.lead);
  assert.equal((await bed.row(second.id)).status, 'submitted');
  bed.proxy.heal();
  await bed.newSender().step(bed.lead);
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(first.id)).status, 'confirmed');
  assert.equal((await bed.row(second.id)).status, 'confirmed');
});

test('what a node refuses in words that nobody foresaw is tried again, with those behind it', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const first = await bed.enqueue();
  const second = await bed.enqueue();
  const [attempt] = await bed.attempts(first.id);
  bed.proxy.refuseWith({ code: -32000, message: 'moon is full' }, ({ params }) => params[0] === attempt?.raw);
  await bed.sender.step(bed.lead);
  await bed.sender.step(bed.lead);
  assert.deepEqual(bed.sender.status().waiting, {
    what: 'refused',
    reason: 'moon is full',
    outgoingId: first.id,
  });
  assert.equal(bed.logged.filter((line) => line.includes('moon is full')).length, 1, 'told once');
  assert.equal((await bed.row(first.id)).status, 'signed');
  assert.equal((await bed.row(second.id)).status, 'submitted');
  bed.proxy.heal();
  await bed.sender.step(bed.lead);
  assert.equal((await bed.row(first.id)).status, 'submitted');
  assert.equal(bed.sender.status().waiting, null);
});

test('the pool was dropped: the same bytes are sent again after a while', { skip }, async (t) => {
  const bed = await bedOf(t);
  const { id, hash } = await bed.enqueue();
  await bed.sender.step(bed.lead);
  await bed.anvil.client.dropTransaction({ hash });
  assert.deepEqual(await bed.inPool(), []);
  await bed.age(5);
  await bed.sender.step(bed.lead);
  assert.equal(bed.rawSent().length, 1, 'not yet');
  await bed.age(15);
  await bed.sender.step(bed.lead);
  assert.deepEqual(await bed.inPool(), [hash]);
  assert.equal((await bed.attempts(id)).length, 1);
});

test('a reorg takes a confirmed one away: it is told, and the same bytes are sent at once', {
  skip,
}, async (t) => {
  for (const depth of [1, 3, 10]) {
    const bed = await bedOf(t);
    bed.outcomes.length = 0;
    await bed.mine();
    await bed.index();
    const { id, hash } = await bed.enqueue();
    await bed.sender.step(bed.lead);
    await bed.mine(depth);
    await bed.index();
    const was = bed.outcomes.find(({ to }) => to === 'confirmed');
    assert.ok(was);
    await bed.anvil.client.request({
      method: 'anvil_reorg',
      params: [depth, []],
    } as never);
    await bed.index();
    assert.deepEqual(await bed.row(id), {
      nonce: (await bed.row(id)).nonce,
      status: 'submitted',
      reason: null,
      mined: null,
    });
    const reorged = bed.outcomes.at(-1);
    assert.deepEqual(reorged, {
      outgoingId: id,
      purpose: 'anchor',
      to: 'reorged',
      was: was.to === 'confirmed' && was.mined,
    });
    await bed.sender.step(bed.lead);
    assert.deepEqual(await bed.inPool(), [hash]);
    await bed.mine(depth + 1);
    await bed.index();
    assert.equal((await bed.row(id)).mined, hash);
    assert.equal((await bed.attempts(id)).length, 1);
  }
});

test('a node that loses the lead in the middle of a round sends no more of it', { skip }, async (t) => {
  const bed = await bedOf(t);
  for (let count = 0; count < 3; count += 1) await bed.enqueue();
  const lost = new AbortController();
  const { client } = bed.lead.chain;
  const losing: typeof client = Object.assign(Object.create(client), {
    async sendRawTransaction(given: Parameters<typeof client.sendRawTransaction>[0]) {
      const hash = await client.sendRawTransaction(given);
      lost.abort();
      return hash;
    },
  });
  const { chain, term } = bed.lead;
  await bed.sender.step({
    chain: { ...chain, client: losing },
    term: { ...term, signal: lost.signal },
  });
  assert.equal(bed.rawSent().length, 1);
  await bed.sender.step(bed.lead);
  assert.equal(bed.rawSent().length, 3, 'the successor sends the rest');
});

test('the loop does nothing without the lead, and a step with it', async () => {
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
    { lead: () => lead as never, wakeup },
  );
  const stopping = new AbortController();
  let beats = 0;
  const running = loop.run(stopping.signal, () => {
    beats += 1;
    if (beats === 1) lead = { term: 'mine' };
    if (beats === 2) stopping.abort();
    wakeup.wake();
  });
  await running;
  assert.deepEqual(steps, [{ term: 'mine' }]);
});

async function sendElsewhere(bed: Bed, nonce: number): Promise<void> {
  const raw = await bed.account.signTransaction({
    chainId: bed.lead.chain.chainId,
    type: 'eip1559',
    nonce,
    to: bed.account.address,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
  });
  await bed.anvil.client.sendRawTransaction({ serializedTransaction: raw });
}

/** The chain is vetted before the first call and after each failure; only a wrong chain shows there. */
async function senderAgain(bed: Bed, failure: RpcFailure): Promise<Bed['sender']> {
  if (failure === 'wrongChainId') {
    // Any fault makes it look again at what stands behind the address.
    await bed.proxy.fail('refuse', { times: 1 });
    await bed.lead.chain.client.getBlockNumber().catch(() => {});
    await bed.proxy.fail('wrongChainId');
  }
  return bed.newSender();
}
