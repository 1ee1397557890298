/** What is signed anew on a real chain: higher fees, no-ops, another nonce; and that a payload is mined once whatever happens. */
// tier: process
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Hex, parseTransaction } from 'viem';
import {
  type Fixture,
  openFixture,
  startTestChain,
  type TestChain,
} from '../../../test/support/fixtures/sender-fixture.ts';
import { needs } from '../../../test/support/programs/needs.ts';

const { after, before, test } = needs('anvil');
let chain: TestChain;
before(async () => {
  chain = await startTestChain();
});
after(() => chain?.stop());
const bedOf = (t: TestContext, options?: Parameters<typeof openFixture>[2]) => openFixture(t, chain, options);

const gwei = 10n ** 9n;

test('raises both fees by at least an eighth on the same nonce, every 30 s until mined', async (t) => {
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

test('transactions behind an unmined one keep their fee unless the chain asks for more', async (t) => {
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

test('offers the current fee of the chain, up to the cap', async (t) => {
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

test("below the base fee it offers today's fee at once; above the cap it waits until fees fall", async (t) => {
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

test('finds whichever attempt was mined before it signs anything', async (t) => {
  const fixture = await bedOf(t);
  const { id, hash } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await fixture.age(40);
  await fixture.sender.step(fixture.lead);
  const before = await fixture.attempts(id);
  assert.equal(before.length, 2);
  // Another node had kept the first one, and that is mined.
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

test('adds no attempt to a transaction mined and indexed while a higher fee is being signed', async (t) => {
  const fixture = await bedOf(t);
  const { id, hash } = await fixture.enqueue();
  await fixture.sender.step(fixture.lead);
  await fixture.age(40);
  const { term } = fixture.lead;
  let commits = 0;
  const commit: typeof term.commit = async (work) => {
    commits += 1;
    // The first reads what is open. Before the second, which stores the new signature, the indexer is quicker.
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

test('the next process sends a higher fee that was stored before a kill', async (t) => {
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

test('reports missing funds, signs nothing more, and continues once there are some', async (t) => {
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

test('resends the previous attempt if a higher fee is not affordable', async (t) => {
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
  test(`a payload with ${name} can never succeed: a no-op takes its nonce, and it fails with a reason`, async (t) => {
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
  test(`with less gas than ${name} it is estimated, signed again and mined`, async (t) => {
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

test('after a few attempts that no gas helps, a no-op takes its nonce', async (t) => {
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

test('a payload that a chain node wrongly called impossible counts once it is mined', async (t) => {
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

test('the next process sends a no-op that was stored before a kill', async (t) => {
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

test('a transaction that reverts is mined, and fails for that reason', async (t) => {
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

/** A block with this base fee; the next ones go down from there, an eighth at a time. */
async function baseFee(fixture: Fixture, baseFeePerGas: bigint): Promise<void> {
  await fixture.anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
  await fixture.mine();
}

function usedNonces(fixture: Fixture): Promise<number> {
  return fixture.anvil.client.getTransactionCount({ address: fixture.account.address });
}
