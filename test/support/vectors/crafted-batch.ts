/** Batches that a vault or a submitter has made wrong on purpose: everything fits together but the one thing that was changed. */
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { buildTop } from '../../../src/anchoring/batching/batch.ts';
import { emptyHead, headId } from '../../../src/proof/head.ts';
import { fromHex, toHex, zeroHash } from '../../../src/proof/hex.ts';
import { plainKeccak } from '../../../src/proof/keccak.ts';
import { leafHash } from '../../../src/proof/leaf.ts';
import { buildTree, hashBytes } from '../../../src/proof/merkle.ts';
import { type SealFields, sealId, sealTypedData } from '../../../src/proof/seal.ts';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { anchorOf, type BlockPlace, fixed } from '../fixtures/proof-fixture.ts';

export interface Crafted {
  /** Who is said to have sealed. */
  vault?: Hex;
  /** Who signs. */
  key: Hex;
  leaves?: number;
  sequence?: string;
  /** Replaces the signature before it is put into the tree. */
  edit?: (signature: Hex) => Hex;
  /** The seal in the tree, if it is another one than the seal in the document. */
  anchored?: Hex;
  /** What is signed as the root of the subtree, if it is another one. */
  subtreeRoot?: Hex;
  /** The root of the subtree is anchored by itself, without seal and head. */
  bare?: boolean;
}

/** The leaf of `proof` between two others, sealed and anchored in this way. */
export async function craftProof(proof: Proof, place: BlockPlace, crafted: Crafted): Promise<Proof> {
  const account = privateKeyToAccount(crafted.key);
  const leaf = leafHash(proof.leaf.values);
  const subtree = buildTree(Buffer.concat([leaf, fromHex(fixed(0x01)), fromHex(fixed(0x02))]), plainKeccak);
  const lower = subtree.path(0);
  const fields: SealFields & { vault: Hex; sequence: string } = {
    vault: crafted.vault ?? (account.address.toLowerCase() as Hex),
    subtreeRoot: crafted.subtreeRoot ?? toHex(subtree.root),
    leaves: crafted.leaves ?? subtree.size,
    sequence: crafted.sequence ?? '1',
    previousSeal: zeroHash,
  };
  const signed = await account.signTypedData(sealTypedData(fields));
  const signature = crafted.edit?.(signed) ?? signed;
  const inTree = crafted.anchored ?? toHex(sealId(fields, signature));
  const top = buildTop(
    { roots: subtree.root, sealIds: fromHex(inTree), headId: headId(emptyHead) },
    plainKeccak,
  );
  const upper = crafted.bare ? [] : [inTree, ...split(top.upperPaths[0] ?? new Uint8Array())];
  const merkle = {
    proof: [...split(lower), ...upper],
    root: toHex(crafted.bare ? subtree.root : top.root),
    size: subtree.size,
  };
  return {
    ...proof,
    merkle,
    seal: { ...fields, depth: lower.length / hashBytes, signature },
    anchors: [await anchorOf(merkle, place)],
  };
}

function split(path: Uint8Array): Hex[] {
  return Array.from({ length: path.length / hashBytes }, (_, step) =>
    toHex(path.subarray(step * hashBytes, (step + 1) * hashBytes)),
  );
}

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The other signature that recovers to the same address. */
export function withHighS(signature: Hex): Hex {
  const s = order - BigInt(`0x${signature.slice(66, 130)}`);
  return withV(
    `0x${signature.slice(2, 66)}${s.toString(16).padStart(64, '0')}${signature.slice(130)}`,
    (v) => 55 - v,
  );
}

export function withV(signature: Hex, change: (v: number) => number): Hex {
  const v = change(Number.parseInt(signature.slice(130), 16));
  return `${signature.slice(0, 130)}${v.toString(16).padStart(2, '0')}` as Hex;
}
