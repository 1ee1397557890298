/**
 * Proofs of histories for answers, by the page: whatever a thing has been through, one request makes a handful of
 * statements, holds a few megabytes, and does not go over what earlier pages had.
 */
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { fromBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import { type History, historyFormat } from '../proof/history.ts';
import type { Proof, ProofContent } from '../proof/proof.ts';
import { AppError } from '../runtime/errors.ts';
import { bytesOf, mostPageBytes, takeWithin } from '../runtime/page-budget.ts';
import { createWorkspaceTurns } from './batching/workspace-turns.ts';
import type { ManyProofs } from './many-proofs.ts';
import { NotAsAnchored, notConfirmed, type ProofRequest } from './proofs.ts';
import { tooManyProofs } from './subtree-paths.ts';

/** How far earlier pages came: of each kind the last version that they have. */
export type HistoryPosition = number[];

export interface HistoryOf {
  workspaceId: string;
  subjectId: string;
  /** Of the leaves that follow each other; what only hangs beside that chain is of other kinds. */
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
  /** What it takes to make its proof; null until it is confirmed. */
  subtree: { key: string; bytes: number } | null;
}

export interface HistoryRequest extends HistoryOf, HistoryStretch {
  /** One for each leaf, in their order. */
  contentsOf(leaves: HistoryLeaf[]): Promise<ProofContent[]>;
}

export interface HistoryProofs {
  /** The proofs up to the first leaf that is not confirmed; AppError conflict when that is the very first. */
  page(request: HistoryRequest): Promise<{ history: History; next: HistoryPosition | null }>;
  /** All of one workspace; null for what is not confirmed. */
  makeAll(requests: ProofRequest[]): Promise<(Proof | null)[]>;
}

export interface HistoryProofsDeps {
  db: Db;
  manyProofs: ManyProofs;
  /** How many requests of one workspace may be under way. */
  most?: number;
}

/** Of subtrees that a page takes its paths from: as much as is read by one statement. One alone may be larger. */
const mostSubtreeBytes = 8 * 1024 * 1024;
const usualMost = 20;

export function createHistoryProofs(deps: HistoryProofsDeps): HistoryProofs {
  const { db, manyProofs, most = usualMost } = deps;
  // One after the other, so that the subtrees of one request are in memory at a time.
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
      // A reorg may have come between.
      const known = made.slice(0, [...made, null].indexOf(null)) as Proof[];
      const proofs = takeWithin(known, bytesOf, mostPageBytes);
      if (proofs.length === 0) throw notConfirmed();
      const more = proofs.length < known.length || known.length < confirmed.length;
      const next = more ? positionAfter(kinds, leaves.slice(0, proofs.length), after) : null;
      return { history: { format: historyFormat, subject: { workspaceId, id: subjectId }, proofs }, next };
    },
  };
}

/** In their order. Of one kind they are in the order of their versions, which the index gives from any place on. */
export async function readHistoryLeaves(
  db: Db,
  { workspaceId, subjectId, kinds }: HistoryOf,
  { after, limit }: HistoryStretch,
): Promise<HistoryLeaf[]> {
  const ofKinds = kinds.map(
    (kind, place) => sql`(
      select * from anchor_leaves
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

/** Where the page goes on that follows these leaves. */
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
