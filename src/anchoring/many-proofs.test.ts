/** Proofs made together equal proofs made one by one. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { confirmBatch, type Fixture, openFixture } from '../../test/support/fixtures/batcher-fixture.ts';
import { toHex } from '../proof/hex.ts';
import { createManyProofs } from './many-proofs.ts';
import { createProofs, type ProofRequest } from './proofs.ts';

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await sql`insert into chain (chain_id, genesis_hash, embedded, registry, submitter)
    values (31337, ${Buffer.alloc(32)}, true, ${Buffer.alloc(20, 0xab)}, ${Buffer.alloc(20, 0xcd)})`.execute(
    fixture.db,
  );
});
after(() => fixture.close());

test('proofs made together equal those made one by one, across batches and vaults, in request order', async () => {
  const vaults = [await fixture.newVault(), await fixture.newVault()];
  const requests: ProofRequest[] = [];
  let made = 0;
  async function accept(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) {
      const digest = randomBytes(32);
      const subjectId = `rec_${++made}`;
      const vault = vaults[made % 3 === 0 ? 1 : 0] ?? assert.fail();
      await fixture.accept(vault, subjectId, { digest, canonicalization: 'raw' });
      const content = {
        algorithm: 'sha-256',
        digest: toHex(digest),
        canonicalization: 'raw',
        salt: null,
      } as const;
      requests.push({ workspaceId: 'ws_1', kind: 'record', subjectId, version: 1, content });
    }
  }
  for (const count of [7, 1, 12]) {
    await accept(count);
    await confirmBatch(fixture);
  }
  const confirmed = requests.length;
  await accept(2);
  requests.reverse();

  const many = await createManyProofs(fixture)(requests);
  assert.equal(many.filter((proof) => proof === 'unconfirmed').length, 2);
  assert.deepEqual(many.slice(0, 2), ['unconfirmed', 'unconfirmed']);
  const { make } = createProofs(fixture);
  for (const [place, request] of requests.entries()) {
    if (place >= 2) assert.deepEqual(many[place], await make(request));
  }
  assert.equal(many.length, confirmed + 2);
  assert.deepEqual(await createManyProofs(fixture)([]), []);

  const [, , changed, sound] = requests;
  assert.ok(changed && sound);
  const other = { ...changed.content, digest: toHex(randomBytes(32)) };
  const found = await createManyProofs(fixture)([{ ...changed, content: other }, sound]);
  assert.deepEqual(found, ['broken', await make(sound)]);
});
