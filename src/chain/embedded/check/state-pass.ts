/** Walks the state of the newest block: accounts, storage and code. Every node must be there, and have its hash. */
import { fromRlp, type Hex, keccak256 } from 'viem';
import { fromBytea } from '../../../db/bytea.ts';
import type { Db } from '../../../db/database.ts';
import { countRows } from '../../../db/rows-pass.ts';
import { type Finding, type Look, NotMade, type Pass } from '../../../runtime/check.ts';
import { emptyRoot } from '../engine/header-fields.ts';
import { contractCodeKey, delegationKey, ownerOf } from '../engine/node-keys.ts';
import { keptStates } from '../results/results.store.ts';
import { makeAgain, nodeMissing } from './advice.ts';
import { linksOf } from './trie-node.ts';

interface Head {
  number: number;
  stateRoot: Hex;
}

/** Something that the state must have. */
interface Place {
  kind: 'accounts' | 'storage' | 'code';
  hash: Hex;
  /** In hex, without 0x. Of code two, of which there is one: that of a contract, and that of an account that delegates. */
  keys: readonly [string, ...string[]];
  /** Nibbles from the root of its trie. */
  path: string;
  /** Of storage and code: the part of the account's hashed address that is in the keys, in hex without 0x. */
  owner: string;
}

/** The key of the pass: what is left to be read of the state of one block. Never changed. */
interface Walk {
  head: number;
  /** Starting with 1; more if the state was deleted before the walk had ended. */
  attempt: number;
  left: readonly Place[];
}

export interface StatePassOptions {
  /** Keys that are read by one statement. */
  groupSize?: number;
  /** The newest block that has results. */
  readHead?(): Promise<Head | null>;
}

const groupsOfPage = 8;
/** The states of older blocks are being deleted; a few blocks are left as a margin. */
const readableFor = keptStates - 4;
const mostAttempts = 4;
const noCode = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';

export function statePass(db: Db, options: StatePassOptions = {}): Pass {
  const { groupSize = 256, readHead = () => newestBlock(db) } = options;
  let first: Walk | null = null;
  let attempts = 1;

  async function begin(attempt: number): Promise<Walk | null> {
    const head = await readHead();
    if (!head) return null;
    const left = head.stateRoot === emptyRoot ? [] : [placeOf({ kind: 'accounts', hash: head.stateRoot })];
    return { head: head.number, attempt, left };
  }

  /** The state was deleted, because it is no longer that of a recent block or because everything is executed again. */
  async function isDeleted({ head }: Walk): Promise<boolean> {
    const newest = await readHead();
    return !newest || newest.number < head || newest.number > head + readableFor;
  }

  async function beginAgain(walk: Walk, { secondLook }: { secondLook: boolean }): Promise<Look> {
    // Another walk has been begun, which looks at everything.
    if (secondLook && walk.attempt < attempts) return { rows: 0, last: walk, findings: [] };
    const next = secondLook || walk.attempt === mostAttempts ? null : await begin(walk.attempt + 1);
    if (!next) {
      throw new NotMade(
        `the state of block ${walk.head} was deleted while it was read: run it again while fewer blocks are made`,
      );
    }
    attempts = next.attempt;
    return { rows: 0, last: next, findings: [] };
  }

  return {
    what: 'the state of the embedded chain',
    count() {
      first = null;
      attempts = 1;
      return countRows(db, 'embedded_chain_nodes');
    },
    async look({ after, until }) {
      // A second look begins with the same state.
      first ??= await begin(1);
      const walk = (after as Walk | undefined) ?? first;
      if (!walk || walk.left.length === 0) return { rows: 0, last: undefined, findings: [] };
      const left = [...walk.left];
      const findings: Finding[] = [];
      let rows = 0;
      for (let group = 0; group < groupsOfPage && left.length > 0; group += 1) {
        // From the end, so that little is left at any time.
        const places = left.splice(-groupSize);
        const values = await readNodes(db, places);
        const isComplete = places.every((place) => foundOf(place, values));
        if (!isComplete && (await isDeleted(walk))) {
          return beginAgain(walk, { secondLook: until !== undefined });
        }
        for (const place of places) {
          const judged = judge(place, foundOf(place, values));
          if (Array.isArray(judged)) left.push(...judged);
          else findings.push(judged);
        }
        rows += places.length;
      }
      return { rows, last: { ...walk, left } satisfies Walk, findings };
    },
  };
}

async function newestBlock(db: Db): Promise<Head | null> {
  const row = await db
    .selectFrom('embedded_chain_results')
    .select(['number', 'state_root'])
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? { number: row.number, stateRoot: fromBytea(row.state_root) } : null;
}

async function readNodes(db: Db, places: Place[]): Promise<Map<string, Buffer>> {
  const keys = [...new Set(places.flatMap(({ keys }) => keys))].map((key) => Buffer.from(key, 'hex'));
  const rows = await db
    .selectFrom('embedded_chain_nodes')
    .select(['key', 'value'])
    .where('key', 'in', keys)
    .execute();
  return new Map(rows.map(({ key, value }) => [key.toString('hex'), value]));
}

interface Found {
  key: string;
  value: Buffer;
}

function foundOf({ keys }: Place, values: Map<string, Buffer>): Found | null {
  for (const key of keys) {
    const value = values.get(key);
    if (value) return { key, value };
  }
  return null;
}

/** What the node points to, or what is wrong with it. */
function judge(place: Place, found: Found | null): Place[] | Finding {
  const what = {
    accounts: 'a node of the accounts',
    storage: 'a node of the storage of a contract',
    code: 'code',
  };
  const { kind, keys } = place;
  const object = kind === 'code' ? 'code' : 'node';
  if (!found) {
    return {
      rule: `${object}_missing`,
      ids: { node: keys[0] },
      message: `The state of the embedded chain lacks ${what[kind]}: there is no row with the key ${keys.join(' or ')}.`,
      advice: nodeMissing,
    };
  }
  const { key, value } = found;
  const changed: Finding = {
    rule: `${object}_changed`,
    ids: { node: key },
    message: `The state of the embedded chain has ${what[kind]} whose bytes do not have the hash in its key ${key}.`,
    advice: makeAgain,
  };
  if (keccak256(value) !== place.hash) return changed;
  if (kind === 'code') return [];
  try {
    return placesBelow(place, value);
  } catch {
    return changed;
  }
}

function placesBelow({ kind, path, owner }: Place, value: Buffer): Place[] {
  return linksOf(value, path).flatMap((link) => {
    if (link.kind === 'node') {
      return [placeOf({ kind: kind as 'accounts' | 'storage', hash: link.hash, path: link.path, owner })];
    }
    return kind === 'accounts' ? placesOfAccount(link) : [];
  });
}

function placesOfAccount({ value, path }: { value: Hex; path: string }): Place[] {
  const [, , storageRoot, codeHash] = fromRlp(value) as Hex[];
  if (storageRoot === undefined || codeHash === undefined) throw new Error('the value is no account');
  const places: Place[] = [];
  const owner = ownerOf(path);
  if (storageRoot !== emptyRoot) places.push(placeOf({ kind: 'storage', hash: storageRoot, owner }));
  if (codeHash !== noCode) places.push(placeOf({ kind: 'code', hash: codeHash, owner }));
  return places;
}

function placeOf(given: Pick<Place, 'kind' | 'hash'> & Partial<Place>): Place {
  const { kind, hash, path = '', owner = '' } = given;
  const bare = hash.slice(2);
  const keys: Place['keys'] =
    kind === 'code' ? [contractCodeKey(bare), delegationKey(owner, bare)] : [owner + bare];
  return { kind, hash, path, owner, keys };
}
