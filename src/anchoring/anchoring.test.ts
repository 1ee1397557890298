/** From an accepted thing to a proof that the chain confirms, on a real database and a real chain. */
// tier: process
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import { encodeFunctionData, type Hex, keccak256, stringToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Anvil, startAnvil } from '../../test/support/chain/anvil.ts';
import { type Fixture, leadOf, openFixture } from '../../test/support/fixtures/batcher-fixture.ts';
import { needs } from '../../test/support/programs/needs.ts';
import { waitUntil } from '../../test/support/service/process.ts';
import { createIndexer } from '../chain/indexer/indexer.ts';
import { createAnchorReader } from '../chain/registry/anchor-reader.ts';
import { registryAbi, registryAddress, registryCodeHash } from '../chain/registry/registry.ts';
import { registryRuntimeCode } from '../chain/registry/registry-code.ts';
import { createChainRpc } from '../chain/rpc/rpc.ts';
import { createSender } from '../chain/sender/sender.ts';
import { placeEvents } from '../events/event-order.ts';
import { recordDigest } from '../proof/content.ts';
import { fromHex, toHex } from '../proof/hex.ts';
import { leafHash } from '../proof/leaf.ts';
import type { EvmAnchor, ProofContent } from '../proof/verify/proof.ts';
import { verifyProof } from '../proof/verify/verify.ts';
import { countAnchorSubscribers } from '../webhooks/endpoints/endpoints.store.ts';
import { createAnnouncer } from './announcer.ts';
import { applyOutcomes, vaultsOfAnchors } from './batching/batches.ts';
import { beginSealEpoch } from './batching/seal-epoch.ts';
import { listSetAside, sendAgain } from './batching/set-aside.ts';
import { confirmedEvents } from './confirmed-event.ts';
import { createProofs } from './proofs.ts';

const { after, before, test } = needs('anvil');
const submitter = privateKeyToAccount(keccak256(stringToHex('submitter of the anchoring test')));
let fixture: Fixture;
let anvil: Anvil;
before(async () => {
  fixture = await openFixture();
  anvil = await startAnvil({
    args: ['--no-mining', '--order', 'fifo'],
    alloc: {
      [registryAddress]: { balance: '0x0', code: registryRuntimeCode },
      [submitter.address]: { balance: '0xde0b6b3a7640000' },
    },
  });
});
after(async () => {
  await fixture?.close();
  await anvil?.stop();
});

async function openService(t: TestContext) {
  const { client } = anvil;
  const { db } = fixture;
  const genesisHash = (await client.getBlock({ blockNumber: 0n })).hash;
  await sql`insert into chain (chain_id, genesis_hash, embedded, registry, submitter) values (31337,
    ${Buffer.from(fromHex(genesisHash))}, true, ${Buffer.from(fromHex(registryAddress))},
    ${Buffer.from(fromHex(submitter.address))}) on conflict do nothing`.execute(db);
  const rpc = createChainRpc({ chainId: 31_337, genesisHash, urls: () => [anvil.url] });
  t.after(() => rpc.close());
  const lead = leadOf(db, {
    chainId: 31_337,
    genesisHash,
    embedded: true,
    registry: registryAddress,
    confirmations: 1,
    client: rpc.client,
    async head() {
      const { number, hash } = await client.getBlock();
      return { number: Number(number), hash };
    },
    finalizedNumber: async (head) => head - 2,
    wake() {},
    doubt() {},
  });
  const log = { info() {}, error() {} };
  const sender = createSender({
    submitter: async () => submitter,
    applyOutcomes,
    onLostNonces: beginSealEpoch,
    log,
  });
  const indexer = createIndexer({ db, sender, vaultsOfAnchors, log });
  const batcher = fixture.batcher({ sender });
  const announcer = createAnnouncer({
    db,
    eventWakeup: { wake() {} },
    confirmations: confirmedEvents(),
    placeEvents,
    countSubscribers: countAnchorSubscribers,
  });
  const round = async ({ beforeSending }: { beforeSending?: () => Promise<void> } = {}) => {
    await batcher.resend(lead);
    await batcher.step(lead);
    await beforeSending?.();
    while (await sender.step(lead));
    await client.mine({ blocks: 1 });
    while (await indexer.step(lead));
    while (await announcer.step(lead));
  };
  return { lead, indexer, announcer, round };
}

const statuses = async () =>
  (await fixture.db.selectFrom('anchor_batches').select('status').orderBy('id').execute()).map(
    ({ status }) => status,
  );
const told = async (type: string) =>
  (await fixture.db.selectFrom('events').select('id').where('type', '=', type).execute()).length;

test('the chain proves every accepted record, even after a reorg removed its anchor', async (t) => {
  const { lead, indexer, announcer, round } = await openService(t);
  const [one, other] = [await fixture.newVault('ws_1'), await fixture.newVault('ws_2')];
  const contents = new Map<string, ProofContent>();
  for (const [vault, count] of [
    [one, 5],
    [other, 3],
  ] as const) {
    for (let number = 0; number < count; number += 1) {
      const salt = toHex(randomBytes(32));
      const digest = recordDigest(fromHex(salt), { number });
      const id = `rec_${vault.id}_${number}`;
      await fixture.accept(vault, id, { digest: Buffer.from(fromHex(digest)) });
      contents.set(id, { algorithm: 'sha-256', digest, canonicalization: 'jcs', salt });
    }
  }
  const proofs = createProofs(fixture);
  const chain = createAnchorReader((method, params) => anvil.client.request({ method, params } as never));
  const registry = { address: registryAddress.toLowerCase(), codeHash: registryCodeHash };

  async function checkAll(): Promise<Hex> {
    let transactionHash: Hex = '0x';
    for (const [id, content] of contents) {
      const workspaceId = id.startsWith(`rec_${one.id}_`) ? 'ws_1' : 'ws_2';
      const proof = await proofs.make({ workspaceId, kind: 'record', subjectId: id, version: 1, content });
      const number = Number(id.at(-1));
      const verification = await verifyProof(JSON.stringify(proof), {
        content: new TextEncoder().encode(JSON.stringify({ number })),
        chain,
        registry,
      });
      const missed = verification.steps.filter(({ status }) => status !== 'pass');
      // The chain is a development chain, whose operator sets the clock.
      assert.deepEqual(
        missed.map(({ name }) => name).filter((name) => name !== 'finality'),
        ['time'],
      );
      assert.notEqual(verification.verdict, 'fail');
      const anchor = proof.anchors[0] as EvmAnchor;
      const time = await anvil.client.readContract({
        address: registryAddress,
        abi: registryAbi,
        functionName: 'verify',
        args: [anchor.submitter, proof.merkle.proof, toHex(leafHash(proof.leaf.values))],
      });
      assert.equal(Number(time), anchor.blockTime);
      transactionHash = anchor.transactionHash;
    }
    return transactionHash;
  }

  await round();
  assert.deepEqual(await statuses(), ['confirmed']);
  const first = await checkAll();
  const listed = await fixture.db.selectFrom('vault_transactions').select(['vault_id', 'hash']).execute();
  assert.deepEqual(
    listed.map(({ vault_id, hash }) => `${vault_id} ${toHex(hash)}`).sort(),
    [`${one.id} ${first}`, `${other.id} ${first}`].sort(),
  );
  assert.equal(await told('record.anchor.confirmed'), 8);

  await anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never);
  await waitUntil(async () => {
    while (await indexer.step(lead));
    return (await statuses())[0] === 'submitted';
  });
  assert.equal(await told('anchor.reorged'), 2);
  assert.equal(await announcer.step(lead), false);

  await waitUntil(async () => {
    await round();
    return (await statuses())[0] !== 'submitted';
  });
  // The same bytes: a signed batch never changes.
  assert.equal(await checkAll(), first);
  assert.equal(await told('record.anchor.confirmed'), 16);
  assert.equal((await statuses()).length, 1);
  for (let blocks = 0; blocks < 3; blocks += 1) await round();
  assert.deepEqual(await statuses(), ['finalized']);
});

test('a batch that was set aside is anchored once an operator has it resent', async (t) => {
  const { round } = await openService(t);
  const until = (wanted: string) =>
    waitUntil(async () => {
      await round();
      return (await statuses()).at(-1) === wanted;
    });
  const code = (bytecode: Hex) => anvil.client.setCode({ address: registryAddress, bytecode });
  // Reverts on every call.
  await code('0x60006000fd');
  await fixture.accept(await fixture.newVault('ws_3'), 'rec_aside');
  await until('set_aside');
  const [aside, ...more] = await listSetAside(fixture.db, 10);
  assert.ok(aside && more.length === 0);
  assert.match(aside.reason ?? '', /revert/);
  const sent = () => fixture.db.selectFrom('outgoing_transactions').select('id').execute();
  const before = (await sent()).length;

  await code(registryRuntimeCode);
  await round();
  assert.deepEqual([(await statuses()).at(-1), (await sent()).length], ['set_aside', before]);
  assert.deepEqual(await sendAgain(fixture.db, aside.id + 1), []);
  assert.deepEqual(await sendAgain(fixture.db, aside.id), [aside]);
  assert.deepEqual(await sendAgain(fixture.db, 'all'), []);
  const confirmed = await told('record.anchor.confirmed');
  await until('confirmed');
  assert.equal((await sent()).length, before + 1);
  assert.equal(await told('record.anchor.confirmed'), confirmed + 1);
  const batch = await fixture.db
    .selectFrom('anchor_batches')
    .select(['sends', 'reason', 'to_resend'])
    .where('id', '=', aside.id)
    .executeTakeFirst();
  assert.deepEqual(batch, { sends: 1, reason: null, to_resend: false });
});

test('a root that is already on the chain is proved by the transaction that logged it first', async (t) => {
  const { lead, indexer, round } = await openService(t);
  const vault = await fixture.newVault('ws_4');
  const salt = toHex(randomBytes(32));
  const digest = recordDigest(fromHex(salt), { twice: true });
  await fixture.accept(vault, 'rec_twice', { digest: Buffer.from(fromHex(digest)) });
  // Another signature of the same call, as if it had been sent and its commit then lost with the database.
  let lost: Hex = '0x';
  await round({
    async beforeSending() {
      const { rows } = await sql<{ nonce: number; call_data: Buffer }>`
        select nonce, call_data from outgoing_transactions order by id desc limit 1`.execute(fixture.db);
      const [own] = rows;
      assert.ok(own);
      lost = await anvil.client.sendRawTransaction({
        serializedTransaction: await submitter.signTransaction({
          chainId: 31_337,
          type: 'eip1559',
          nonce: own.nonce,
          to: registryAddress,
          data: toHex(own.call_data),
          gas: 150_000n,
          maxFeePerGas: 10n ** 11n,
          maxPriorityFeePerGas: 10n ** 10n,
        }),
      });
      await anvil.client.mine({ blocks: 1 });
    },
  });
  await waitUntil(async () => {
    await round();
    return (await statuses()).at(-1) === 'confirmed';
  });
  const content: ProofContent = { algorithm: 'sha-256', digest, canonicalization: 'jcs', salt };
  const key = { workspaceId: 'ws_4', kind: 'record', subjectId: 'rec_twice', version: 1 };
  const proof = await createProofs(fixture).make({ ...key, content });
  assert.equal((proof.anchors[0] as EvmAnchor).transactionHash, lost);
  const { steps } = await verifyProof(JSON.stringify(proof), {
    chain: createAnchorReader((method, params) => anvil.client.request({ method, params } as never)),
    registry: { address: registryAddress.toLowerCase(), codeHash: registryCodeHash },
  });
  assert.deepEqual(
    steps.filter(({ status, name }) => status !== 'pass' && name !== 'finality').map(({ name }) => name),
    ['time'],
  );
  const listed = () =>
    fixture.db.selectFrom('vault_transactions').select('hash').where('vault_id', '=', vault.id).execute();
  assert.deepEqual(
    (await listed()).map(({ hash }) => toHex(hash)),
    [lost],
  );
  // A reorg that removes the repeated transaction but not the original.
  const { rows } = await sql<{ block_number: number; earlier: number }>`
    select block_number, earlier_block_number as earlier from outgoing_transactions
    where earlier_hash is not null`.execute(fixture.db);
  const [repeat] = rows;
  assert.ok(repeat && repeat.earlier < repeat.block_number);
  const head = Number(await anvil.client.getBlockNumber());
  await anvil.client.request({
    method: 'anvil_reorg',
    params: [head - repeat.block_number + 1, []],
  } as never);
  await waitUntil(async () => {
    while (await indexer.step(lead));
    return (await statuses()).at(-1) === 'submitted';
  });
  await waitUntil(async () => {
    await round();
    return (await statuses()).at(-1) === 'confirmed';
  });
  const again = await createProofs(fixture).make({ ...key, content });
  assert.equal((again.anchors[0] as EvmAnchor).transactionHash, lost);
  assert.equal((await listed()).length, 1);
});

test('seals have a new epoch from the first one that follows lost transactions', async (t) => {
  const vault = await fixture.newVault('ws_5');
  const sealed = async (id: string) => {
    const { round } = await openService(t);
    await fixture.accept(vault, id);
    await round();
    const { sequence } = await fixture.db
      .selectFrom('anchor_subtrees')
      .select('sequence')
      .where('vault_id', '=', vault.id)
      .orderBy('batch_id', 'desc')
      .executeTakeFirstOrThrow();
    return { epoch: Number(BigInt(sequence) >> 32n), count: Number(BigInt(sequence) & 0xffff_ffffn) };
  };
  const { epoch, count } = await sealed('rec_before');
  assert.deepEqual(await sealed('rec_next'), { epoch, count: count + 1 });
  // An anchor that this account sent, of which the database knows nothing.
  await anvil.client.sendRawTransaction({
    serializedTransaction: await submitter.signTransaction({
      ...{ chainId: 31_337, type: 'eip1559', to: registryAddress, gas: 150_000n },
      ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 10n },
      nonce: await anvil.client.getTransactionCount({ address: submitter.address }),
      data: encodeFunctionData({
        abi: registryAbi,
        functionName: 'anchor',
        args: [toHex(randomBytes(32)), 1n],
      }),
    }),
  });
  await anvil.client.mine({ blocks: 1 });
  const later = await sealed('rec_later');
  assert.ok(later.epoch > epoch, `${later.epoch}`);
  const { start } = await fixture.db.selectFrom('seal_epoch').select('start').executeTakeFirstOrThrow();
  assert.equal(later.count, start + 1);
});
