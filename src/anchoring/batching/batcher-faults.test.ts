/** A batcher that dies, loses its lead, or meets a vault that cannot seal: nobody else is held up, and nothing is batched twice. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import {
  type Fixture,
  leadOf,
  openFixture,
  storingSender,
  type TestVault,
} from '../../../test/support/fixtures/batcher-fixture.ts';
import { LostLead } from '../../db/leadership.ts';

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
});
after(() => fixture.close());
beforeEach(() => fixture.clear());

describe('a vault that cannot seal', () => {
  const spoil: Record<string, (vault: TestVault) => Promise<unknown>> = {
    'whose key is gone': ({ id }) => sql`delete from secrets where id = ${id}`.execute(fixture.db),
    'whose key was damaged': ({ id }) =>
      sql`update secrets set ciphertext = wrapped_data_key where id = ${id}`.execute(fixture.db),
    'whose key is that of another address': ({ id }) =>
      sql`update vaults set address = '0x0000000000000000000000000000000000000001' where id = ${id}`.execute(
        fixture.db,
      ),
    'that is gone': ({ id }) => sql`delete from vaults where id = ${id}`.execute(fixture.db),
  };
  for (const [name, spoiling] of Object.entries(spoil)) {
    test(`${name} is reported, and delays only the leaves that follow its own`, async () => {
      const [good, bad] = [await fixture.newVault(), await fixture.newVault()];
      await fixture.accept(good, 'rec_good');
      const first = await fixture.accept(bad, 'rec_bad');
      const moved = await fixture.accept(good, 'rec_bad', { version: 2, after: first });
      await fixture.accept(good, 'rec_bad', { version: 3, after: moved });
      await spoiling(bad);
      const batcher = fixture.batcher();
      await batcher.step(fixture.lead);
      const taken = (await fixture.leaves()).filter(({ batch_id }) => batch_id !== null);
      assert.deepEqual(
        taken.map(({ subject_id }) => subject_id),
        ['rec_good'],
      );
      assert.deepEqual(
        fixture.faults.map((fault) => (fault as { vault: string }).vault),
        [bad.id],
      );

      // Nor does it fill the claims that follow: with room for one leaf only, the good one still passes.
      await fixture.accept(good, 'rec_late');
      await fixture.batcher({ maxLeaves: 1 }).step(fixture.lead);
      const again = fixture.batcher({ maxLeaves: 1 });
      await again.step(fixture.lead);
      await again.step(fixture.lead);
      const late = (await fixture.leaves()).find(({ subject_id }) => subject_id === 'rec_late');
      assert.notEqual(late?.batch_id, null);
    });
  }
});

test('never batches a leaf whose predecessor does not exist, but batches the others', async () => {
  const vault = await fixture.newVault();
  await fixture.accept(vault, 'rec_1', { version: 2, after: Buffer.alloc(32, 9) });
  await fixture.accept(vault, 'rec_2');
  const elsewhere = await fixture.accept(vault, 'rec_3');
  // Of another subject, so it is not what came before.
  await fixture.accept(vault, 'rec_4', { version: 2, after: elsewhere });
  const batcher = fixture.batcher({ maxLeaves: 3 });
  while (await batcher.step(fixture.lead));
  const left = (await fixture.leaves()).filter(({ batch_id }) => batch_id === null);
  assert.deepEqual(left.map(({ subject_id }) => subject_id).sort(), ['rec_1', 'rec_4']);
  assert.ok(fixture.faults.some((fault) => 'leaves' in fault));
});

describe('a batcher that dies', () => {
  const commits: Record<string, (work: () => Promise<unknown>) => Promise<never>> = {
    'before its commit': async () => {
      throw new LostLead();
    },
    'inside its commit, after all was written': async (work) => {
      await work();
      throw new Error('killed');
    },
  };
  for (const [name, dying] of Object.entries(commits)) {
    test(`${name} leaves all leaves to the next one`, async () => {
      const vault = await fixture.newVault();
      await fixture.accept(vault, 'rec_1');
      const lead = leadOf(fixture.db);
      const { commit } = lead.term;
      lead.term.commit = (work) => commit((db) => dying(() => work(db)));
      await assert.rejects(fixture.batcher().step(lead), /killed|another node leads/);
      assert.equal((await fixture.batches()).length, 0);
      await fixture.batcher().step(fixture.lead);
      assert.equal((await fixture.batches()).length, 1);
      assert.deepEqual(
        (await fixture.subtrees()).map(({ sequence }) => sequence),
        ['1'],
      );
    });
  }

  test('after its commit leaves a batch that the next one does not repeat', async () => {
    const vault = await fixture.newVault();
    await fixture.accept(vault, 'rec_1');
    const killed = {
      wake() {
        throw new Error('killed');
      },
    };
    await assert.rejects(fixture.batcher({ senderWakeup: killed }).step(fixture.lead), /killed/);
    assert.equal(await fixture.batcher().step(fixture.lead), false);
    assert.equal((await fixture.batches()).length, 1);
  });

  test('does not commit if another has committed the same leaves meanwhile', async () => {
    const vault = await fixture.newVault();
    await fixture.accept(vault, 'rec_1');
    const late = leadOf(fixture.db);
    const { commit } = late.term;
    late.term.commit = async (work) => {
      await fixture.batcher().step(fixture.lead);
      return commit(work);
    };
    await assert.rejects(fixture.batcher().step(late), /another batch was made of these leaves meanwhile/);
    assert.equal((await fixture.batches()).length, 1);
    const { rows } = await sql<{ count: number }>`select count(*) as count from outgoing_transactions
      where id not in (select outgoing_id from anchor_batches) and call_data like ${(await fixture.batches())[0]?.root}`.execute(
      fixture.db,
    );
    assert.equal(rows[0]?.count, 0);
  });

  test('fails if another batches its leaves between claim and seal, and they stay in that batch', async () => {
    const vault = await fixture.newVault();
    await fixture.accept(vault, 'rec_1');
    // Asked between claim and seal: the seal then has a number of its own, and nothing but the leaves is taken.
    const quote: typeof storingSender.quote = async (lead) => {
      await fixture.batcher().step(fixture.lead);
      return storingSender.quote(lead);
    };
    const late = fixture.batcher({ sender: { ...storingSender, quote } });
    await assert.rejects(late.step(fixture.lead), /another batch was made of these leaves meanwhile/);
    assert.equal((await fixture.batches()).length, 1);
  });
});
