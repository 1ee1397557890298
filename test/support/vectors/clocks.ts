/** Timestamp tokens and OpenTimestamps files about a given root, and whom one has to trust for them. */
import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import type { OpenTimestampsAnchor } from '../../../src/proof/opentimestamps/anchor.ts';
import type { TimestampAnchor } from '../../../src/proof/rfc3161/anchor.ts';
import { type MadeBlock, makeBlock, putIntoBlock } from '../opentimestamps/bitcoin-block.ts';
import {
  append,
  bitcoinAttestation,
  detachedFile,
  hashed,
  prepend,
  sha256,
  startTrail,
} from '../opentimestamps/trails.ts';
import {
  type AuthorityOptions,
  createTestAuthority,
  pem,
  type TestAuthority,
} from '../timestamps/test-authority.ts';
import type { TokenOptions } from '../timestamps/test-token.ts';

/** What tokens and files are about: the SHA-256 of the root's bytes. */
export function imprintOf(root: Hex): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytesOf(root)).digest());
}

export function bytesOf(hex: Hex): Uint8Array {
  return new Uint8Array(Buffer.from(hex.slice(2), 'hex'));
}

export interface Stamp {
  authority: TestAuthority;
  anchor: TimestampAnchor;
  token: Uint8Array;
  /** The root certificate, in PEM. */
  root: string;
}

/** A token of this time; its signer's certificate ends ten years later. */
export function stampRoot(
  root: Hex,
  {
    at,
    token: changes = {},
    crls,
    ...options
  }: AuthorityOptions & {
    at: string;
    token?: Partial<TokenOptions>;
    crls?: (authority: TestAuthority) => Uint8Array[];
  },
): Stamp {
  const authority = createTestAuthority({ around: Date.parse(at), ...options });
  const token = authority.stamp({ imprint: imprintOf(root), ...changes });
  return {
    ...{ authority, token, root: pem(authority.root.certificate) },
    anchor: authority.anchor(token, { crls: crls?.(authority) ?? [] }),
  };
}

export interface BitcoinProof {
  imprint: Uint8Array;
  /** The operations from the imprint to the block's Merkle root. */
  operations: Buffer[];
  file: Buffer;
  block: MadeBlock;
  anchor: OpenTimestampsAnchor;
  trusted: { height: number; hash: Hex };
}

/** A file with nothing but the way through a calendar to one block. */
export function commitRoot(root: Hex, { height, at }: { height: number; at: string }): BitcoinProof {
  const imprint = imprintOf(root);
  const nonced = hashed(append(startTrail(imprint), Buffer.alloc(16, height)));
  const calendar = append(
    prepend(hashed(append(nonced, sha256(Buffer.from('neighbour')))), Buffer.alloc(4, 1)),
    Buffer.alloc(8, 2),
  );
  const { message, operations } = putIntoBlock(calendar);
  const block = makeBlock({ height, time: Date.parse(at), merkleRoot: message });
  const [own = []] = operations;
  const file = detachedFile(imprint, ...own, bitcoinAttestation(height));
  return {
    ...{ imprint, operations: own, file, block, trusted: { height, hash: block.hash } },
    anchor: openTimestamps(file, block),
  };
}

export function openTimestamps(file: Uint8Array, ...blocks: MadeBlock[]): OpenTimestampsAnchor {
  return {
    type: 'opentimestamps',
    proof: Buffer.from(file).toString('base64'),
    headers: blocks.map(({ height, header }) => ({ height, header })),
  };
}
