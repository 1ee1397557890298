/** History proofs by page: complete, in order, and with the same few statements for any length. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type KyselyPlugin, sql } from 'kysely';
import {
  confirmBatch,
  type Fixture,
  openFixture,
  type TestVault,
} from '../../test/support/fixtures/batcher-fixture.ts';
import type { Db } from '../db/database.ts';
import { insertAll } from '../db/writes.ts';
import { recordDigest } from '../proof/content.ts';
import { fromHex, toHex } from '../proof/hex.ts';
import { verifyHistory } from '../proof/verify/history.ts';
import type { Proof, ProofContent } from '../proof/verify/proof.ts';
import type { AppError } from '../runtime/errors.ts';
import { firstLeaf, pendingLeaf } from './batching/pending.ts';
import { createHistoryProofs, type HistoryPosition, type HistoryRequest } from './history-proofs.ts';
import { createManyProofs } from './many-proofs.ts';

let fixture: Fixture;
let vault: TestVault;
before(async () => {
  fixture = await openFixture({ fresh: true });
  vault = await fixture.newVault();
  await sql`insert into chain (chain_id, genesis_hash, embedded, registry, submitter)
    values (31337, ${Buffer.alloc(32)}, true, ${Buffer.alloc(20, 0xab)}, ${Buffer.alloc(20, 0xcd)})`.execute(
    fixture.db,
  );
});
after(() => fixture.close());

const proofsOver = (db: Db) => createHistoryProofs({ db, manyProofs: createManyProofs({ ...fixture, db }) });

test('a history lists the confirmed leaves in order, and verifies as a chain', async () => {
  const contents = [1, 2, 3].map((version) => contentOf({ version }));
  const [one, two, three] = contents;
  assert.ok(one && two && three);
  const accept = ({ digest }: ProofContent, rest: Parameters<Fixture['accept']>[2] = {}) =>
    fixture.accept(vault, 'rec_long', { digest: Buffer.from(fromHex(digest)), ...rest });
  const { page } = proofsOver(fixture.db);
  const ask = () => page({ ...historyOf('rec_long', contents), after: undefined, limit: 1000 });
  await assert.rejects(ask(), code('resource_not_found'));
  const first = await accept(one);
  const second = await accept(two, { version: 2, after: first });
  // A leaf beside the chain: it follows a version but is not one itself.
  await accept(two, { kind: 'validation', after: second });
  await assert.rejects(ask(), code('conflict'));
  await confirmBatch(fixture);
  await accept(three, { version: 3, after: second });
  const short = await ask();
  assert.deepEqual([short.history.proofs.length, short.next], [2, null]);
  await confirmBatch(fixture);
  const { history } = await ask();
  assert.deepEqual(
    history.proofs.map(({ leaf }) => leaf.values[4]),
    ['1', '2', '3'],
  );
  const checked = await verifyHistory(JSON.stringify(history), {
    contents: [1, 2, 3].map((version) => new TextEncoder().encode(JSON.stringify({ version }))),
  });
  assert.deepEqual([checked.chain.status, checked.verdict], ['pass', 'incomplete']);
  assert.ok(checked.proofs.every(({ steps }) => steps.every(({ status }) => status !== 'fail')));
});

test('a long history comes in pages of few statements and bounded size, which join into one chain', async () => {
  const contents = Array.from({ length: 700 }, (_, n) => contentOf({ n }));
  // Larger than any claims the service makes, so that fewer proofs than requested fit into a page.
  const claims = { name: 'n'.repeat(5_000) };
  let previousLeaf: Buffer = firstLeaf;
  for (const [place, { digest }] of contents.entries()) {
    const made = pendingLeaf({
      ...{ workspaceId: 'ws_1', kind: 'record', subjectId: 'rec_many', version: place + 1, vault },
      ...{ digest: Buffer.from(fromHex(digest)), canonicalization: 'jcs', previousLeaf, claims },
    });
    await insertAll(fixture.db, [made.write]);
    previousLeaf = made.leaf;
    if (place % 300 === 299) await confirmBatch(fixture);
  }
  await confirmBatch(fixture);

  let statements = 0;
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const { page } = proofsOver(fixture.db.withPlugin(counting));
  const counts: number[] = [];
  const joined: Proof[] = [];
  let position: HistoryPosition | undefined;
  do {
    statements = 0;
    const request = { ...historyOf('rec_many', contents), after: position, limit: 1000 };
    const { history, next } = await page(request);
    counts.push(statements);
    assert.ok(Buffer.byteLength(JSON.stringify(history)) < 2_200_000);
    joined.push(...history.proofs);
    position = next ?? undefined;
  } while (position);
  // One statement each for the leaves, the leaves with their batches, and the subtrees, and two for the timestamps of the
  // batches; the caller provides the contents.
  assert.deepEqual(counts, [5, 5, 5]);
  assert.equal(joined.length, 700);
  const subject = { workspaceId: 'ws_1', id: 'rec_many' };
  const checked = await verifyHistory({ format: 'holdfast/history@1', subject, proofs: joined });
  assert.equal(checked.chain.status, 'pass', JSON.stringify(checked.chain));

  // The last page reads its own leaves, twice, and no earlier ones.
  await fixture.db.transaction().execute(async (db) => {
    await sql`analyze anchor_leaves, anchor_batches, anchor_subtrees`.execute(db);
    await sql`set local enable_seqscan = off`.execute(db);
    const readBefore = await leavesRead(db);
    await proofsOver(db).page({ ...historyOf('rec_many', contents), after: [650, 0], limit: 1000 });
    assert.equal((await leavesRead(db)) - readBefore, 100);
  });
});

test('refuses a workspace with too many history requests in progress, and asks it to retry', async () => {
  const held = Promise.withResolvers<never[]>();
  const { makeAll } = createHistoryProofs({ db: fixture.db, manyProofs: () => held.promise, most: 2 });
  const content = contentOf({});
  const requests = [{ workspaceId: 'ws_1', kind: 'record', subjectId: 'rec_1', version: 1, content }];
  const waiting = [makeAll(requests), makeAll(requests)];
  await assert.rejects(makeAll(requests), code('service_unavailable'));
  held.resolve([]);
  await Promise.all(waiting);
  assert.deepEqual(await makeAll(requests), []);
});

/** Read by this connection since its last report; it reports between transactions. */
async function leavesRead(db: Db): Promise<number> {
  const { rows } = await sql<{ read: number }>`select seq_tup_read + idx_tup_fetch as read
    from pg_stat_xact_user_tables where relname = 'anchor_leaves'`.execute(db);
  return Number(rows[0]?.read);
}

function contentOf(data: unknown): ProofContent {
  const salt = toHex(randomBytes(32));
  return { algorithm: 'sha-256', digest: recordDigest(fromHex(salt), data), canonicalization: 'jcs', salt };
}

function historyOf(subjectId: string, contents: ProofContent[]): Omit<HistoryRequest, 'after' | 'limit'> {
  return {
    ...{ workspaceId: 'ws_1', subjectId, kinds: ['record', 'transfer'] },
    contentsOf: async (leaves) => leaves.flatMap(({ version }) => contents[version - 1] ?? []),
  };
}

function code(wanted: string): (error: AppError) => boolean {
  return (error) => error.code === wanted;
}
