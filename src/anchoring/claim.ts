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
  subject_id: string;
  vault_id: string;
  leaf: Buffer;
  previous_leaf: Buffer;
  free: boolean;
}

export async function claimPending(db: Db, options: ClaimOptions): Promise<Claim> {
  const { maxLeaves, without, pageSize = 5000 } = options;
  const pages: Buffer[] = [];
  const claim: Omit<Claim, 'leaves'> = {
    ids: [],
    vaultOf: [],
    follows: [],
    vaults: [],
    stranded: 0,
    full: false,
  };
  const placeOfLeaf = new Map<string, number>();
  const placeOfVault = new Map<string, number>();
  for (let after = 0; ; ) {
    const wanted = Math.min(pageSize, maxLeaves - claim.ids.length);
    const page: Buffer[] = [];
    const rows = await readPage(db, { after, without, limit: wanted });
    for (const row of rows) {
      // A predecessor has a lower id, so it was met before.
      const follows = row.free ? -1 : placeOfLeaf.get(keyOf(row, row.previous_leaf));
      if (follows === undefined) {
        claim.stranded += 1;
        continue;
      }
      let vault = placeOfVault.get(row.vault_id);
      if (vault === undefined) {
        vault = claim.vaults.push({ workspaceId: row.workspace_id, id: row.vault_id }) - 1;
        placeOfVault.set(row.vault_id, vault);
      }
      placeOfLeaf.set(keyOf(row, row.leaf), claim.ids.length);
      claim.ids.push(row.id);
      claim.vaultOf.push(vault);
      claim.follows.push(follows);
      page.push(row.leaf);
    }
    // One piece for each page: so many small buffers would hold on to far more memory than they fill.
    pages.push(Buffer.concat(page));
    after = rows.at(-1)?.id ?? after;
    claim.full = claim.ids.length === maxLeaves;
    if (claim.full || rows.length < wanted) return { ...claim, leaves: Buffer.concat(pages) };
  }
}

/** A claim with the leaves of each vault side by side: place n of the batch is entry n. */
export interface Groups {
  vaults: { vault: ClaimedVault; leaves: number }[];
  ids: number[];
  leaves: Buffer;
}

/** Leaves out these vaults, by their place in the claim, and whatever follows a leaf of theirs. */
export function groupByVault(claim: Claim, without: ReadonlySet<number>): Groups {
  const taken: boolean[] = [];
  const membersOf: number[][] = claim.vaults.map(() => []);
  for (const [place, vault] of claim.vaultOf.entries()) {
    const follows = claim.follows[place] ?? -1;
    taken[place] = !without.has(vault) && (follows < 0 || taken[follows] === true);
    if (taken[place]) membersOf[vault]?.push(place);
  }
  const groups: Groups = { vaults: [], ids: [], leaves: Buffer.alloc(32 * taken.filter(Boolean).length) };
  for (const [at, members] of membersOf.entries()) {
    const vault = claim.vaults[at];
    if (members.length === 0 || !vault) continue;
    for (const place of members) {
      claim.leaves.copy(groups.leaves, groups.ids.length * 32, place * 32, (place + 1) * 32);
      groups.ids.push(claim.ids[place] ?? 0);
    }
    groups.vaults.push({ vault, leaves: members.length });
  }
  return groups;
}

/** A leaf is free when it follows none, or one that is in a batch; `case` keeps the look-up to those that need it. */
async function readPage(
  db: Db,
  { after, without, limit }: { after: number; without: string[]; limit: number },
): Promise<PendingRow[]> {
  const { rows } = await sql<PendingRow>`
    select l.id, l.workspace_id, l.subject_id, l.vault_id, l.leaf, l.previous_leaf,
      case when l.previous_leaf = ${firstLeaf} then true else exists (
        select 1 from anchor_leaves p
        where p.workspace_id = l.workspace_id and p.subject_id = l.subject_id
          and p.leaf = l.previous_leaf and p.batch_id is not null
      ) end as free
    from anchor_leaves l
    where l.batch_id is null and l.id > ${after} and l.vault_id <> all (${without}::text[])
    order by l.id limit ${limit}`.execute(db);
  return rows;
}

/** A leaf follows one of its own subject. */
function keyOf({ workspace_id, subject_id }: PendingRow, leaf: Buffer): string {
  return `${leaf.toString('latin1')} ${workspace_id} ${subject_id}`;
}
