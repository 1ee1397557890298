/**
 * Paths from leaves to the roots of their subtrees. A large subtree is read and built once for many proofs, one at a time.
 * The number of waiting requests is limited; further requests are told to retry later.
 */
import type { Db } from '../db/database.ts';
import { hashBytes } from '../proof/merkle.ts';
import { AppError } from '../runtime/errors.ts';
import type { BatchThread } from './batching/batch-thread.ts';

/** Each request holds at most a small subtree: about 32 MB in all. */
const mostWaiting = 500;
const retryAfterSeconds = 2;

export interface WantedPath {
  batch_id: number;
  vault_id: string;
  subtree_root: Buffer;
  /** Null for a large subtree. */
  leaves: Buffer | null;
  /** Index of the leaf within the subtree. */
  leaf: number;
}

export type PathFinder = (wanted: WantedPath) => Promise<Uint8Array>;

export interface SubtreePathsDeps {
  db: Db;
  thread: Pick<BatchThread, 'path' | 'keptPath'>;
  /** How many requests may wait. */
  most?: number;
}

export function createSubtreePaths({ db, thread, most = mostWaiting }: SubtreePathsDeps): PathFinder {
  let waiting = 0;
  /** Builds of large subtrees, by root; each promise settles when the build ends, also with an error. */
  const builds = new Map<string, Promise<unknown>>();
  let lastBuild: Promise<unknown> = Promise.resolve();

  async function build(tree: string, { batch_id, vault_id, leaf }: WantedPath): Promise<Uint8Array> {
    const { leaves } = await db
      .selectFrom('anchor_subtrees')
      .select('leaves')
      .where('batch_id', '=', batch_id)
      .where('vault_id', '=', vault_id)
      .executeTakeFirstOrThrow();
    return thread.path({ leaves, leaf, keepAs: tree });
  }

  async function largePath(wanted: WantedPath): Promise<Uint8Array> {
    const tree = wanted.subtree_root.toString('hex');
    for (;;) {
      const kept = await thread.keptPath({ tree, leaf: wanted.leaf });
      if (kept) return kept;
      const others = builds.get(tree);
      if (!others) break;
      await others;
    }
    // One build at a time, so that only the leaves of one subtree are in memory.
    const mine = lastBuild.then(() => build(tree, wanted));
    lastBuild = mine.catch(() => {});
    builds.set(tree, lastBuild);
    return mine.finally(() => builds.delete(tree));
  }

  return async (wanted) => {
    if (waiting >= most) {
      throw tooManyProofs();
    }
    waiting += 1;
    try {
      const { leaves, leaf } = wanted;
      if (leaves === null) return await largePath(wanted);
      if (leaves.length === hashBytes) return new Uint8Array();
      return await thread.path({ leaves, leaf });
    } finally {
      waiting -= 1;
    }
  };
}

export function tooManyProofs(): AppError {
  return new AppError(
    'service_unavailable',
    'Too many proofs are being generated right now. Try again in a moment.',
    { retryAfterSeconds },
  );
}
