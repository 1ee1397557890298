/**
 * Makes proofs by the thousand, for an export: leaves of one subtree share its tree, and only some subtrees are in memory at
 * a time, however large they are.
 */
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { hashBytes } from '../proof/merkle.ts';
import type { Proof } from '../proof/verify/proof.ts';
import { type BatchClocksDeps, createBatchClocks } from './batch-clocks.ts';
import type { BatchThread } from './batching/batch-thread.ts';
import { assemble, type BatchColumns, type LeafColumns, NotAsAnchored, type ProofRequest } from './proofs.ts';

/** `broken`: the stored rows do not lead to what was anchored, so rows were changed. */
export type ManyProofs = (requests: ProofRequest[]) => Promise<(Proof | 'unconfirmed' | 'broken')[]>;

type SubtreeColumns = Pick<
  BatchColumns,
  | 'subtree_root'
  | 'leaves'
  | 'first_place'
  | 'sequence'
  | 'previous_seal'
  | 'signature'
  | 'seal_id'
  | 'upper_path'
>;

interface LeafRow extends LeafColumns, Omit<BatchColumns, keyof SubtreeColumns> {
  wanted_place: number;
  batch_id: number;
  vault_id: string;
  subtree_bytes: number;
}

interface SubtreeRow extends SubtreeColumns {
  batch_id: number;
  vault_id: string;
}

/** Limit of the subtrees that are read at once; a larger one is read alone. */
const mostSubtreeBytes = 8 * 1024 * 1024;
/** Other work gets its turn after this long. */
const turnMs = 10;

export interface ManyProofsDeps extends BatchClocksDeps {
  thread: Pick<BatchThread, 'paths' | 'path' | 'keptPath'>;
}

export function createManyProofs(deps: ManyProofsDeps): ManyProofs {
  const { db, thread } = deps;
  const readClocks = createBatchClocks(deps);
  return async (requests) => {
    const proofs: Awaited<ReturnType<ManyProofs>> = requests.map(() => 'unconfirmed');
    const rows = await readLeaves(db, requests);
    const clocks = await readClocks(rows.map(({ batch_id }) => batch_id));
    for (const group of groupsOf(rows)) {
      for (const subtree of await readSubtrees(db, group)) {
        const mine = group.filter((row) => keyOf(row) === keyOf(subtree));
        const paths = await pathsOf(subtree, mine);
        let since = performance.now();
        for (const [place, row] of mine.entries()) {
          const request = requests[row.wanted_place - 1];
          if (!request) continue;
          const whole = { ...row, ...subtree, leaves_bytes: row.subtree_bytes };
          const mine = clocks.get(row.batch_id);
          // A reorg has withdrawn the confirmation meanwhile.
          if (!mine) continue;
          proofs[row.wanted_place - 1] = proofOr(request, whole, {
            lower: paths[place] ?? new Uint8Array(),
            clocks: mine,
          });
          if (performance.now() - since < turnMs) continue;
          await setImmediate();
          since = performance.now();
        }
      }
    }
    return proofs;
  };

  async function pathsOf({ leaves, first_place }: SubtreeRow, rows: LeafRow[]): Promise<Uint8Array[]> {
    if (leaves.length === hashBytes) return rows.map(() => new Uint8Array());
    return thread.paths({ leaves, wanted: rows.map(({ place }) => place - first_place) });
  }
}

function proofOr(
  request: ProofRequest,
  row: LeafColumns & BatchColumns & { leaves_bytes: number },
  rest: Parameters<typeof assemble>[2],
): Proof | 'broken' {
  try {
    return assemble(request, row, rest);
  } catch (error) {
    if (error instanceof NotAsAnchored) return 'broken';
    throw error;
  }
}

function keyOf({ batch_id, vault_id }: Pick<LeafRow, 'batch_id' | 'vault_id'>): string {
  return `${batch_id} ${vault_id}`;
}

/** Splits the leaves into groups by size of their subtrees; leaves of one subtree stay together. */
function groupsOf(rows: LeafRow[]): LeafRow[][] {
  const subtrees = Map.groupBy(rows, keyOf);
  const groups: LeafRow[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const mine of subtrees.values()) {
    const more = mine[0]?.subtree_bytes ?? 0;
    if (bytes + more > mostSubtreeBytes) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(...mine);
    bytes += more;
  }
  return groups;
}

/** Reads the confirmed leaves. */
async function readLeaves(db: Db, requests: ProofRequest[]): Promise<LeafRow[]> {
  if (requests.length === 0) return [];
  const { rows } = await sql<LeafRow>`
    select wanted.place as wanted_place, l.digest, l.canonicalization, l.previous_leaf, l.claims, l.claims_hash, l.leaf, l.place,
      l.batch_id, l.vault_id, v.address as vault, b.root, b.size, octet_length(s.leaves) as subtree_bytes
    from unnest(${requests.map(({ workspaceId }) => workspaceId)}::text[],
                ${requests.map(({ subjectId }) => subjectId)}::text[],
                ${requests.map(({ kind }) => kind)}::text[],
                ${requests.map(({ version }) => version)}::integer[])
      with ordinality as wanted (workspace_id, subject_id, kind, version, place)
    cross join lateral (
      select * from placed_leaves
      where workspace_id = wanted.workspace_id and subject_id = wanted.subject_id and kind = wanted.kind
        and version = wanted.version limit 1
    ) as l
    join vaults v on v.workspace_id = l.workspace_id and v.id = l.vault_id
    join anchor_batches b on b.id = l.batch_id and b.status in ('confirmed', 'finalized')
    join anchor_subtrees s on s.batch_id = b.id and s.vault_id = l.vault_id`.execute(db);
  return rows;
}

async function readSubtrees(db: Db, rows: LeafRow[]): Promise<SubtreeRow[]> {
  const wanted = [...new Map(rows.map((row) => [keyOf(row), row])).values()];
  const { rows: found } = await sql<SubtreeRow>`
    select s.batch_id, s.vault_id, s.root as subtree_root, s.leaves, s.first_place, s.sequence, s.previous_seal,
      s.signature, s.seal_id, s.upper_path
    from unnest(${wanted.map(({ batch_id }) => batch_id)}::bigint[],
                ${wanted.map(({ vault_id }) => vault_id)}::text[]) as wanted (batch_id, vault_id)
    cross join lateral (
      select * from anchor_subtrees where batch_id = wanted.batch_id and vault_id = wanted.vault_id limit 1
    ) as s`.execute(db);
  return found;
}
