/** What is signed anew on a real chain: higher fees, no-ops, another nonce; and that a payload is mined once whatever happens. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { type Hex, parseTransaction } from 'viem';
import { anvilMissing } from '../../../test/support/chain/anvil.ts';
import {
  type Bed,
  finalAfter,
  openBed,
  payload,
  startTestChain,
} from '../../../test/support/fixtures/sender-fixture.ts';
import { runEach } from '../../runtime/check.ts';
import { noncesCheck } from './nonces.check.ts';

const skip = await anvilMissing();
const chain = skip ? null : await startTestChain();
after(() => chain?.stop());
const bedOf = (t: TestContext, options?: Parameters<typeof openBed>[2]) =>
  openBed(t, chain as NonNullable<typeof chain>, options);

const gwei = 10n ** 9n;

test('not mined for 30 s: both fees are raised by an eighth at least, on the same nonce, every time', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const { id } = await bed.enqueue();
  await bed.sender.step(bed.lead);
  for (let count = 2; count <= 4; count += 1) {
    await bed.age(20);
    await bed.sender.step(bed.lead);
    await bed.age(40);
    await bed.sender.step(bed.lead);
    const attempts = await bed.attempts(id);
    assert.equal(attempts.length, count);
    const [newer, older] = attempts
      .slice(-2)
      .reverse()
      .map((attempt) => parseTransaction(attempt.raw));
    assert.ok(newer && older);
    assert.equal(newer.nonce, older.nonce);
    assert.ok(Number(newer.maxFeePerGas) >= Number(older.maxFeePerGas) * 1.125);
    assert.ok(Number(newer.maxPriorityFeePerGas) >= Number(older.maxPriorityFeePerGas) * 1.125);
    assert.deepEqual(await bed.inPool(), [attempts.at(-1)?.hash], 'it took the place of the former one');
  }
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(id)).mined, (await bed.attempts(id)).at(-1)?.hash);
  assert.equal(await usedNonces(bed), 1);
});

test('those behind one that is not mined keep their fee, unless the chain asks more', { skip }, async (t) => {
  const bed = await bedOf(t);
  await baseFee(bed, gwei);
  const ids: number[] = [];
  for (let count = 0; count < 3; count += 1) ids.push((await bed.enqueue()).id);
  await bed.sender.step(bed.lead);
  const counts = () => Promise.all(ids.map(async (id) => (await bed.attempts(id)).length));
  for (let round = 0; round < 4; round += 1) {
    await bed.age(40);
    await bed.sender.step(bed.lead);
  }
  assert.deepEqual(await counts(), [5, 1, 1]);
  await baseFee(bed, 6n * gwei);
  for (let round = 0; round < 3; round += 1) {
    await bed.age(40);
    await bed.sender.step(bed.lead);
  }
  assert.deepEqual(await counts(), [8, 2, 2]);
  await bed.mine();
  await bed.index();
  for (const id of ids) assert.equal((await bed.row(id)).status, 'confirmed');
  assert.equal(await usedNonces(bed), 3);
});

test('the fee that the chain asks now is offered, and never more than the cap', { skip }, async (t) => {
  const bed = await bedOf(t, { maxFeePerGasWei: 20n * gwei });
  await baseFee(bed, gwei);
  const { id } = await bed.enqueue();
  await bed.sender.step(bed.lead);
  await baseFee(bed, 6n * gwei);
  await bed.age(40);
  await bed.sender.step(bed.lead);
  const second = (await bed.attempts(id))[1]?.maxFeeWei ?? 0n;
  assert.ok(second > 10n * gwei && second <= 20n * gwei, `${second} wei`);
  for (let round = 0; round < 10; round += 1) {
    await bed.age(40);
    await bed.sender.step(bed.lead);
  }
  const attempts = await bed.attempts(id);
  assert.ok(attempts.length < 10, 'at the cap nothing is signed any more');
  assert.ok(attempts.every(({ maxFeeWei }) => maxFeeWei <= 20n * gwei));
  const last = attempts.at(-1) as { raw: Hex; hash: Hex };
  assert.deepEqual(bed.rawSent().slice(-3), [last.raw, last.raw, last.raw], 'it is only sent again');
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(id)).mined, last.hash);
});

test('below the base fee: today’s fee is offered at once; above the cap it waits, says so, and goes on when fees fall', {
  skip,
}, async (t) => {
  const bed = await bedOf(t, { maxFeePerGasWei: 10n * gwei });
  await baseFee(bed, gwei);
  const cheap = await bed.enqueue();
  await baseFee(bed, 4n * gwei);
  await bed.sender.step(bed.lead);
  assert.equal((await bed.attempts(cheap.id)).length, 2);
  assert.deepEqual(await bed.inPool(), [(await bed.attempts(cheap.id))[1]?.hash]);
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(cheap.id)).status, 'confirmed');

  const { id } = await bed.enqueue();
  await baseFee(bed, 50n * gwei);
  for (let round = 0; round < 3; round += 1) {
    await bed.sender.step(bed.lead);
    await bed.age(40);
  }
  assert.equal((await bed.row(id)).status, 'signed');
  assert.equal(bed.sender.status().waiting?.what, 'fees');
  assert.equal(bed.logged.filter((line) => line.includes('"waitingFor":"fees"')).length, 1);
  await baseFee(bed, gwei);
  await bed.age(40);
  await bed.sender.step(bed.lead);
  assert.equal((await bed.row(id)).status, 'submitted');
  assert.equal(bed.sender.status().waiting, null);
});

test('a mined attempt is found before anything is signed, whichever it is', { skip }, async (t) => {
  const bed = await bedOf(t);
  const { id, hash } = await bed.enqueue();
  await bed.sender.step(bed.lead);
  await bed.age(40);
  await bed.sender.step(bed.lead);
  const before = await bed.attempts(id);
  assert.equal(before.length, 2);
  // Another node had kept the first one, and that is mined.
  await bed.anvil.client.dropTransaction({ hash: before[1]?.hash as Hex });
  await bed.anvil.client.sendRawTransaction({ serializedTransaction: before[0]?.raw as Hex });
  await bed.mine();
  for (let round = 0; round < 3; round += 1) {
    await bed.age(40);
    await bed.sender.step(bed.lead);
  }
  assert.equal((await bed.attempts(id)).length, 2);
  assert.equal(bed.sender.status().waiting, null);
  await bed.index();
  assert.deepEqual(await bed.row(id), { nonce: 0, status: 'confirmed', reason: null, mined: hash });
});

test('mined and indexed while a higher fee is being signed: nothing is added to it', { skip }, async (t) => {
  const bed = await bedOf(t);
  const { id, hash } = await bed.enqueue();
  await bed.sender.step(bed.lead);
  await bed.age(40);
  const { term } = bed.lead;
  let commits = 0;
  const commit: typeof term.commit = async (work) => {
    commits += 1;
    // The first reads what is open. Before the second, which stores the new signature, the indexer is quicker.
    if (commits === 2) {
      await bed.mine();
      await bed.index();
    }
    return term.commit(work);
  };
  await bed.sender.step({ ...bed.lead, term: { ...term, commit } });
  assert.ok(commits >= 2, 'no higher fee was signed');
  assert.deepEqual(
    (await bed.attempts(id)).map((attempt) => attempt.hash),
    [hash],
  );
  assert.deepEqual(await bed.row(id), { nonce: 0, status: 'confirmed', reason: null, mined: hash });
});

test('killed after a higher fee was signed and stored: the next process sends that one', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const { id } = await bed.enqueue();
  await bed.sender.step(bed.lead);
  await bed.age(40);
  await bed.proxy.fail('refuse', { methods: ['eth_sendRawTransaction'] });
  await assert.rejects(bed.sender.step(bed.lead));
  bed.proxy.heal();
  assert.equal((await bed.attempts(id)).length, 2);
  await bed.newSender().step(bed.lead);
  assert.deepEqual(await bed.inPool(), [(await bed.attempts(id))[1]?.hash]);
  assert.equal((await bed.attempts(id)).length, 2);
});

test('without money it waits and says so, signs nothing more, and goes on when there is some', {
  skip,
}, async (t) => {
  const bed = await bedOf(t, { balanceWei: 0n });
  const first = await bed.enqueue();
  const second = await bed.enqueue();
  for (let round = 0; round < 4; round += 1) {
    await bed.sender.step(bed.lead);
    await bed.age(60);
  }
  assert.equal(bed.sender.status().waiting?.what, 'funds');
  assert.equal(bed.sender.status().waiting?.outgoingId, first.id);
  assert.equal(bed.logged.filter((line) => line.includes('"waitingFor":"funds"')).length, 1);
  for (const { id } of [first, second]) {
    assert.equal((await bed.attempts(id)).length, 1);
    assert.equal((await bed.row(id)).status, 'signed');
  }
  await bed.anvil.client.setBalance({ address: bed.account.address, value: 10n ** 18n });
  await bed.sender.step(bed.lead);
  assert.equal(bed.sender.status().waiting, null);
  await bed.mine();
  await bed.index();
  for (const { id } of [first, second]) assert.equal((await bed.row(id)).status, 'confirmed');
});

test('where a higher fee is beyond its means, the former one is sent again', { skip }, async (t) => {
  const bed = await bedOf(t);
  const { id, hash } = await bed.enqueue();
  await bed.sender.step(bed.lead);
  const [first] = await bed.attempts(id);
  await bed.anvil.client.dropTransaction({ hash });
  await bed.anvil.client.setBalance({
    address: bed.account.address,
    value: 60_000n * (first?.maxFeeWei ?? 0n),
  });
  await bed.age(40);
  await bed.sender.step(bed.lead);
  assert.equal((await bed.attempts(id)).length, 2);
  assert.deepEqual(await bed.inPool(), [hash]);
});

for (const [name, outgoing] of Object.entries({
  'more gas than a block has': { gasLimit: 100_000_000 },
})) {
  test(`a payload with ${name} can never pass: a no-op takes its nonce, it fails with its reason, nothing behind it waits`, {
    skip,
  }, async (t) => {
    const bed = await bedOf(t, { confirmations: 2 });
    const bad = await bed.enqueue(outgoing);
    const good = await bed.enqueue();
    await bed.sender.step(bed.lead);
    const attempts = await bed.attempts(bad.id);
    assert.deepEqual(
      attempts.map(({ noOp }) => noOp),
      [false, true],
    );
    const noOp = parseTransaction(attempts[1]?.raw as Hex);
    assert.equal(noOp.nonce, 0);
    assert.equal(noOp.to, bed.account.address.toLowerCase());
    assert.equal(noOp.value ?? 0n, 0n);
    assert.equal(noOp.data ?? '0x', '0x');
    await bed.mine();
    await bed.index();
    assert.deepEqual(
      bed.outcomes.filter(({ to }) => to === 'failed'),
      [],
      'not before it is deep enough',
    );
    await bed.mine();
    await bed.index();
    const row = await bed.row(bad.id);
    assert.equal(row.status, 'failed');
    assert.match(row.reason ?? '', /gas/);
    assert.deepEqual(bed.outcomes.filter(({ outgoingId }) => outgoingId === bad.id).at(-1), {
      outgoingId: bad.id,
      purpose: 'anchor',
      to: 'failed',
      reason: row.reason,
    });
    assert.equal((await bed.row(good.id)).status, 'confirmed');
  });
}

for (const [name, outgoing] of Object.entries({
  'its bytes cost': { gasLimit: 21_000, data: '0x0102030405060708' as Hex },
  'the chain wants at this moment': {},
})) {
  test(`with less gas than ${name} it is estimated and signed again, and passes`, { skip }, async (t) => {
    const bed = await bedOf(t);
    const { id } = await bed.enqueue(outgoing);
    const [first] = await bed.attempts(id);
    bed.proxy.refuseWith(
      { code: -32000, message: 'intrinsic gas too low: gas 60000, minimum needed 900000' },
      ({ params }) => params[0] === first?.raw,
    );
    for (let round = 0; round < 3; round += 1) await bed.sender.step(bed.lead);
    const attempts = await bed.attempts(id);
    assert.deepEqual(
      attempts.map(({ noOp }) => noOp),
      [false, false],
      'signed again once, and no no-op',
    );
    const [before, after] = attempts.map(({ raw }) => parseTransaction(raw));
    assert.ok(before && after && Number(after.gas) >= 2 * Number(before.gas));
    assert.deepEqual([after.nonce, after.data, after.to], [before.nonce, before.data, before.to]);
    await bed.mine();
    await bed.index();
    const row = await bed.row(id);
    assert.deepEqual([row.status, row.mined], ['confirmed', attempts[1]?.hash]);
  });
}

test('one that no gas helps is signed again a few times, and then a no-op takes its nonce', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const { id } = await bed.enqueue();
  const isAnchor = ({ method, params }: { method: string; params: unknown[] }) =>
    method === 'eth_sendRawTransaction' && (parseTransaction(params[0] as Hex).data ?? '0x') !== '0x';
  bed.proxy.refuseWith({ code: -32000, message: 'intrinsic gas too low' }, isAnchor);
  for (let round = 0; round < 3; round += 1) await bed.sender.step(bed.lead);
  const attempts = await bed.attempts(id);
  assert.ok(attempts.length < 12, `${attempts.length} attempts`);
  assert.deepEqual(
    attempts.flatMap(({ noOp }, place) => (noOp ? [place] : [])),
    [attempts.length - 1],
  );
  assert.deepEqual(await bed.inPool(), [attempts.at(-1)?.hash]);
});

test('a node was wrong that it can never pass, and the payload is mined after all: that counts', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const { id, hash } = await bed.enqueue();
  const [attempt] = await bed.attempts(id);
  bed.proxy.refuseWith(
    { code: -32000, message: 'exceeds block gas limit' },
    ({ params }) => params[0] === attempt?.raw,
  );
  await bed.sender.step(bed.lead);
  bed.proxy.heal();
  const noOp = (await bed.attempts(id))[1];
  assert.deepEqual(await bed.inPool(), [noOp?.hash]);
  await bed.anvil.client.dropTransaction({ hash: noOp?.hash as Hex });
  await bed.anvil.client.sendRawTransaction({ serializedTransaction: attempt?.raw as Hex });
  await bed.mine();
  await bed.index();
  assert.deepEqual(await bed.row(id), { nonce: 0, status: 'confirmed', reason: null, mined: hash });
});

test('killed after the no-op was stored: the next process sends it', { skip }, async (t) => {
  const bed = await bedOf(t);
  const { id } = await bed.enqueue({ gasLimit: 100_000_000 });
  let sends = 0;
  bed.proxy.refuseWith({ code: -32603, message: 'oops' }, ({ method }) => {
    if (method === 'eth_sendRawTransaction') sends += 1;
    return method === 'eth_sendRawTransaction' && sends > 1;
  });
  await assert.rejects(bed.sender.step(bed.lead));
  bed.proxy.heal();
  await bed.newSender().step(bed.lead);
  const attempts = await bed.attempts(id);
  assert.equal(attempts.length, 2);
  assert.deepEqual(await bed.inPool(), [attempts[1]?.hash]);
});

test('one that reverts is mined, and fails with that reason', { skip }, async (t) => {
  const bed = await bedOf(t);
  // PUSH1 0, PUSH1 0, REVERT
  const to = `0x${'66'.repeat(20)}` as const;
  await bed.anvil.client.setCode({ address: to, bytecode: '0x60006000fd' });
  const { id, hash } = await bed.enqueue({ to });
  const good = await bed.enqueue();
  await bed.sender.step(bed.lead);
  await bed.mine();
  await bed.index();
  assert.deepEqual(await bed.row(id), {
    nonce: 0,
    status: 'failed',
    reason: 'the transaction reverted',
    mined: hash,
  });
  assert.equal((await bed.row(good.id)).status, 'confirmed');
});

test('somebody else used the nonce: it is told, and once that is final the payload goes on under another', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const first = await bed.enqueue();
  const second = await bed.enqueue();
  await useNonceElsewhere(bed, 0);
  await bed.mine();
  await bed.index();
  await bed.sender.step(bed.lead);
  assert.equal(bed.sender.status().waiting?.what, 'nonce');
  assert.equal(await nonceOf(bed, first.id), 0);
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(second.id)).status, 'confirmed', 'what lies behind does not wait');

  await bed.mine(finalAfter);
  await bed.age(60);
  await bed.sender.step(bed.lead);
  assert.equal(await nonceOf(bed, first.id), 0, 'the indexer has not come so far');
  await bed.index();
  await bed.age(60);
  await bed.sender.step(bed.lead);
  assert.equal(await nonceOf(bed, first.id), 2);
  assert.ok(bed.logged.some((line) => line.includes('must be used by nothing else')));
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(first.id)).status, 'confirmed');
  assert.equal((await bed.attempts(first.id)).length, 1);
  // What was signed for the old nonce stays with that nonce, set aside.
  const left = await bed.db
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
  assert.match(left[0]?.reason ?? '', /not sent from here/);
  assert.equal((await bed.attempts(left[0]?.id as number))[0]?.hash, first.hash);
  assert.deepEqual(
    bed.outcomes.filter(({ outgoingId, to }) => outgoingId === first.id && to === 'failed'),
    [],
  );
  assert.equal(await usedNonces(bed), 3);
});

test('nonces that were lost are known by one look at the chain, which needs no state of long ago', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const { id } = await bed.enqueue();
  const lost = 40;
  for (let nonce = 0; nonce < lost; nonce += 1) await useNonceElsewhere(bed, nonce);
  await bed.mine(finalAfter + 1);
  const head = await bed.anvil.client.getBlockNumber();
  // The indexer comes later, when the chain has gone on and no node has that state any more.
  await bed.sender.step(bed.lead);
  await bed.mine(30);
  bed.proxy.refuseWith({ code: -32000, message: 'missing trie node' }, ({ method, params }) => {
    return method === 'eth_getTransactionCount' && params[1] !== 'latest' && params[1] !== 'pending';
  });
  await bed.index();
  const before = bed.proxy.calls.length;
  await bed.age(60);
  await bed.sender.step(bed.lead);
  assert.equal(await nonceOf(bed, id), lost);
  const counted = bed.proxy.calls.slice(before).filter(({ method }) => method === 'eth_getTransactionCount');
  assert.ok(counted.length <= 2, `${counted.length} counts for ${lost} nonces at block ${head}`);
  bed.proxy.heal();
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(id)).status, 'confirmed');
  const rows = await bed.db.selectFrom('outgoing_transactions').select('nonce').orderBy('nonce').execute();
  assert.deepEqual(
    rows.map(({ nonce }) => nonce),
    [0, lost],
  );
  const [report] = await runEach([noncesCheck(bed.db)], { settleMs: 0 });
  assert.deepEqual(report?.findings, [], 'nonces that are known to be lost are no gap');
  // What comes next goes on from there.
  assert.equal(await nonceOf(bed, (await bed.enqueue()).id), lost + 1);
});

test('ours was mined and the node hides the receipt: no other nonce is taken, however final it is', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const { id, hash } = await bed.enqueue();
  await bed.sender.step(bed.lead);
  await bed.mine(finalAfter + 2);
  const { client } = bed.lead.chain;
  const request = client.request.bind(client);
  client.request = (async (args: { method: string }) =>
    args.method === 'eth_getTransactionReceipt' ? null : request(args as never)) as typeof client.request;
  for (let round = 0; round < 3; round += 1) {
    await bed.age(60);
    await bed.sender.step(bed.lead);
  }
  assert.equal(await nonceOf(bed, id), 0);
  await bed.index();
  await bed.age(60);
  await bed.sender.step(bed.lead);
  assert.deepEqual(await bed.row(id), { nonce: 0, status: 'finalized', reason: null, mined: hash });
});

test('a payload that can never pass, and whose nonce somebody else used, fails without another', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  const { id } = await bed.enqueue({ gasLimit: 100_000_000 });
  await bed.sender.step(bed.lead);
  const [noOp] = await bed.inPool();
  await bed.anvil.client.dropTransaction({ hash: noOp as Hex });
  await useNonceElsewhere(bed, 0);
  await bed.mine(finalAfter + 1);
  await bed.index();
  await bed.age(60);
  await bed.sender.step(bed.lead);
  const row = await bed.row(id);
  assert.deepEqual([row.status, row.nonce, row.mined], ['failed', 0, null]);
  assert.deepEqual(bed.outcomes.at(-1), {
    outgoingId: id,
    purpose: 'anchor',
    to: 'failed',
    reason: row.reason,
  });
  assert.match(row.reason ?? '', /gas/);
});

test('a reorg brings back the payload that had been mined, not the no-op that was signed later', {
  skip,
}, async (t) => {
  const bed = await bedOf(t);
  await bed.mine();
  await bed.index();
  const { id, hash } = await bed.enqueue();
  const [attempt] = await bed.attempts(id);
  bed.proxy.refuseWith(
    { code: -32000, message: 'oversized data' },
    ({ params }) => params[0] === attempt?.raw,
  );
  await bed.sender.step(bed.lead);
  bed.proxy.heal();
  await bed.anvil.client.dropTransaction({ hash: (await bed.attempts(id))[1]?.hash as Hex });
  await bed.anvil.client.sendRawTransaction({ serializedTransaction: attempt?.raw as Hex });
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(id)).status, 'confirmed');
  await bed.anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never);
  await bed.index();
  await bed.sender.step(bed.lead);
  assert.deepEqual(await bed.inPool(), [hash]);
});

test('a transaction without a base fee is taken too', { skip }, async (t) => {
  const bed = await bedOf(t);
  const quote = await bed.sender.quote(bed.lead.chain);
  const fees = { legacy: true, maxFeeWei: 5n * gwei, priorityFeeWei: 5n * gwei };
  const { id, hash } = await bed.lead.term.commit((db) =>
    bed.sender.enqueue(db, { ...quote, fees }, payload()),
  );
  await bed.sender.step(bed.lead);
  assert.deepEqual(await bed.inPool(), [hash]);
  assert.equal(parseTransaction((await bed.attempts(id))[0]?.raw as Hex).gasPrice, 5n * gwei);
  await bed.mine();
  await bed.index();
  assert.equal((await bed.row(id)).status, 'confirmed');
});

/** A block with this base fee; the next ones go down from there, an eighth at a time. */
async function baseFee(bed: Bed, baseFeePerGas: bigint): Promise<void> {
  await bed.anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
  await bed.mine();
}

async function useNonceElsewhere(bed: Bed, nonce: number): Promise<void> {
  const raw = await bed.account.signTransaction({
    chainId: bed.lead.chain.chainId,
    type: 'eip1559',
    nonce,
    to: bed.account.address,
    gas: 21_000n,
    maxFeePerGas: 100n * gwei,
    maxPriorityFeePerGas: 20n * gwei,
  });
  await bed.anvil.client.sendRawTransaction({ serializedTransaction: raw });
}

function usedNonces(bed: Bed): Promise<number> {
  return bed.anvil.client.getTransactionCount({ address: bed.account.address });
}

async function nonceOf(bed: Bed, id: number): Promise<number> {
  return (await bed.row(id)).nonce;
}
