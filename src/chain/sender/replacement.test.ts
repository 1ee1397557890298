/** Replacements on a real chain: higher fees, no-ops, another nonce; and that a payload is mined once whatever happens. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { type Hex, parseTransaction } from 'viem';
import { anvilMissing } from '../../../test/support/chain/anvil.ts';
import {
  type Fixture,
  finalAfter,
  openFixture,
  payload,
  startTestChain,
} from '../../../test/support/fixtures/sender-fixture.ts';
import { runEach } from '../../runtime/check.ts';
import { noncesCheck } from './nonces.check.ts';

const skip = await anvilMissing();
const chain = skip ? null : await startTestChain();
after(() => chain?.stop());
const bedOf = (t: TestContext, options?: Parameters<typeof openFixture>[2]) =>
  openFixture(t, chain as NonNullable<typeof chain>, options);

const gwei = 10n ** 9n;

test('not mined for 30 s: both fees are raised by an eighth at least, on the same nonce, every time', {
  skip,
}, async (t) => {
  const fixture = await bedOf(t);
  const { id } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  for (let count = 2; count <= 4; count += 1) {
    await fixture.age(20);
    await fixture.sender.step(fixture.lead);
    await fixture.age(40);
    await fixture.sender.step(fixture.lead);
    const attempts = await fixture.attempts(id);
    assert.equal(attempts.length, count);
    const [newer, older] = attempts
      .slice(-2)
      .reverse()
      .map((attempt) => parseTransaction(attempt.raw));
    assert.ok(newer && older);
    assert.equal(newer.nonce, older.nonce);
    assert.ok(Number(newer.maxFeePerGas) >= Number(older.maxFeePerGas) * 1.125);
    assert.ok(Number(newer.maxPriorityFeePerGas) >= Number(older.maxPriorityFeePerGas) * 1.125);
    assert.deepEqual(await fixture.inPool(), [attempts.at(-1)?.hash], 'it took the place of the former one');
  }
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(id)).mined, (await fixture.attempts(id)).at(-1)?.hash);
  assert.equal(await usedNonces(fixture), 1);
});

test('those behind one that is not mined keep their fee, unless the chain asks more', { skip }, async (t) => {
  const fixture = await bedOf(t);
  await baseFee(fixture, gwei);
  const ids: number[] = [];
  for (let count = 0; count < 3; count += 1) ids.push((await fixture.enqueue()).id);
  await fixture.sender.step(fixture.lead);
  const counts = () => Promise.all(ids.map(async (id) => (await fixture.attempts(id)).length));
  for (let round = 0; round < 4; round += 1) {
    await fixture.age(40);
    await fixture.sender.step(fixture.lead);
  }
  assert.deepEqual(await counts(), [5, 1, 1]);
  await baseFee(fixture, 6n * gwei);
  for (let round = 0; round < 3; round += 1) {
    await fixture.age(40);
    await fixture.sender.step(fixture.lead);
  }
  assert.deepEqual(await counts(), [8, 2, 2]);
  await fixture.mine();
  await fixture.index();
  for (const id of ids) assert.equal((await fixture.row(id)).status, 'confirmed');
  assert.equal(await usedNonces(fixture), 3);
});

test('the fee that the chain asks now is offered, and never more than the cap', { skip }, async (t) => {
  const fixture = await bedOf(t, { maxFeePerGasWei: 20n * gwei });
  await baseFee(fixture, gwei);
  const { id } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await baseFee(fixture, 6n * gwei);
  await fixture.age(40);
  await fixture.sender.step(fixture.lead);
  const second = (await fixture.attempts(id))[1]?.maxFeeWei ?? 0n;
  assert.ok(second > 10n * gwei && second <= 20n * gwei, `${second} wei`);
  for (let round = 0; round < 10; round += 1) {
    await fixture.age(40);
    await fixture.sender.step(fixture.lead);
  }
  const attempts = await fixture.attempts(id);
  assert.ok(attempts.length < 10, 'at the cap nothing is signed any more');
  assert.ok(attempts.every(({ maxFeeWei }) => maxFeeWei <= 20n * gwei));
  const last = attempts.at(-1) as { raw: Hex; hash: Hex };
  assert.deepEqual(fixture.rawSent().slice(-3), [last.raw, last.raw, last.raw], 'it is only sent again');
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(id)).mined, last.hash);
});

test('below the base fee: today’s fee is offered at once; above the cap it waits, says so, and goes on when fees fall', {
  skip,
}, async (t) => {
  const fixture = await bedOf(t, { maxFeePerGasWei: 10n * gwei });
  await baseFee(fixture, gwei);
  const cheap = await fixture.enqueue();
  await baseFee(fixture, 4n * gwei);
  await fixture.sender.step(fixture.lead);
  assert.equal((await fixture.attempts(cheap.id)).length, 2);
  assert.deepEqual(await fixture.inPool(), [(await fixture.attempts(cheap.id))[1]?.hash]);
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(cheap.id)).status, 'confirmed');

  const { id } = await fixture.enqueue();
  await baseFee(fixture, 50n * gwei);
  for (let round = 0; round < 3; round += 1) {
    await fixture.sender.step(fixture.lead);
    await fixture.age(40);
  }
  assert.equal((await fixture.row(id)).status, 'signed');
  assert.equal(fixture.sender.status().waiting?.what, 'fees');
  assert.equal(fixture.logged.filter((line) => line.includes('"waitingFor":"fees"')).length, 1);
  await baseFee(fixture, gwei);
  await fixture.age(40);
  await fixture.sender.step(fixture.lead);
  assert.equal((await fixture.row(id)).status, 'submitted');
  assert.equal(fixture.sender.status().waiting, null);
});

test('a mined attempt is found before anything is signed, whichever it is', { skip }, async (t) => {
  const fixture = await bedOf(t);
  const { id, hash } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await fixture.age(40);
  await fixture.sender.step(fixture.lead);
  const before = await fixture.attempts(id);
  assert.equal(before.length, 2);
  // Another node still has the first attempt, which is mined.
  await fixture.anvil.client.dropTransaction({ hash: before[1]?.hash as Hex });
  await fixture.anvil.client.sendRawTransaction({ serializedTransaction: before[0]?.raw as Hex });
  await fixture.mine();
  for (let round = 0; round < 3; round += 1) {
    await fixture.age(40);
    await fixture.sender.step(fixture.lead);
  }
  assert.equal((await fixture.attempts(id)).length, 2);
  assert.equal(fixture.sender.status().waiting, null);
  await fixture.index();
  assert.deepEqual(await fixture.row(id), { nonce: 0, status: 'confirmed', reason: null, mined: hash });
});

test('mined and indexed while a higher fee is being signed: nothing is added to it', { skip }, async (t) => {
  const fixture = await bedOf(t);
  const { id, hash } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await fixture.age(40);
  const { term } = fixture.lead;
  let commits = 0;
  const commit: typeof term.commit = async (work) => {
    commits += 1;
    // The first commit reads what is open. The indexer runs before the second, which stores the new signature.
    if (commits === 2) {
      await fixture.mine();
      await fixture.index();
    }
    return term.commit(work);
  };
  await fixture.sender.step({ ...fixture.lead, term: { ...term, commit } });
  assert.ok(commits >= 2, 'no higher fee was signed');
  assert.deepEqual(
    (await fixture.attempts(id)).map((attempt) => attempt.hash),
    [hash],
  );
  assert.deepEqual(await fixture.row(id), { nonce: 0, status: 'confirmed', reason: null, mined: hash });
});

test('killed after a higher fee was signed and stored: the next process sends that one', {
  skip,
}, async (t) => {
  const fixture = await bedOf(t);
  const { id } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await fixture.age(40);
  await fixture.proxy.fail('refuse', { methods: ['eth_sendRawTransaction'] });
  await assert.rejects(fixture.sender.step(fixture.lead));
  fixture.proxy.heal();
  assert.equal((await fixture.attempts(id)).length, 2);
  await fixture.newSender().step(fixture.lead);
  assert.deepEqual(await fixture.inPool(), [(await fixture.attempts(id))[1]?.hash]);
  assert.equal((await fixture.attempts(id)).length, 2);
});

test('without money it waits and says so, signs nothing more, and goes on when there is some', {
  skip,
}, async (t) => {
  const fixture = await bedOf(t, { balanceWei: 0n });
  const first = await fixture.enqueue();
  const second = await fixture.enqueue();
  for (let round = 0; round < 4; round += 1) {
    await fixture.sender.step(fixture.lead);
    await fixture.age(60);
  }
  assert.equal(fixture.sender.status().waiting?.what, 'funds');
  assert.equal(fixture.sender.status().waiting?.outgoingId, first.id);
  assert.equal(fixture.logged.filter((line) => line.includes('"waitingFor":"funds"')).length, 1);
  for (const { id } of [first, second]) {
    assert.equal((await fixture.attempts(id)).length, 1);
    assert.equal((await fixture.row(id)).status, 'signed');
  }
  await fixture.anvil.client.setBalance({ address: fixture.account.address, value: 10n ** 18n });
  await fixture.sender.step(fixture.lead);
  assert.equal(fixture.sender.status().waiting, null);
  await fixture.mine();
  await fixture.index();
  for (const { id } of [first, second]) assert.equal((await fixture.row(id)).status, 'confirmed');
});

test('where a higher fee is beyond its means, the former one is sent again', { skip }, async (t) => {
  const fixture = await bedOf(t);
  const { id, hash } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  const [first] = await fixture.attempts(id);
  await fixture.anvil.client.dropTransaction({ hash });
  await fixture.anvil.client.setBalance({
    address: fixture.account.address,
    value: 60_000n * (first?.maxFeeWei ?? 0n),
  });
  await fixture.age(40);
  await fixture.sender.step(fixture.lead);
  assert.equal((await fixture.attempts(id)).length, 2);
  assert.deepEqual(await fixture.inPool(), [hash]);
});

for (const [name, outgoing] of Object.entries({
  'more gas than a block has': { gasLimit: 100_000_000 },
})) {
  test(`a payload with ${name} can never pass: a no-op takes its nonce, it fails with its reason, nothing behind it waits`, {
    skip,
  }, async (t) => {
    const fixture = await bedOf(t, { confirmations: 2 });
    const bad = await fixture.enqueue(outgoing);
    const good = await fixture.enqueue();
    await fixture.sender.step(fixture.lead);
    const attempts = await fixture.attempts(bad.id);
    assert.deepEqual(
      attempts.map(({ noOp }) => noOp),
      [false, true],
    );
    const noOp = parseTransaction(attempts[1]?.raw as Hex);
    assert.equal(noOp.nonce, 0);
    assert.equal(noOp.to, fixture.account.address.toLowerCase());
    assert.equal(noOp.value ?? 0n, 0n);
    assert.equal(noOp.data ?? '0x', '0x');
    await fixture.mine();
    await fixture.index();
    assert.deepEqual(
      fixture.outcomes.filter(({ to }) => to === 'failed'),
      [],
      'not before it is deep enough',
    );
    await fixture.mine();
    await fixture.index();
    const row = await fixture.row(bad.id);
    assert.equal(row.status, 'failed');
    assert.match(row.reason ?? '', /gas/);
    assert.deepEqual(fixture.outcomes.filter(({ outgoingId }) => outgoingId === bad.id).at(-1), {
      outgoingId: bad.id,
      purpose: 'anchor',
      to: 'failed',
      reason: row.reason,
    });
    assert.equal((await fixture.row(good.id)).status, 'confirmed');
  });
}

for (const [name, outgoing] of Object.entries({
  'its bytes cost': { gasLimit: 21_000, data: '0x0102030405060708' as Hex },
  'the chain wants at this moment': {},
})) {
  test(`with less gas than ${name} it is estimated and signed again, and passes`, { skip }, async (t) => {
    const fixture = await bedOf(t);
    const { id } = await fixture.enqueue(outgoing);
    const [first] = await fixture.attempts(id);
    fixture.proxy.refuseWith(
      { code: -32000, message: 'intrinsic gas too low: gas 60000, minimum needed 900000' },
      ({ params }) => params[0] === first?.raw,
    );
    for (let round = 0; round < 3; round += 1) await fixture.sender.step(fixture.lead);
    const attempts = await fixture.attempts(id);
    assert.deepEqual(
      attempts.map(({ noOp }) => noOp),
      [false, false],
      'signed again once, and no no-op',
    );
    const [before, after] = attempts.map(({ raw }) => parseTransaction(raw));
    assert.ok(before && after && Number(after.gas) >= 2 * Number(before.gas));
    assert.deepEqual([after.nonce, after.data, after.to], [before.nonce, before.data, before.to]);
    await fixture.mine();
    await fixture.index();
    const row = await fixture.row(id);
    assert.deepEqual([row.status, row.mined], ['confirmed', attempts[1]?.hash]);
  });
}

test('one that no gas helps is signed again a few times, and then a no-op takes its nonce', {
  skip,
}, async (t) => {
  const fixture = await bedOf(t);
  const { id } = await fixture.enqueue();
  const isAnchor = ({ method, params }: { method: string; params: unknown[] }) =>
    method === 'eth_sendRawTransaction' && (parseTransaction(params[0] as Hex).data ?? '0x') !== '0x';
  fixture.proxy.refuseWith({ code: -32000, message: 'intrinsic gas too low' }, isAnchor);
  for (let round = 0; round < 3; round += 1) await fixture.sender.step(fixture.lead);
  const attempts = await fixture.attempts(id);
  assert.ok(attempts.length < 12, `${attempts.length} attempts`);
  assert.deepEqual(
    attempts.flatMap(({ noOp }, place) => (noOp ? [place] : [])),
    [attempts.length - 1],
  );
  assert.deepEqual(await fixture.inPool(), [attempts.at(-1)?.hash]);
});

test('a node was wrong that it can never pass, and the payload is mined after all: that counts', {
  skip,
}, async (t) => {
  const fixture = await bedOf(t);
  const { id, hash } = await fixture.enqueue();
  const [attempt] = await fixture.attempts(id);
  fixture.proxy.refuseWith(
    { code: -32000, message: 'exceeds block gas limit' },
    ({ params }) => params[0] === attempt?.raw,
  );
  await fixture.sender.step(fixture.lead);
  fixture.proxy.heal();
  const noOp = (await fixture.attempts(id))[1];
  assert.deepEqual(await fixture.inPool(), [noOp?.hash]);
  await fixture.anvil.client.dropTransaction({ hash: noOp?.hash as Hex });
  await fixture.anvil.client.sendRawTransaction({ serializedTransaction: attempt?.raw as Hex });
  await fixture.mine();
  await fixture.index();
  assert.deepEqual(await fixture.row(id), { nonce: 0, status: 'confirmed', reason: null, mined: hash });
});

test('killed after the no-op was stored: the next process sends it', { skip }, async (t) => {
  const fixture = await bedOf(t);
  const { id } = await fixture.enqueue({ gasLimit: 100_000_000 });
  let sends = 0;
  fixture.proxy.refuseWith({ code: -32603, message: 'oops' }, ({ method }) => {
    if (method === 'eth_sendRawTransaction') sends += 1;
    return method === 'eth_sendRawTransaction' && sends > 1;
  });
  await assert.rejects(fixture.sender.step(fixture.lead));
  fixture.proxy.heal();
  await fixture.newSender().step(fixture.lead);
  const attempts = await fixture.attempts(id);
  assert.equal(attempts.length, 2);
  assert.deepEqual(await fixture.inPool(), [attempts[1]?.hash]);
});

test('one that reverts is mined, and fails with that reason', { skip }, async (t) => {
  const fixture = await bedOf(t);
  // PUSH1 0, PUSH1 0, REVERT
  const to = `0x${'66'.repeat(20)}` as const;
  await fixture.anvil.client.setCode({ address: to, bytecode: '0x60006000fd' });
  const { id, hash } = await fixture.enqueue({ to });
  const good = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await fixture.mine();
  await fixture.index();
  assert.deepEqual(await fixture.row(id), {
    nonce: 0,
    status: 'failed',
    reason: 'the transaction reverted',
    mined: hash,
  });
  assert.equal((await fixture.row(good.id)).status, 'confirmed');
});

test('somebody else used the nonce: it is told, and once that is final the payload goes on under another', {
  skip,
}, async (t) => {
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
  await fixture.index();
  await fixture.age(60);
  await fixture.sender.step(fixture.lead);
  assert.equal(await nonceOf(fixture, first.id), 2);
  assert.ok(fixture.logged.some((line) => line.includes('nothing else may use')));
  await fixture.mine();
  await fixture.index();
  assert.equal((await fixture.row(first.id)).status, 'confirmed');
  assert.equal((await fixture.attempts(first.id)).length, 1);
  // The attempts signed for the old nonce stay with that nonce, in a separate row.
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

test('nonces that were lost are known by one look at the chain, which needs no state of long ago', {
  skip,
}, async (t) => {
  const fixture = await bedOf(t);
  const { id } = await fixture.enqueue();
  const lost = 40;
  for (let nonce = 0; nonce < lost; nonce += 1) await useNonceElsewhere(fixture, nonce);
  await fixture.mine(finalAfter + 1);
  const head = await fixture.anvil.client.getBlockNumber();
  // The indexer runs later, when the chain has moved on and no node has that state any more.
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
  // The next transaction continues from there.
  assert.equal(await nonceOf(fixture, (await fixture.enqueue()).id), lost + 1);
});

test('ours was mined and the node hides the receipt: no other nonce is taken, however final it is', {
  skip,
}, async (t) => {
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
});

test('a payload that can never pass, and whose nonce somebody else used, fails without another', {
  skip,
}, async (t) => {
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

test('a reorg brings back the payload that had been mined, not the no-op that was signed later', {
  skip,
}, async (t) => {
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

test('a transaction without a base fee is taken too', { skip }, async (t) => {
  const fixture = await bedOf(t);
  const quote = await fixture.sender.quote(fixture.lead.chain);
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

/** Mines a block with this base fee; it then falls by an eighth per block. */
async function baseFee(fixture: Fixture, baseFeePerGas: bigint): Promise<void> {
  await fixture.anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
  await fixture.mine();
}

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
