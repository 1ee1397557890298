/** The thread that builds the trees of batches, seals them, and finds paths for proofs; see batch-thread.ts. */
import { randomBytes } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js';
import { fromHex, toHex } from '../../proof/hex.ts';
import { loadKeccak } from '../../proof/keccak.ts';
import { buildTree, hashBytes } from '../../proof/merkle.ts';
import { sealDigest, signatureFault, signatureOf } from '../../proof/seal.ts';
import { buildBatch } from './batch.ts';
import { createKeptTrees } from './kept-trees.ts';

/** One buffer per field for all vaults together, because many small buffers take long to transfer. */
export interface BatchOrder {
  vaults: { address: string; sequence: number; leaves: number }[];
  /** 32 bytes each, vault by vault. */
  leaves: Uint8Array;
  /** 32 bytes per vault; erased here after use. */
  privateKeys: Uint8Array;
}

export type BatchAnswer =
  /** Indexes of vaults whose key does not match their address; in that case nothing is built. */
  | { unfit: number[] }
  | {
      unfit: [];
      root: Uint8Array;
      /** Roots of the subtrees, 32 bytes each. */
      roots: Uint8Array;
      /** 65 bytes each. */
      signatures: Uint8Array;
      /** The paths from each subtree's root to the batch's root, concatenated, and the number of hashes in each. */
      upperPaths: Uint8Array;
      upperLengths: number[];
    };

export interface PathOrder {
  /** The leaves of one subtree. */
  leaves: Uint8Array;
  leaf: number;
  /** Caches the tree under this name for later orders, while there is room. */
  keepAs?: string;
}

export interface KeptPathOrder {
  /** The name of a tree that may be cached. */
  tree: string;
  leaf: number;
}

export interface PathsOrder {
  /** The leaves of one subtree. */
  leaves: Uint8Array;
  wanted: number[];
}

export type Order = { id: number } & (
  | { build: BatchOrder }
  | { path: PathOrder }
  | { keptPath: KeptPathOrder }
  | { paths: PathsOrder }
);

export type Answer = { id: number } & (
  | { built: BatchAnswer }
  | { path: Uint8Array }
  /** Null: the tree is not in the cache. */
  | { keptPath: Uint8Array | null }
  | { paths: Uint8Array[] }
  | { error: unknown }
);

/** Ten trees of 100,000 leaves; each takes 0.2 s to build. */
const mostKeptBytes = 68 * 1024 * 1024;

const keccak = await loadKeccak();
const keptTrees = createKeptTrees(mostKeptBytes);
/** Imported from its own file: the whole package would take another 25 MB in each thread. */
const secp256k1 = await instantiateSecp256k1(randomBytes(32));

parentPort?.on('message', (order: Order) => {
  parentPort?.postMessage(answer(order));
});

function answer(order: Order): Answer {
  const { id } = order;
  try {
    if ('build' in order) return { id, built: build(order.build) };
    if ('path' in order) return { id, path: pathOf(order.path) };
    if ('keptPath' in order) {
      const { tree, leaf } = order.keptPath;
      return { id, keptPath: keptTrees.find(tree)?.path(leaf) ?? null };
    }
    const tree = buildTree(order.paths.leaves, keccak);
    return { id, paths: order.paths.wanted.map((leaf) => tree.path(leaf)) };
  } catch (error) {
    return { id, error };
  } finally {
    if ('build' in order) order.build.privateKeys.fill(0);
  }
}

function pathOf({ leaves, leaf, keepAs }: PathOrder): Uint8Array {
  const tree = buildTree(leaves, keccak);
  if (keepAs !== undefined) keptTrees.keep(keepAs, tree);
  return tree.path(leaf);
}

function build({ vaults, leaves, privateKeys }: BatchOrder): BatchAnswer {
  const keyOf = (place: number) => privateKeys.subarray(place * 32, (place + 1) * 32);
  const unfit = [...vaults.keys()].filter((place) => addressOf(keyOf(place)) !== vaults[place]?.address);
  if (unfit.length > 0) return { unfit };

  let start = 0;
  const batch = buildBatch(
    vaults.map(({ address, leaves: count }) => {
      const mine = leaves.subarray(start * hashBytes, (start + count) * hashBytes);
      start += count;
      return { vault: address, leaves: mine };
    }),
    keccak,
  );
  const roots = new Uint8Array(vaults.length * hashBytes);
  const signatures = new Uint8Array(vaults.length * 65);
  const upper = vaults.map((_, place) => {
    const { path, depth } = batch.path(place, 0);
    return path.subarray(depth * hashBytes);
  });
  for (const [place, { vault, root, leaves }] of batch.subtrees.entries()) {
    const sequence = vaults[place]?.sequence ?? 0;
    const digest = sealDigest({ vault, subtreeRoot: toHex(root), leaves, sequence }, keccak);
    roots.set(root, place * hashBytes);
    signatures.set(sign(keyOf(place), digest), place * 65);
  }
  const upperPaths = new Uint8Array(upper.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const path of upper) {
    upperPaths.set(path, at);
    at += path.length;
  }
  const upperLengths = upper.map(({ length }) => length / hashBytes);
  return { unfit: [], root: batch.root, roots, signatures, upperPaths, upperLengths };
}

function addressOf(privateKey: Uint8Array): string | null {
  const publicKey = secp256k1.derivePublicKeyUncompressed(privateKey);
  // A string is an error message about the key.
  if (typeof publicKey === 'string') return null;
  return toHex(keccak(publicKey.subarray(1)).subarray(12));
}

function sign(privateKey: Uint8Array, digest: Uint8Array): Uint8Array {
  const signed = secp256k1.signMessageHashRecoverableCompact(privateKey, digest);
  if (typeof signed === 'string') throw new Error(signed);
  const signature = signatureOf(signed.signature, signed.recoveryId);
  const fault = signatureFault(signature);
  if (fault !== null) throw new Error(`a seal is unusable: ${fault}`);
  return fromHex(signature);
}
