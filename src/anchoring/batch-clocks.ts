/**
 * The clocks of batches, as proofs have them: the anchor on the chain, timestamps, and the later batches whose heads cover
 * what would end otherwise.
 */
import { sql } from 'kysely';
import { fromBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import { toHex, zeroHash } from '../proof/hex.ts';
import { hashBytes } from '../proof/merkle.ts';
import type { Anchor, Renewal } from '../proof/verify/proof.ts';
import type { LoopLog } from '../runtime/loop.ts';
import type { BatchThread } from './batching/batch-thread.ts';
import { anchorPlace, type ClockedBatch, createBatchAnchors, readBatches } from './evidence/batch-anchors.ts';
import { evidenceLeavesOf } from './evidence/evidence-leaves.ts';
import { createRenewalChains, mostRenewals, type RenewalChains } from './evidence/renewal-chain.ts';

export interface BatchClocks {
  anchors: Anchor[];
  renewals: Renewal[];
}

export interface BatchClocksDeps {
  db: Db;
  thread: Pick<BatchThread, 'path' | 'keptPath'>;
  /** Told when a proof has no room for all the renewals that there are. */
  log?: Pick<LoopLog, 'error'> | undefined;
}

/** Null for a batch that is not confirmed (any more). */
export type ReadClocks = (batchIds: number[]) => Promise<Map<number, BatchClocks>>;

/** The head of a batch covers the root or a token of the document, or of an earlier renewal. */
interface Link {
  /** The place of that renewal; null: the document. */
  renewal: number | null;
  /** Null: the root. */
  timestampId: number | null;
  headBatchId: number;
  position: number;
}

/** The tree of a head with more items is kept for the next proof. */
const largeHead = 2_048;

export function createBatchClocks({ db, thread, log }: BatchClocksDeps): ReadClocks {
  let isTold = false;

  return async (batchIds) => {
    const clocks = new Map<number, BatchClocks>();
    const common = createBatchAnchors(db);
    const chains = createRenewalChains(db);
    const batches = (await readBatches(db, [...new Set(batchIds)])).filter(({ block }) => block !== null);
    await chains.expect(batches.flatMap(tokensOf));
    for (const batch of batches) {
      const links = batch.stamped ? await linksOf(batch, chains) : [];
      const heads = await readBatches(
        db,
        links.map(({ headBatchId }) => headBatchId),
      );
      await common.read([batch, ...heads]);
      const anchorsOf = common.forDocument();
      const anchors = anchorsOf(batch);
      clocks.set(batch.id, { anchors, renewals: await renewalsOf(batch, { links, heads, anchorsOf }) });
    }
    return clocks;
  };

  /**
   * The way of each token to the furthest end, as far as there is room; the one that reaches furthest is the first. A batch
   * without a token has those of the head that covers its root.
   */
  async function linksOf(batch: ClockedBatch, known: RenewalChains): Promise<Link[]> {
    const links: Link[] = [];
    let tokens = tokensOf(batch);
    if (tokens.length === 0) {
      const cover = await coverOfRoot(db, batch.id);
      if (!cover) return [];
      const { head_batch_id: headBatchId, position } = cover;
      links.push({ renewal: null, timestampId: null, headBatchId, position });
      tokens = cover.tokens.map(Number);
    }
    const first = links.length === 0 ? null : 0;
    const chains = await known.find(tokens, mostRenewals - links.length);
    for (const { steps } of chains) {
      if (links.length + steps.length > mostRenewals) continue;
      let renewal = first;
      for (const step of steps) {
        links.push({ ...step, renewal });
        renewal = links.length - 1;
      }
    }
    const [until, could] = [chains[0]?.until ?? 0, Math.max(...chains.map(({ couldReach }) => couldReach))];
    if (could > until && !isTold) {
      isTold = true;
      log?.error(
        { batch: batch.id, reaches: new Date(until), couldReach: new Date(could) },
        'a proof has no room for all renewals of its timestamps, and ends earlier than it could',
      );
    }
    return links;
  }

  async function renewalsOf(
    batch: ClockedBatch,
    given: { links: Link[]; heads: ClockedBatch[]; anchorsOf(batch: ClockedBatch): Anchor[] },
  ): Promise<Renewal[]> {
    const { links, anchorsOf } = given;
    const heads = links.map(({ headBatchId }) => given.heads.find(({ id }) => id === headBatchId));
    const renewals: Renewal[] = [];
    for (const [place, { renewal, timestampId, position }] of links.entries()) {
      const covered = (renewal === null ? batch : heads[renewal]) as ClockedBatch;
      const head = heads[place] as ClockedBatch;
      renewals.push({
        covers: { renewal, anchor: timestampId === null ? null : anchorPlace(covered, timestampId) },
        path: await evidencePath(head, position),
        head: { evidenceRoot: fromBytea(head.evidence_root), logHead: zeroHash },
        proof: hashesOf(head.head_path),
        root: fromBytea(head.root),
        size: head.size,
        anchors: anchorsOf(head),
      });
    }
    return renewals;
  }

  async function evidencePath(head: ClockedBatch, position: number): Promise<`0x${string}`[]> {
    const tree = `evidence ${fromBytea(head.evidence_root)}`;
    const kept = await thread.keptPath({ tree, leaf: position });
    if (kept) return hashesOf(kept);
    const rows = await db
      .selectFrom('evidence')
      .select('sha256')
      .where('head_batch_id', '=', head.id)
      .orderBy('position')
      .execute();
    if (rows.length === 1) return [];
    const leaves = await evidenceLeavesOf(rows.map(({ sha256 }) => sha256));
    return hashesOf(
      await thread.path({ leaves, leaf: position, ...(rows.length > largeHead && { keepAs: tree }) }),
    );
  }
}

function tokensOf({ timestamps }: ClockedBatch): number[] {
  return timestamps.flatMap(({ id, kind }) => (kind === 'rfc3161' ? [id] : []));
}

/**
 * The first head that covers it and has a token, with its tokens. Whether that batch is in a block does not matter: the token
 * vouches for its root.
 */
async function coverOfRoot(
  db: Db,
  batchId: number,
): Promise<{ head_batch_id: number; position: number; tokens: number[] } | undefined> {
  const { rows } = await sql<{ head_batch_id: number; position: number; tokens: number[] }>`
    select e.head_batch_id, e.position, array_agg(t.id order by t.id) as tokens from evidence e
    join timestamps t on t.batch_id = e.head_batch_id and t.kind = 'rfc3161'
    where e.root_batch_id = ${batchId}
    group by e.head_batch_id, e.position order by e.head_batch_id limit 1`.execute(db);
  return rows[0];
}

function hashesOf(path: Uint8Array): `0x${string}`[] {
  return Array.from({ length: path.length / hashBytes }, (_, place) =>
    toHex(path.subarray(place * hashBytes, (place + 1) * hashBytes)),
  );
}
