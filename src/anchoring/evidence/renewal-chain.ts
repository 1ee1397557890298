/**
 * How far later batches carry a token: from head to head, each of which covers a token of the one before. Of all the ways the
 * one counts that reaches furthest, and of those the shortest.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

/** As many as a proof may have. */
export const mostRenewals = 16;

/** The head of a batch covers a token. */
export interface RenewalStep {
  timestampId: number;
  headBatchId: number;
  /** Of the token among the items of the head. */
  position: number;
}

export interface RenewalChain {
  /** From the token on. */
  steps: RenewalStep[];
  /** When the last certificate ends that it leads to, in milliseconds since 1970. */
  until: number;
  /** Later than that: where more steps than asked for would lead. */
  couldReach: number;
}

/** Finding that there are too many steps is worth a few more of them. */
const deepest = 64;
/** Ways that are followed at once: heads that reach less far than eight others are left aside. */
const widest = 8;

interface Reached extends RenewalStep {
  before: Reached | null;
  depth: number;
  until: number;
  /** Until when the covered token counted: who vouches only later than that does not help it. */
  bound: Date;
}

export interface RenewalChains {
  /** Finds with one statement which of these tokens have no chain. */
  expect(timestampIds: readonly number[]): Promise<void>;
  /** For each of these tokens that is renewed at all, the furthest first, with at most so many steps each. */
  find(timestampIds: readonly number[], most: number): Promise<RenewalChain[]>;
}

/** For some proofs that are made together: many of them rely on the same tokens. */
export function createRenewalChains(db: Db): RenewalChains {
  const known = new Map<number, Reached[]>();

  async function reach(id: number): Promise<Reached[]> {
    const reached = known.get(id) ?? (await reachFrom(db, await coversOf(db, { timestampIds: [id] })));
    known.set(id, reached);
    return reached;
  }

  return {
    async expect(timestampIds) {
      if (timestampIds.length === 0) return;
      const covers = new Set((await coversOf(db, { timestampIds })).map(({ timestampId }) => timestampId));
      for (const id of timestampIds) if (!covers.has(id)) known.set(id, []);
    },
    async find(timestampIds, most) {
      const chains: RenewalChain[] = [];
      for (const id of timestampIds) {
        const reached = await reach(id);
        const furthest = furthestOf(reached);
        const fitting = furthestOf(reached.filter(({ depth }) => depth <= most));
        if (!furthest || !fitting) continue;
        chains.push({ steps: stepsTo(fitting), until: fitting.until, couldReach: furthest.until });
      }
      return chains.toSorted((one, other) => other.until - one.until);
    },
  };
}

function stepsTo(last: Reached): RenewalStep[] {
  const steps: RenewalStep[] = [];
  for (let step: Reached | null = last; step; step = step.before) {
    const { timestampId, headBatchId, position } = step;
    steps.unshift({ timestampId, headBatchId, position });
  }
  return steps;
}

/** Everything within reach, the nearest first. */
async function reachFrom(db: Db, covers: Reached[]): Promise<Reached[]> {
  const reached: Reached[] = [];
  const visited = new Set<number>();
  let frontier = covers;
  while (frontier.length > 0 && (frontier[0]?.depth ?? deepest) <= deepest) {
    const next = frontier
      .toSorted((one, other) => other.until - one.until || one.headBatchId - other.headBatchId)
      .filter(({ headBatchId }) => !visited.has(headBatchId) && visited.add(headBatchId))
      .slice(0, widest);
    reached.push(...next);
    frontier = next.length === 0 ? [] : await coversOf(db, { heads: next });
  }
  return reached;
}

interface CoverRow {
  place: number;
  timestamp_id: number;
  head_batch_id: number;
  position: number;
  bound: Date;
  until: Date;
}

/** Heads that cover a token while it counted, with a token that ends later; in a block or not. */
async function coversOf(
  db: Db,
  of: { timestampIds: readonly number[] } | { heads: readonly Reached[] },
): Promise<Reached[]> {
  const heads = 'heads' in of ? of.heads : [];
  const covered =
    'heads' in of
      ? sql`unnest(${heads.map(({ headBatchId }) => headBatchId)}::bigint[], ${heads.map(({ bound }) => bound)}::timestamptz[])
              with ordinality as via (batch_id, bound, place)
            join timestamps t on t.batch_id = via.batch_id and t.kind = 'rfc3161' and t.vouched_at < via.bound`
      : sql`(select 0 as place) as via join timestamps t on t.id = any(${[...of.timestampIds]}::bigint[]) and t.kind = 'rfc3161'`;
  const { rows } = await sql<CoverRow>`
    select via.place, t.id as timestamp_id, e.head_batch_id, e.position, t.valid_until as bound,
      max(n.valid_until) as until
    from ${covered}
    join evidence e on e.timestamp_id = t.id
    join timestamps n on n.batch_id = e.head_batch_id and n.vouched_at < t.valid_until and n.valid_until > t.valid_until
    group by via.place, t.id, e.head_batch_id, e.position, t.valid_until`.execute(db);
  return rows.map((row) => {
    const before = heads[Number(row.place) - 1] ?? null;
    const { timestamp_id: timestampId, head_batch_id: headBatchId, position, bound } = row;
    const depth = (before?.depth ?? 0) + 1;
    return { timestampId, headBatchId, position, before, depth, until: row.until.getTime(), bound };
  });
}

function furthestOf(reached: readonly Reached[]): Reached | null {
  let furthest: Reached | null = null;
  for (const step of reached) if (!furthest || step.until > furthest.until) furthest = step;
  return furthest;
}
