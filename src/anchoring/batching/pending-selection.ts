/** Selects the leaves of the next batch: pending leaves in the order they were accepted, none before the leaf it follows. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { findPlaced } from '../leaves/leaf-places.ts';
import { findFresh, findWaiting, type Look, readPosition } from '../leaves/leaf-position.ts';
import { firstLeaf } from './pending.ts';

/** Plain numbers and bytes, because there may be 100,000 leaves; entry i of each list belongs to leaf i. */
export interface Selection {
  ids: number[];
  /** 32 bytes each. */
  leaves: Buffer;
  /** Index of its vault in `vaults`. */
  vaultOf: number[];
  /** Index of the leaf that it follows, if that leaf is in this selection too; otherwise -1. */
  follows: number[];
  vaults: SelectedVault[];
  /** Leaves left out because the leaf they follow is neither batched nor in this selection. */
  stranded: number;
  /** There may be more. */
  full: boolean;
  /** What was found, to be stored with the batch. */
  look: Look;
  /** Some of the leaves waited already. */
  waited: boolean;
}

export interface SelectedVault {
  workspaceId: string;
  id: string;
}

export interface SelectionOptions {
  maxLeaves: number;
  /** Each vault needs its key opened, a seal and a row. */
  maxVaults?: number;
  /** Ids of vaults that currently cannot seal. */
  without: string[];
  /** Rows per page; other work gets its turn between pages. */
  pageSize?: number;
  /** How many of all leaves are looked through at a time where the position is of another cluster, or lost. */
  walkLimit?: number;
}

/** Some pending leaves, by ascending id: entry i of each list belongs to leaf i. */
interface Page {
  ids: number[];
  workspaceIds: string[];
  vaultIds: string[];
  /**
   * Id of the leaf that it follows, if that leaf is pending; 0 when there is nothing to wait for, -1 when that leaf does not
   * exist.
   */
  followsIds: number[];
  leaves: Buffer;
}

export async function selectPending(db: Db, options: SelectionOptions): Promise<Selection> {
  const { maxLeaves, maxVaults = 5_000, without, pageSize = 2_000 } = options;
  const candidates = await openCandidates(db, { pageSize, ...options });
  const selection: Omit<Selection, 'leaves' | 'waited'> = {
    ids: [],
    vaultOf: [],
    follows: [],
    vaults: [],
    stranded: 0,
    full: candidates.look.isCut,
    look: candidates.look,
  };
  const done = () => ({ ...selection, leaves: Buffer.concat(pieces), waited: candidates.hasWaiting });
  const pieces: Buffer[] = [];
  const placeOfVault = new Map<string, number>();

  /** Null when there is no room for another vault. */
  function placeVault(page: Page, entry: number): number | null {
    const id = page.vaultIds[entry] ?? '';
    const known = placeOfVault.get(id);
    if (known !== undefined) return known;
    if (selection.vaults.length === maxVaults) return null;
    const place = selection.vaults.push({ workspaceId: page.workspaceIds[entry] ?? '', id }) - 1;
    placeOfVault.set(id, place);
    return place;
  }

  for (let after = 0; ; ) {
    const wanted = await candidates.next(after);
    if (wanted.length === 0) return done();
    const page = await readPage(db, await candidates.unplaced(wanted), without);
    /** The leaves from this byte on are not in `pieces` yet. */
    let from = 0;
    for (const [entry, id] of page.ids.entries()) {
      const followsId = page.followsIds[entry] ?? 0;
      // The leaf that it follows has a lower id, so it was already processed.
      const follows = followsId > 0 ? placeOf(selection.ids, followsId) : -1;
      if (followsId < 0 || (followsId > 0 && follows < 0)) {
        selection.stranded += 1;
        pieces.push(page.leaves.subarray(from, entry * 32));
        from = (entry + 1) * 32;
        continue;
      }
      const vault = selection.ids.length === maxLeaves ? null : placeVault(page, entry);
      if (vault === null) {
        selection.full = true;
        pieces.push(page.leaves.subarray(from, entry * 32));
        return done();
      }
      selection.ids.push(id);
      selection.vaultOf.push(vault);
      selection.follows.push(follows);
    }
    pieces.push(page.leaves.subarray(from));
    after = wanted.at(-1) ?? after;
    selection.full ||= selection.ids.length === maxLeaves;
    if (wanted.length < pageSize) return done();
  }
}

interface Candidates {
  look: Look;
  /** A page of the pending leaves behind this id, ascending; only the last one is not full. */
  next(after: number): Promise<number[]>;
  /** Those of them that are in no batch: all of them, unless somebody changed the database. */
  unplaced(ids: number[]): Promise<number[]>;
  /** Whether some of them waited. */
  hasWaiting: boolean;
}

/** Those that wait, and the new ones. */
async function openCandidates(db: Db, options: SelectionOptions & { pageSize: number }): Promise<Candidates> {
  const { maxLeaves, without, pageSize, walkLimit = 10_000 } = options;
  const position = await readPosition(db);
  const waitingAfter = (after: number) => findWaiting(db, { after, without, limit: pageSize });
  const first = await waitingAfter(0);
  // Some new ones are always looked at: all that wait could be stranded.
  const limit = Math.max(maxLeaves - first.length, 1);
  const look = await findFresh(db, position, {
    limit: first.length < pageSize ? limit : Math.min(limit, pageSize),
    walkLimit,
  });
  return {
    look,
    async next(after) {
      const from = firstAbove(look.fresh, after);
      const fresh = look.fresh.slice(from, from + pageSize);
      const known = first.length < pageSize || after === 0;
      const waiting = known ? first.slice(firstAbove(first, after)) : await waitingAfter(after);
      if (waiting.length === 0) return fresh;
      const all = [...new Set([...fresh, ...waiting])].sort((one, other) => one - other);
      return all.slice(0, pageSize);
    },
    async unplaced(ids) {
      if (first.length === 0) return ids;
      const placed = await findPlaced(db, ids);
      return ids.filter((id) => !placed.has(id));
    },
    hasWaiting: first.length > 0,
  };
}

/** A selection grouped by vault: place n of the batch is entry n. */
export interface Groups {
  vaults: { vault: SelectedVault; leaves: number }[];
  ids: number[];
  leaves: Buffer;
}

/** Other work gets its turn after this many leaves, which take a few milliseconds. */
const leavesPerTurn = 5_000;

/** Leaves out these vaults, given by index into the selection, and every leaf that follows one of theirs. */
export async function groupByVault(selection: Selection, without: ReadonlySet<number>): Promise<Groups> {
  const taken: boolean[] = [];
  const membersOf: number[][] = selection.vaults.map(() => []);
  let size = 0;
  for (let place = 0; place < selection.ids.length; place += 1) {
    if (place % leavesPerTurn === leavesPerTurn - 1) await new Promise(setImmediate);
    const vault = selection.vaultOf[place] ?? -1;
    const follows = selection.follows[place] ?? -1;
    const fits = !without.has(vault) && (follows < 0 || taken[follows] === true);
    taken.push(fits);
    if (!fits) continue;
    membersOf[vault]?.push(place);
    size += 1;
  }
  const groups: Groups = { vaults: [], ids: [], leaves: Buffer.alloc(32 * size) };
  for (const [at, members] of membersOf.entries()) {
    const vault = selection.vaults[at];
    if (members.length === 0 || !vault) continue;
    for (const place of members) {
      if (groups.ids.length % leavesPerTurn === leavesPerTurn - 1) await new Promise(setImmediate);
      selection.leaves.copy(groups.leaves, groups.ids.length * 32, place * 32, (place + 1) * 32);
      groups.ids.push(selection.ids[place] ?? 0);
    }
    groups.vaults.push({ vault, leaves: members.length });
  }
  return groups;
}

/**
 * A leaf follows a leaf of its own subject, which is looked up only if there is one. A page comes as one row: parsing
 * 100,000 rows would be most of the work here.
 */
async function readPage(db: Db, wanted: number[], without: string[]): Promise<Page> {
  const { rows } = await sql<{ [Member in keyof Page]: Page[Member] | null }>`
    select json_agg(id order by id) as ids, json_agg(workspace_id order by id) as "workspaceIds",
           json_agg(vault_id order by id) as "vaultIds", json_agg(follows_id order by id) as "followsIds",
           string_agg(leaf, '' order by id) as leaves
    from (
      select l.id, l.workspace_id, l.vault_id, l.leaf,
        case when l.previous_leaf = ${firstLeaf} then 0 else coalesce((
          select case when p.batch_id is null then p.id else 0 end from placed_leaves p
          where p.workspace_id = l.workspace_id and p.subject_id = l.subject_id and p.leaf = l.previous_leaf
          limit 1
        ), -1) end as follows_id
      from anchor_leaves l
      where l.id = any (${`{${wanted}}`}::bigint[]) and l.vault_id <> all (${without}::text[])
    ) as page`.execute(db);
  // All columns are null when there is no leaf.
  const { ids, workspaceIds, vaultIds, followsIds, leaves } = rows[0] ?? {};
  return {
    ids: ids ?? [],
    workspaceIds: workspaceIds ?? [],
    vaultIds: vaultIds ?? [],
    followsIds: followsIds ?? [],
    leaves: leaves ?? Buffer.alloc(0),
  };
}

/** The index of a number in an ascending list, or -1. */
function placeOf(ids: number[], wanted: number): number {
  const place = firstAbove(ids, wanted - 1);
  return ids[place] === wanted ? place : -1;
}

/** The index of the first number above this one in an ascending list. */
function firstAbove(ids: number[], least: number): number {
  let from = 0;
  let to = ids.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ids[middle] ?? 0) <= least) from = middle + 1;
    else to = middle;
  }
  return from;
}
