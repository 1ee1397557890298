/** The batcher on a real database: what goes into a batch, and what it costs; only sending is left out. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import { decodeFunctionData } from 'viem';
import {
  type Fixture,
  leadOf,
  openFixture,
  storingSender,
  type TestVault,
} from '../../../test/support/fixtures/batcher-fixture.ts';
import { sealBatch } from '../../../test/support/fixtures/sealed-batch.ts';
import { fc } from '../../../test/support/service/properties.ts';
import type { Lead } from '../../chain/chain.ts';
import { registryAbi } from '../../chain/registry/registry.ts';
import { RpcFault } from '../../chain/rpc/json-rpc.ts';
import { toHex, zeroHash } from '../../proof/hex.ts';
import { plainKeccak } from '../../proof/keccak.ts';
import { foldPath } from '../../proof/merkle.ts';
import { recoverSigner, sealId } from '../../proof/seal.ts';
import { selectPending } from './pending-selection.ts';
import { beginSealEpoch, nextSequence } from './seal-epoch.ts';

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
});
after(() => fixture.close());
beforeEach(() => fixture.clear());

test('one transaction anchors everything pending, with a seal for each vault', async () => {
  const [one, other] = [await fixture.newVault('ws_1'), await fixture.newVault('ws_2')];
  const accepted = [
    await fixture.accept(one, 'rec_1'),
    await fixture.accept(other, 'rec_2'),
    await fixture.accept(one, 'rec_3'),
  ];
  assert.equal(await fixture.batcher().step(fixture.lead), false);

  const [batch, ...more] = await fixture.batches();
  assert.ok(batch);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [batch.status, batch.size, batch.announced, batch.sends, batch.to_resend],
    ['batched', 3, 0, 1, false],
  );
  assert.deepEqual(
    (await fixture.leaves()).map(({ subject_id, place, batch_id }) => [subject_id, place, batch_id]),
    [
      ['rec_1', 0, batch.id],
      ['rec_3', 1, batch.id],
      ['rec_2', 2, batch.id],
    ],
  );
  const expected = await sealBatch([
    {
      key: await fixture.keyring.signer(one),
      leaves: Buffer.concat([accepted[0], accepted[2]] as Buffer[]),
    },
    { key: await fixture.keyring.signer(other), leaves: accepted[1] as Buffer },
  ]);
  assert.equal(toHex(batch.root), toHex(expected.root));
  assert.equal(toHex(batch.evidence_root), zeroHash);
  assert.equal(toHex(batch.head_path), toHex(expected.headPath));
  const parts = await fixture.subtrees();
  assert.deepEqual(
    parts.map(({ vault_id, workspace_id, first_place, sequence }) => [
      vault_id,
      workspace_id,
      first_place,
      sequence,
    ]),
    [
      [one.id, 'ws_1', 0, '1'],
      [other.id, 'ws_2', 2, '1'],
    ],
  );
  for (const [place, { address }] of [one, other].entries()) {
    const part = parts[place];
    assert.ok(part);
    const count = part.leaves.length / 32;
    const fields = {
      ...{ vault: address, subtreeRoot: toHex(part.root), leaves: count },
      ...{ sequence: '1', previousSeal: zeroHash },
    };
    assert.equal(toHex(part.previous_seal), zeroHash);
    assert.equal(await recoverSigner(fields, toHex(part.signature)), address.toLowerCase());
    assert.equal(toHex(part.seal_id), toHex(sealId(fields, toHex(part.signature))));
    const path = Buffer.concat([part.seal_id, part.upper_path]);
    assert.equal(toHex(foldPath(part.root, path, plainKeccak)), toHex(batch.root));
  }

  const sent = await fixture.db
    .selectFrom('outgoing_transactions')
    .selectAll()
    .where('id', '=', batch.outgoing_id)
    .executeTakeFirstOrThrow();
  const call = decodeFunctionData({ abi: registryAbi, data: toHex(sent.call_data) });
  assert.deepEqual(call, { functionName: 'anchor', args: [toHex(batch.root), 3n] });
  assert.deepEqual(
    [sent.purpose, toHex(sent.to_address)],
    ['anchor', fixture.lead.chain.registry.toLowerCase()],
  );
  assert.equal(fixture.wakeups.sender, 1);
});

test('makes no batch, asks no chain and sends nothing if nothing is pending', async () => {
  const vault = await fixture.newVault();
  await fixture.accept(vault, 'rec_1');
  const batcher = fixture.batcher();
  await batcher.step(fixture.lead);
  const silent = fixture.batcher({
    sender: { ...storingSender, quote: () => assert.fail('the chain was asked') },
  });
  assert.equal(await silent.step(fixture.lead), false);
  assert.equal((await fixture.batches()).length, 1);
});

test('only a batch whose transaction is not yet in a block holds up the next one', async () => {
  await sql`delete from outgoing_attempts`.execute(fixture.db);
  await sql`delete from outgoing_transactions`.execute(fixture.db);
  const batcher = fixture.batcher();
  assert.equal(await batcher.waits(), false);
  await fixture.accept(await fixture.newVault(), 'rec_1');
  await batcher.step(fixture.lead);
  const [batch] = await fixture.batches();
  assert.ok(batch);
  const become = (values: { status: 'submitted' | 'mined' | 'failed'; purpose?: string }) =>
    fixture.db
      .updateTable('outgoing_transactions')
      .set({
        ...values,
        ...(values.status === 'mined' && { mined_hash: batch.root, block_number: 7, block_hash: batch.root }),
      })
      .where('id', '=', batch.outgoing_id)
      .execute();
  assert.equal(await batcher.waits(), true);
  await become({ status: 'submitted' });
  assert.equal(await batcher.waits(), true);
  await become({ status: 'failed' });
  assert.equal(await batcher.waits(), false);
  await become({ status: 'submitted', purpose: 'other' });
  assert.equal(await batcher.waits(), false);
  await become({ status: 'mined', purpose: 'anchor' });
  assert.equal(await batcher.waits(), false);
});

describe('the gas limit of an anchor on a chain that is not embedded', () => {
  const gasFor = async (estimateGas: () => Promise<bigint>) => {
    const vault = await fixture.newVault();
    await fixture.accept(vault, 'rec_1');
    const client = { estimateGas } as unknown as Lead['chain']['client'];
    await fixture.batcher().step(leadOf(fixture.db, { embedded: false, client }));
    const [sent] = await fixture.db
      .selectFrom('outgoing_transactions')
      .select('gas_limit')
      .orderBy('id', 'desc')
      .limit(1)
      .execute();
    return sent?.gas_limit;
  };

  test('is the default if the chain estimates less', async () => {
    assert.equal(await gasFor(async () => 46_283n), 100_000);
  });

  test('is twice the estimate of the chain if that is more', async () => {
    assert.equal(await gasFor(async () => 1_400_000n), 2_800_000);
  });

  test('is the default if the chain gives no estimate', async () => {
    const refused = () => Promise.reject(new RpcFault('refused', 'no such method', { code: -32601 }));
    assert.equal(await gasFor(refused), 100_000);
  });

  test('is not guessed while the chain is unreachable: nothing is batched', async () => {
    const away = () => Promise.reject(new RpcFault('unreachable', 'no answer'));
    await assert.rejects(gasFor(away), /no answer/);
    assert.equal((await fixture.batches()).length, 0);
  });
});

test('numbers the seals of each vault in sequence, and each names the one before', async () => {
  const [one, other] = [await fixture.newVault(), await fixture.newVault()];
  const batcher = fixture.batcher();
  for (const [round, vaults] of [[one], [one, other], [other], [one]].entries()) {
    for (const vault of vaults) await fixture.accept(vault, `rec_${round}_${vault.id}`);
    await batcher.step(fixture.lead);
  }
  const parts = await fixture.subtrees();
  const numbers = parts.map(({ vault_id, sequence }) => `${vault_id} ${sequence}`);
  assert.deepEqual(numbers, [`${one.id} 1`, `${one.id} 2`, `${other.id} 1`, `${other.id} 2`, `${one.id} 3`]);
  assertLinked(parts);
});

test('a new epoch counts from its start for every vault, in the high half of the number, and links go on', async () => {
  const [one, other] = [await fixture.newVault(), await fixture.newVault()];
  const batcher = fixture.batcher();
  const seal = async (vault: TestVault, subjectId: string) => {
    await fixture.accept(vault, subjectId);
    await batcher.step(fixture.lead);
  };
  const beforeSeconds = Math.floor(Date.now() / 1000);
  const begin = async () => {
    await beginSealEpoch(fixture.db);
    const { start } = await fixture.db.selectFrom('seal_epoch').selectAll().executeTakeFirstOrThrow();
    return start;
  };
  await seal(one, 'rec_1');
  const firstStart = await begin();
  await seal(one, 'rec_2');
  await seal(one, 'rec_3');
  await seal(other, 'rec_4');
  const secondStart = await begin();
  await seal(one, 'rec_5');
  const parts = await fixture.subtrees();
  const halves = parts.map(({ vault_id, sequence }) => ({
    vault: vault_id,
    epoch: Number(BigInt(sequence) >> 32n),
    count: Number(BigInt(sequence) & 0xffff_ffffn),
  }));
  const [first = 0, second = 0] = [halves[1]?.epoch, halves[4]?.epoch];
  assert.deepEqual(halves, [
    { vault: one.id, epoch: 0, count: 1 },
    { vault: one.id, epoch: first, count: firstStart + 1 },
    { vault: one.id, epoch: first, count: firstStart + 2 },
    { vault: other.id, epoch: first, count: firstStart + 1 },
    { vault: one.id, epoch: second, count: secondStart + 1 },
  ]);
  // The time in seconds; but the second is later than the first, although no second may have passed.
  assert.ok(first >= beforeSeconds && first <= Date.now() / 1000, `${first}`);
  assert.ok(second > first);
  assertLinked(parts);
  await sql`update seal_epoch set epoch = 0, start = 0`.execute(fixture.db);
});

test('a number never goes back, whatever the epoch', () => {
  const last = String((7n << 32n) + 3n);
  assert.equal(nextSequence({ epoch: 0, start: 0 }, null), 1n);
  assert.equal(nextSequence({ epoch: 0, start: 5 }, '9007199254740993'), 9007199254740994n);
  assert.equal(nextSequence({ epoch: 7, start: 2 }, last), (7n << 32n) + 4n);
  assert.equal(nextSequence({ epoch: 8, start: 0 }, last), (8n << 32n) + 1n);
  assert.equal(nextSequence({ epoch: 7, start: 9 }, last), (7n << 32n) + 10n);
  assert.equal(nextSequence({ epoch: 8, start: 41 }, last), (8n << 32n) + 42n);
  assert.equal(nextSequence({ epoch: 6, start: 9 }, last), (7n << 32n) + 4n);
});

/** Each seal of a vault names the one with the number before. */
function assertLinked(parts: Awaited<ReturnType<Fixture['subtrees']>>): void {
  const last = new Map<string, Buffer>();
  for (const { vault_id, previous_seal, seal_id } of parts) {
    assert.deepEqual(previous_seal, last.get(vault_id) ?? Buffer.alloc(32));
    last.set(vault_id, seal_id);
  }
}

test('reports that leaves are left over when a batch is full, and batches them next', async () => {
  const vault = await fixture.newVault();
  for (let count = 0; count < 5; count += 1) await fixture.accept(vault, `rec_${count}`);
  const batcher = fixture.batcher({ maxLeaves: 2 });
  const rounds = [];
  for (let round = 0; round < 4; round += 1) rounds.push(await batcher.step(fixture.lead));
  assert.deepEqual(rounds, [true, true, false, false]);
  assert.deepEqual(
    (await fixture.batches()).map(({ size }) => size),
    [2, 2, 1],
  );
});

test('a claim takes at most the given number of vaults, and reports that there are more', async () => {
  const [one, two, three] = [await fixture.newVault(), await fixture.newVault(), await fixture.newVault()];
  const order = [one, two, one, three, one];
  const accepted: Buffer[] = [];
  for (const [place, vault] of order.entries()) accepted.push(await fixture.accept(vault, `rec_${place}`));
  const options = { maxLeaves: 100, without: [], pageSize: 2 };
  const claim = await selectPending(fixture.db, { ...options, maxVaults: 2 });
  assert.deepEqual([claim.ids.length, claim.full], [3, true]);
  assert.deepEqual(claim.leaves, Buffer.concat(accepted.slice(0, 3)));
  assert.deepEqual(
    claim.vaults.map(({ id }) => id),
    [one.id, two.id],
  );
  const whole = await selectPending(fixture.db, { ...options, maxVaults: 3 });
  assert.deepEqual([whole.ids.length, whole.full], [5, false]);
  assert.deepEqual(whole.vaultOf, [0, 1, 0, 2, 0]);
});

test('puts every leaf into exactly one batch, never before its predecessor, in any order of arrival', async () => {
  const vaults = [
    await fixture.newVault('ws_1'),
    await fixture.newVault('ws_1'),
    await fixture.newVault('ws_1'),
  ];
  let run = 0;
  const steps = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.record({ subject: fc.nat({ max: 6 }), vault: fc.nat({ max: 2 }) }) },
      { weight: 1, arbitrary: fc.constant('batch' as const) },
    ),
    { maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 9 }), async (steps, maxLeaves) => {
      run += 1;
      await sql`truncate anchor_leaves, anchor_subtrees, anchor_batches cascade`.execute(fixture.db);
      const batcher = fixture.batcher({ maxLeaves });
      const last = new Map<string, { version: number; leaf: Buffer }>();
      for (const step of steps) {
        if (step === 'batch') {
          await batcher.step(fixture.lead);
          continue;
        }
        const subject = `rec_${run}_${step.subject}`;
        const before = last.get(subject);
        const version = (before?.version ?? 0) + 1;
        const vault = vaults[step.vault] as TestVault;
        const leaf = await fixture.accept(vault, subject, { version, ...(before && { after: before.leaf }) });
        last.set(subject, { version, leaf });
      }
      while (await batcher.step(fixture.lead));

      const rows = await fixture.leaves();
      const parts = await fixture.subtrees();
      const places = new Set(rows.map(({ batch_id, place }) => `${batch_id} ${place}`));
      assert.equal(places.size, steps.filter((step) => step !== 'batch').length);
      for (const { leaf, batch_id, place, vault_id } of rows) {
        const part = parts.find((part) => part.batch_id === batch_id && part.vault_id === vault_id);
        const at = 32 * ((place ?? -1) - (part?.first_place ?? 0));
        assert.deepEqual(part?.leaves.subarray(at, at + 32), leaf);
      }
      const batchOf = new Map(rows.map((row) => [`${row.subject_id} ${row.version}`, row.batch_id ?? 0]));
      for (const { subject_id, version, batch_id } of rows) {
        if (version > 1)
          assert.ok((batchOf.get(`${subject_id} ${version - 1}`) ?? Infinity) <= (batch_id ?? 0));
      }
      for (const { size, id } of await fixture.batches()) {
        assert.equal(size, rows.filter(({ batch_id }) => batch_id === id).length);
        assert.ok(size <= maxLeaves);
      }
    }),
    { numRuns: 25 },
  );
});
