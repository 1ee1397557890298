/**
 * The seal: a vault's EIP-712 signature over the root of its subtree, once per batch. Its id is a node of the tree beside
 * that root, so that nobody who gets the vault's key later can add a seal to what was anchored before.
 */
import type { Hex } from 'viem';
import { fromHex, toHex, writeHex } from './hex.ts';
import { type Keccak, plainKeccak } from './keccak.ts';
import { addressOf } from './secp256k1.ts';

export interface SealFields {
  vault: string;
  subtreeRoot: Hex;
  /** Number of leaves in the subtree; a uint32. */
  leaves: number;
  /**
   * A uint64 that rises with the vault's seals: an epoch in the high 32 bits, a count in the low. Two roots with the same
   * number prove that the vault contradicted itself.
   */
  sequence: bigint | string;
  /** The id of the vault's seal before this one; zeros for its first. */
  previousSeal: Hex;
}

/** No chain and no contract: the vault's statement is independent of where it is anchored. */
export const sealDomain = { name: 'Holdfast', version: '1' } as const;

export const sealTypes = {
  Seal: [
    { name: 'vault', type: 'address' },
    { name: 'subtreeRoot', type: 'bytes32' },
    { name: 'leaves', type: 'uint32' },
    { name: 'sequence', type: 'uint64' },
    { name: 'previousSeal', type: 'bytes32' },
  ],
} as const;

const sealTypeText =
  'Seal(address vault,bytes32 subtreeRoot,uint32 leaves,uint64 sequence,bytes32 previousSeal)';
const sealIdDomain = 'holdfast/seal@1';

export type SealTypedData = ReturnType<typeof sealTypedData>;

/** The argument of a signer's signTypedData. */
export function sealTypedData({ vault, subtreeRoot, leaves, sequence, previousSeal }: SealFields) {
  return {
    domain: sealDomain,
    types: sealTypes,
    primaryType: 'Seal',
    message: {
      vault: vault.toLowerCase() as Hex,
      subtreeRoot,
      leaves,
      sequence: BigInt(sequence),
      previousSeal,
    },
  } as const;
}

/** The 32 bytes to sign, for a signer that takes a digest. */
export function sealDigest(fields: SealFields, keccak: Keccak = plainKeccak): Uint8Array {
  const struct = new Uint8Array(6 * 32);
  struct.set(keccak(utf8.encode(sealTypeText)));
  writeHex(fields.vault, struct, 32 + 12);
  writeHex(fields.subtreeRoot, struct, 64);
  writeNumbers(fields, struct, 3);
  writeHex(fields.previousSeal, struct, 5 * 32);

  const domain = new Uint8Array(3 * 32);
  domain.set(keccak(utf8.encode('EIP712Domain(string name,string version)')));
  domain.set(keccak(utf8.encode(sealDomain.name)), 32);
  domain.set(keccak(utf8.encode(sealDomain.version)), 64);

  const signed = new Uint8Array(2 + 32 + 32);
  signed.set([0x19, 0x01]);
  signed.set(keccak(domain), 2);
  signed.set(keccak(struct), 34);
  return keccak(signed);
}

/** Bound to the signature too: `abi.encode` of seven words, hashed twice as a leaf is. */
export function sealId(fields: SealFields, signature: Hex, keccak: Keccak = plainKeccak): Uint8Array {
  const words = new Uint8Array(7 * 32);
  words.set(keccak(utf8.encode(sealIdDomain)));
  writeHex(fields.subtreeRoot, words, 32);
  writeHex(fields.vault, words, 2 * 32 + 12);
  writeNumbers(fields, words, 3);
  writeHex(fields.previousSeal, words, 5 * 32);
  words.set(keccak(fromHex(signature)), 6 * 32);
  return keccak(keccak(words));
}

/** Writes `leaves` and `sequence` as two words, from this one on. */
function writeNumbers(fields: SealFields, words: Uint8Array, at: number): void {
  const { vault, subtreeRoot, leaves, sequence, previousSeal } = fields;
  if (vault.length !== 42 || subtreeRoot.length !== 66 || previousSeal.length !== 66) {
    throw new Error('a seal names an address, a root and the seal before');
  }
  if (leaves !== leaves >>> 0 || BigInt.asUintN(64, BigInt(sequence)) !== BigInt(sequence)) {
    // They would be truncated, so that a different seal would be signed.
    throw new Error('the numbers of a seal do not fit their types');
  }
  const view = new DataView(words.buffer);
  view.setUint32((at + 1) * 32 - 4, leaves);
  view.setBigUint64((at + 2) * 32 - 8, BigInt(sequence));
}

/** Has a seal signed and checks the form of the signature, so that no batch carries one that a verifier would refuse. */
export async function signSeal(
  fields: SealFields,
  sign: (typedData: SealTypedData) => Promise<Hex>,
): Promise<Hex> {
  const signature = (await sign(sealTypedData(fields))).toLowerCase() as Hex;
  const fault = signatureFault(signature);
  if (fault !== null) throw new Error(`the signature of ${fields.vault} is unusable: ${fault}`);
  return signature;
}

/** For signers that return r and s in 64 bytes and the recovery id separately. */
export function signatureOf(compact: Uint8Array, recoveryId: number): Hex {
  const bytes = new Uint8Array(65);
  bytes.set(compact);
  bytes[64] = 27 + recoveryId;
  return toHex(bytes);
}

/** Why a signature is refused before the signer is recovered, or null when its form is right. */
export function signatureFault(signature: Hex): string | null {
  if (!/^0x[0-9a-f]{130}$/.test(signature)) return 'it is not 65 bytes in lower-case hex';
  const v = fromHex(signature)[64];
  if (v !== 27 && v !== 28) return `v is ${v}, not 27 or 28`;
  // (r, n - s) with the other v recovers the same signer: without this rule anyone could make a second signature.
  if (BigInt(`0x${signature.slice(66, 130)}`) > halfOrder) return 's is in the upper half of the order';
  return null;
}

/** The lower-case address whose key signed; null when no key can have made the signature. */
export function recoverSigner(fields: SealFields, signature: Hex): Hex | null {
  return addressOf(sealDigest(fields), fromHex(signature));
}

/** Half of the order of secp256k1, rounded down. */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const utf8 = new TextEncoder();
