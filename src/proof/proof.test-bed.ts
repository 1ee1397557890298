/** Makes proofs with fixed keys, and a chain in memory that holds their anchors. */
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { buildBatch } from '../anchoring/batching/batch.ts';
import type { AnchorTransaction, BlockHeader, ChainReader, Registry, StoredAnchor } from './chain-reader.ts';
import { type Canonicalization, contentDigest } from './content.ts';
import { toHex, zeroHash } from './hex.ts';
import { plainKeccak } from './keccak.ts';
import { claimsHash, leafHash, leafTypes, leafValues } from './leaf.ts';
import { hashBytes } from './merkle.ts';
import { type EvmAnchor, type Proof, proofFormat } from './proof.ts';
import { signSeal } from './seal.ts';

export const utf8 = (text: string) => new TextEncoder().encode(text);

/** 32 bytes that say by themselves that they are not random. */
export const fixed = (byte: number): Hex => `0x${byte.toString(16).padStart(2, '0').repeat(32)}`;

export const registry: Registry = { address: `0x${'a7'.repeat(20)}`, codeHash: fixed(0xc0) };
export const submitter: Hex = `0x${'5e'.repeat(20)}`;

export interface Thing {
  kind: string;
  id: string;
  content: Uint8Array;
  canonicalization: Canonicalization;
  salt?: Hex;
  version?: number;
  previousLeaf?: Hex;
  claims?: Record<string, unknown>;
  /** Private key of its vault. */
  key: Hex;
}

export interface Made {
  proof: Proof;
  leaf: Hex;
}

export interface BatchPlace {
  sequence: number;
  chainId: number;
  blockNumber: number;
  blockTime: number;
}

/** One batch: things of one key share a subtree, vaults in the order in which they first come. */
export async function makeProofs(things: Thing[], place: BatchPlace): Promise<Made[]> {
  const made = await Promise.all(things.map(makeLeaf));
  const keys = [...new Set(things.map(({ key }) => key))];
  const vaults = keys.map((key) => {
    const mine = made.filter((_, at) => things[at]?.key === key);
    const leaves = new Uint8Array(mine.length * hashBytes);
    mine.forEach(({ leaf }, at) => {
      leaves.set(leaf, at * hashBytes);
    });
    return { vault: privateKeyToAccount(key).address.toLowerCase(), leaves, mine };
  });
  const batch = buildBatch(vaults, plainKeccak);
  const seals = await Promise.all(
    batch.subtrees.map(async ({ vault, root, leaves }, at) => {
      const fields = { vault: vault as Hex, subtreeRoot: toHex(root), leaves, sequence: place.sequence };
      const account = privateKeyToAccount(keys[at] as Hex);
      return {
        ...fields,
        signature: await signSeal(fields, (typedData) => account.signTypedData(typedData)),
      };
    }),
  );
  const anchor: EvmAnchor = {
    type: 'evm',
    chainId: place.chainId,
    contract: registry.address as Hex,
    submitter,
    transactionHash: toHex(plainKeccak(batch.root)),
    blockNumber: place.blockNumber,
    blockHash: toHex(plainKeccak(utf8(`block ${place.blockNumber}`))),
    blockTime: place.blockTime,
  };
  return made.map(({ leaf, parts }, at) => {
    const vault = keys.indexOf(things[at]?.key as Hex);
    const seal = seals[vault];
    if (!seal) throw new Error('no seal');
    const { path, depth } = batch.path(vault, vaults[vault]?.mine.indexOf(made[at] as never) ?? -1);
    const steps = Array.from({ length: path.length / hashBytes }, (_, step) =>
      toHex(path.subarray(step * hashBytes, (step + 1) * hashBytes)),
    );
    const { vault: address, subtreeRoot, leaves, sequence, signature } = seal;
    return {
      leaf: toHex(leaf),
      proof: {
        format: proofFormat,
        ...parts,
        merkle: { proof: steps, root: toHex(batch.root), size: batch.size },
        seal: { vault: address, subtreeRoot, depth, leaves, sequence, signature },
        anchors: [anchor],
      },
    };
  });
}

async function makeLeaf(thing: Thing) {
  const { kind, id, canonicalization, salt = null, version = 1, previousLeaf = zeroHash, key } = thing;
  const subject = { workspaceId: 'ws_01M7EG10J2M7YBHBFEBJ52FMP4', id };
  const digest = await contentDigest({ canonicalization, salt }, thing.content);
  const claims = { salt: fixed(0x5a), ...thing.claims };
  const vault = privateKeyToAccount(key).address.toLowerCase();
  const fields = { kind, digest, subject, version, previousLeaf, vault, claimsHash: claimsHash(claims) };
  const values = leafValues(fields);
  const content = { algorithm: 'sha-256' as const, digest, canonicalization, salt };
  return {
    leaf: leafHash(values),
    parts: { kind, subject, content, claims, leaf: { types: leafTypes, values } },
  };
}

/** What a chain knows; tests change it to lie, fork or fall silent. */
export interface ChainFacts {
  chainId: number;
  embedded: boolean;
  /** By address. */
  codeHashes: Record<string, Hex>;
  /** By registry, submitter and root, joined with a slash. */
  anchors: Record<string, StoredAnchor>;
  /** By hash. */
  transactions: Record<string, AnchorTransaction>;
  /** By number. */
  blocks: Record<string, BlockHeader>;
  head: number;
  finalized: number;
}

export function factsOf({ merkle, anchors: [anchor] }: Proof): ChainFacts {
  const { chainId, contract, submitter, transactionHash, blockNumber, blockHash, blockTime } =
    anchor as EvmAnchor;
  const { root, size } = merkle;
  return {
    chainId,
    embedded: false,
    codeHashes: { [registry.address]: registry.codeHash as Hex },
    anchors: { [`${contract}/${submitter}/${root}`]: { time: blockTime, size } },
    transactions: {
      [transactionHash]: {
        succeeded: true,
        blockNumber,
        blockHash,
        anchored: [{ registry: contract, submitter, root, size }],
      },
    },
    blocks: { [blockNumber]: { number: blockNumber, hash: blockHash, time: blockTime } },
    head: blockNumber + 100,
    finalized: blockNumber + 36,
  };
}

export function memoryChain(facts: ChainFacts): ChainReader {
  return {
    chainId: async () => facts.chainId,
    isEmbedded: async () => facts.embedded,
    codeHash: async (address) => facts.codeHashes[address] ?? null,
    storedAnchor: async ({ registry, submitter, root }) =>
      facts.anchors[`${registry}/${submitter}/${root}`] ?? null,
    transaction: async (hash) => facts.transactions[hash] ?? null,
    block: async (number) => facts.blocks[number] ?? null,
    finality: async () => ({ head: facts.head, finalized: facts.finalized }),
  };
}
