/** What the next batch takes: pending leaves in the order they were accepted, none before the one it follows. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { firstLeaf } from './pending.ts';

/** Plain numbers and bytes, entry i of each list belonging to leaf i: there may be 100,000. */
export interface Claim {
  ids: number[];
  /** 32 bytes each. */
  leaves: Buffer;
  /** Place of its vault in `vaults`. */
  vaultOf: number[];
  /** Place of the leaf that it follows, where that is in this claim too; else -1. */
  follows: number[];
  vaults: ClaimedVault[];
  /** Leaves left out because what they follow is neither batched nor in this claim. */
  stranded: number;
  /** There may be more. */
  full: boolean;
}

export interface ClaimedVault {
  workspaceId: string;
  id: string;
}

export interface ClaimOptions {
  maxLeaves: number;
  /** Ids of vaults that cannot seal at present. */
  without: string[];
  /** Rows read at once; between pages others get their turn. */
  pageSize?: number;
}

interface PendingRow {
  id: number;
  workspace_id: string;
  vault_id: string;
  leaf: Buffer;
  /** Id of the leaf that it follows, if that is pending; 0 when there is nothing to wait for, -1 when it is nowhere. */
  follows_id: number;
}

export async function claimPending(db: Db, options: ClaimOptions): Promise<Claim> {
  const { maxLeaves, without, pageSize = 2000 } = options;
  const claim: Omit<Claim, 'leaves'> = {
    ids: [],
    vaultOf: [],
    follows: [],
    vaults: [],
    stranded: 0,
    full: false,
  };
  const pages: Buffer[] = [];
  const placeOfVault = new Map<string, number>();
  for (let after = 0; ; ) {
    const limit = Math.min(pageSize, maxLeaves - claim.ids.length);
    const rows = await readPage(db, { after, without, limit });
    const page: Buffer[] = [];
    for (const row of rows) {
      // What it follows has a lower id, so it was met before.
      const follows = row.follows_id > 0 ? placeOf(claim.ids, row.follows_id) : -1;
      if (row.follows_id < 0 || (row.follows_id > 0 && follows < 0)) {
        claim.stranded += 1;
        continue;
      }
      let vault = placeOfVault.get(row.vault_id);
      if (vault === undefined) {
        vault = claim.vaults.push({ workspaceId: row.workspace_id, id: row.vault_id }) - 1;
        placeOfVault.set(row.vault_id, vault);
      }
      claim.ids.push(row.id);
      claim.vaultOf.push(vault);
      claim.follows.push(follows);
      page.push(row.leaf);
    }
    // One piece for each page: so many small buffers would hold on to far more memory than they fill.
    pages.push(Buffer.concat(page));
    after = rows.at(-1)?.id ?? after;
    claim.full = claim.ids.length === maxLeaves;
    if (claim.full || rows.length < limit) return { ...claim, leaves: Buffer.concat(pages) };
  }
}

/** A claim with the leaves of each vault side by side: place n of the batch is entry n. */
export interface Groups {
  vaults: { vault: ClaimedVault; leaves: number }[];
  ids: number[];
  leaves: Buffer;
}

/** Leaves out these vaults, by their place in the claim, and whatever follows a leaf of theirs. */
export async function groupByVault(claim: Claim, without: ReadonlySet<number>): Promise<Groups> {
  const taken: boolean[] = [];
  const membersOf: number[][] = claim.vaults.map(() => []);
  let size = 0;
  for (let place = 0; place < claim.ids.length; place += 1) {
    const vault = claim.vaultOf[place] ?? -1;
    const follows = claim.follows[place] ?? -1;
    const fits = !without.has(vault) && (follows < 0 || taken[follows] === true);
    taken.push(fits);
    if (!fits) continue;
    membersOf[vault]?.push(place);
    size += 1;
  }
  const groups: Groups = { vaults: [], ids: [], leaves: Buffer.alloc(32 * size) };
  for (const [at, members] of membersOf.entries()) {
    const vault = claim.vaults[at];
    if (members.length === 0 || !vault) continue;
    for (const place of members) {
      // Others get their turn: 100,000 leaves take some 30 ms.
      if (groups.ids.length % 10_000 === 9_999) await new Promise(setImmediate);
      claim.leaves.copy(groups.leaves, groups.ids.length * 32, place * 32, (place + 1) * 32);
      groups.ids.push(claim.ids[place] ?? 0);
    }
    groups.vaults.push({ vault, leaves: members.length });
  }
  return groups;
}

/**
 * What a leaf follows is of its own subject. Looked up only where there is such a leaf; its hash and id never travel
 * where they are not needed: with 100,000 rows that is most of the work here.
 */
async function readPage(
  db: Db,
  { after, without, limit }: { after: number; without: string[]; limit: number },
): Promise<PendingRow[]> {
  const { rows } = await sql<PendingRow>`
    select l.id, l.workspace_id, l.vault_id, l.leaf,
      case when l.previous_leaf = ${firstLeaf} then 0 else coalesce((
        select case when p.batch_id is null then p.id else 0 end from anchor_leaves p
        where p.workspace_id = l.workspace_id and p.subject_id = l.subject_id and p.leaf = l.previous_leaf
        limit 1
      ), -1) end as follows_id
    from anchor_leaves l
    where l.batch_id is null and l.id > ${after} and l.vault_id <> all (${without}::text[])
    order by l.id limit ${limit}`.execute(db);
  return rows;
}

/** Where a number stands in an ascending list; -1 when it does not. */
function placeOf(ids: number[], wanted: number): number {
  let from = 0;
  let to = ids.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ids[middle] ?? 0) < wanted) from = middle + 1;
    else to = middle;
  }
  return ids[from] === wanted ? from : -1;
}
