/**
 * Proofs of histories for responses, page by page: for any length of history, one request runs a handful of statements,
 * holds a few megabytes, and does not read earlier pages again.
 */
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { fromBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import { type History, historyFormat } from '../proof/verify/history.ts';
import type { Proof, ProofContent } from '../proof/verify/proof.ts';
import { AppError } from '../runtime/errors.ts';
import { bytesOf, mostPageBytes, takeWithin } from '../runtime/page-budget.ts';
import { createWorkspaceTurns } from './batching/workspace-turns.ts';
import type { ManyProofs } from './many-proofs.ts';
import { NotAsAnchored, notConfirmed, type ProofRequest } from './proofs.ts';
import { tooManyProofs } from './subtree-paths.ts';

/** Where earlier pages ended: for each kind, the last version that they contain. */
export type HistoryPosition = number[];

export interface HistoryOf {
  workspaceId: string;
  subjectId: string;
  /** Kinds of the leaves that follow each other; leaves beside that chain are of other kinds. */
  kinds: readonly string[];
}

export interface HistoryStretch {
  after: HistoryPosition | undefined;
  limit: number;
}

export interface HistoryLeaf {
  kind: string;
  version: number;
  digest: Hex;
  /** What its proof is made from; null until the leaf is confirmed. */
  subtree: { key: string; bytes: number } | null;
}

export interface HistoryRequest extends HistoryOf, HistoryStretch {
  /** Contents of the leaves, in their order. */
  contentsOf(leaves: HistoryLeaf[]): Promise<ProofContent[]>;
}

export interface HistoryProofs {
  /** The proofs up to the first unconfirmed leaf; throws AppError conflict when no leaf is confirmed. */
  page(request: HistoryRequest): Promise<{ history: History; next: HistoryPosition | null }>;
  /** All requests are of one workspace; null for leaves that are not confirmed. */
  makeAll(requests: ProofRequest[]): Promise<(Proof | null)[]>;
}

export interface HistoryProofsDeps {
  db: Db;
  manyProofs: ManyProofs;
  /** How many requests of one workspace may be waiting and running. */
  most?: number;
}

/** Limits the subtrees that a page takes its paths from to what one statement reads. A single subtree may be larger. */
const mostSubtreeBytes = 8 * 1024 * 1024;
const usualMost = 20;

export function createHistoryProofs(deps: HistoryProofsDeps): HistoryProofs {
  const { db, manyProofs, most = usualMost } = deps;
  // One request at a time, so that only its subtrees are in memory.
  const inTurn = createWorkspaceTurns({ mostOfWorkspace: most, refusal: tooManyProofs });

  async function makeAll(requests: ProofRequest[]): Promise<(Proof | null)[]> {
    const [first] = requests;
    if (!first) return [];
    const made = await inTurn(first.workspaceId, () => manyProofs(requests));
    return made.map((proof, place) => {
      if (proof === 'broken') throw new NotAsAnchored(requests[place]?.subjectId ?? '');
      return proof === 'unconfirmed' ? null : proof;
    });
  }

  return {
    makeAll,

    async page({ contentsOf, after, limit, ...of }) {
      const { workspaceId, subjectId, kinds } = of;
      const found = await readHistoryLeaves(db, of, { after, limit: limit + 1 });
      if (found.length === 0)
        throw new AppError('resource_not_found', `Nothing of ${subjectId} is anchored.`);
      const confirmed = upTo(found, ({ subtree }) => subtree === null);
      const leaves = withinSubtreeBytes(confirmed.slice(0, limit));
      const contents = leaves.length === 0 ? [] : await contentsOf(leaves);
      const made = await makeAll(
        leaves.map(({ kind, version }, place) => {
          const content = contents[place];
          if (!content) throw new NotAsAnchored(subjectId);
          return { workspaceId, kind, subjectId, version, content };
        }),
      );
      // A reorg may have happened in between.
      const known = made.slice(0, [...made, null].indexOf(null)) as Proof[];
      const proofs = takeWithin(known, bytesOf, mostPageBytes);
      if (proofs.length === 0) throw notConfirmed();
      const more = proofs.length < known.length || known.length < confirmed.length;
      const next = more ? positionAfter(kinds, leaves.slice(0, proofs.length), after) : null;
      return { history: { format: historyFormat, subject: { workspaceId, id: subjectId }, proofs }, next };
    },
  };
}

/** In history order. Leaves of one kind are ordered by version, and the index can start at any version. */
export async function readHistoryLeaves(
  db: Db,
  { workspaceId, subjectId, kinds }: HistoryOf,
  { after, limit }: HistoryStretch,
): Promise<HistoryLeaf[]> {
  const ofKinds = kinds.map(
    (kind, place) => sql`(
      select * from placed_leaves
      where workspace_id = ${workspaceId} and subject_id = ${subjectId} and kind = ${kind}
        and version > ${after?.[place] ?? 0}
      order by version limit ${limit})`,
  );
  const { rows } = await sql<LeafRow>`
    select l.kind, l.version, l.digest, b.id as batch_id, l.vault_id, octet_length(s.leaves) as subtree_bytes
    from (select * from (${sql.join(ofKinds, sql` union all `)}) as every order by id limit ${limit}) as l
    left join anchor_batches b on b.id = l.batch_id and b.status in ('confirmed', 'finalized')
    left join anchor_subtrees s on s.batch_id = b.id and s.vault_id = l.vault_id
    order by l.id`.execute(db);
  return rows.map(({ kind, version, digest, batch_id, vault_id, subtree_bytes }) => ({
    kind,
    version,
    digest: fromBytea(digest),
    subtree: batch_id === null ? null : { key: `${batch_id} ${vault_id}`, bytes: subtree_bytes ?? 0 },
  }));
}

/** The position of the page after these leaves. */
export function positionAfter(
  kinds: readonly string[],
  leaves: HistoryLeaf[],
  before: HistoryPosition | undefined,
): HistoryPosition {
  return kinds.map(
    (wanted, place) => leaves.findLast(({ kind }) => kind === wanted)?.version ?? before?.[place] ?? 0,
  );
}

interface LeafRow {
  kind: string;
  version: number;
  digest: Buffer;
  batch_id: number | null;
  vault_id: string;
  subtree_bytes: number | null;
}

function upTo<T>(items: T[], isEnd: (item: T) => boolean): T[] {
  const end = items.findIndex(isEnd);
  return end === -1 ? items : items.slice(0, end);
}

function withinSubtreeBytes(leaves: HistoryLeaf[]): HistoryLeaf[] {
  const counted = new Set<string>();
  const bytes = ({ subtree }: HistoryLeaf) => {
    if (subtree === null || counted.has(subtree.key)) return 0;
    counted.add(subtree.key);
    return subtree.bytes;
  };
  return takeWithin(leaves, bytes, mostSubtreeBytes);
}
