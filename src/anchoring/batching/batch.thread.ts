/** The thread that builds the trees of batches, seals them, and finds paths for proofs; see batch-thread.ts. */
import { randomBytes } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js';
import type { Hex } from 'viem';
import { headId } from '../../proof/head.ts';
import { fromHex, toHex, zeroHash } from '../../proof/hex.ts';
import { loadKeccak } from '../../proof/keccak.ts';
import { buildTree, hashBytes } from '../../proof/merkle.ts';
import { sealDigest, sealId, signatureFault, signatureOf } from '../../proof/seal.ts';
import { buildSubtrees, buildTop } from './batch.ts';
import { createKeptTrees } from './kept-trees.ts';

/** One buffer per field for all vaults together, because many small buffers take long to transfer. */
export interface BatchOrder {
  vaults: { address: string; sequence: bigint; previousSeal: Hex; leaves: number }[];
  /** 32 bytes each, vault by vault. */
  leaves: Uint8Array;
  /** 32 bytes per vault; erased here after use. */
  privateKeys: Uint8Array;
  /** Leaves of the evidence that the head covers, 32 bytes each; may be empty. */
  evidence: Uint8Array;
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
      /** 32 bytes each. */
      sealIds: Uint8Array;
      /** The paths from each sealed subtree to the batch's root, concatenated, and the number of hashes in each. */
      upperPaths: Uint8Array;
      upperLengths: number[];
      evidenceRoot: Uint8Array;
      headPath: Uint8Array;
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

function build({ vaults, leaves, privateKeys, evidence }: BatchOrder): BatchAnswer {
  const keyOf = (place: number) => privateKeys.subarray(place * 32, (place + 1) * 32);
  const unfit = [...vaults.keys()].filter((place) => addressOf(keyOf(place)) !== vaults[place]?.address);
  if (unfit.length > 0) return { unfit };

  let start = 0;
  const subtrees = buildSubtrees(
    vaults.map(({ address, leaves: count }) => {
      const mine = leaves.subarray(start * hashBytes, (start + count) * hashBytes);
      start += count;
      return { vault: address, leaves: mine };
    }),
    keccak,
  );
  const roots = new Uint8Array(vaults.length * hashBytes);
  const signatures = new Uint8Array(vaults.length * 65);
  const sealIds = new Uint8Array(vaults.length * hashBytes);
  for (const [place, { vault, root, size }] of subtrees.entries()) {
    const { sequence = 0n, previousSeal = zeroHash } = vaults[place] ?? {};
    const fields = { vault, subtreeRoot: toHex(root), leaves: size, sequence, previousSeal };
    const signature = sign(keyOf(place), sealDigest(fields, keccak));
    roots.set(root, place * hashBytes);
    signatures.set(fromHex(signature), place * 65);
    sealIds.set(sealId(fields, signature, keccak), place * hashBytes);
  }
  const evidenceRoot = evidence.length === 0 ? new Uint8Array(hashBytes) : buildTree(evidence, keccak).root;
  const head = headId({ evidenceRoot: toHex(evidenceRoot), logHead: zeroHash }, keccak);
  const { root, upperPaths, headPath } = buildTop({ roots, sealIds, headId: head }, keccak);
  const upperLengths = upperPaths.map(({ length }) => length / hashBytes);
  return {
    ...{ unfit: [], root, roots, signatures, sealIds, upperPaths: concat(upperPaths), upperLengths },
    ...{ evidenceRoot, headPath },
  };
}

function concat(pieces: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function addressOf(privateKey: Uint8Array): string | null {
  const publicKey = secp256k1.derivePublicKeyUncompressed(privateKey);
  // A string is an error message about the key.
  if (typeof publicKey === 'string') return null;
  return toHex(keccak(publicKey.subarray(1)).subarray(12));
}

function sign(privateKey: Uint8Array, digest: Uint8Array): Hex {
  const signed = secp256k1.signMessageHashRecoverableCompact(privateKey, digest);
  if (typeof signed === 'string') throw new Error(signed);
  const signature = signatureOf(signed.signature, signed.recoveryId);
  const fault = signatureFault(signature);
  if (fault !== null) throw new Error(`a seal is unusable: ${fault}`);
  return signature;
}
