/** The seal: a vault's EIP-712 signature over the root of its subtree, once per batch. */
import type { Hex } from 'viem';
import { recoverAddress } from 'viem/utils';
import { fromHex, toHex, writeHex } from './hex.ts';
import { type Keccak, plainKeccak } from './keccak.ts';

export interface SealFields {
  vault: string;
  subtreeRoot: Hex;
  /** Number of leaves in the subtree; a uint32. */
  leaves: number;
  /** Counts the vault's seals; two roots with the same number prove that the vault contradicted itself. A uint64. */
  sequence: number | bigint;
}

/** No chain and no contract: the vault's statement is independent of where it is anchored. */
export const sealDomain = { name: 'Holdfast', version: '1' } as const;

export const sealTypes = {
  Seal: [
    { name: 'vault', type: 'address' },
    { name: 'subtreeRoot', type: 'bytes32' },
    { name: 'leaves', type: 'uint32' },
    { name: 'sequence', type: 'uint64' },
  ],
} as const;

export type SealTypedData = ReturnType<typeof sealTypedData>;

/** The argument of a signer's signTypedData. */
export function sealTypedData({ vault, subtreeRoot, leaves, sequence }: SealFields) {
  return {
    domain: sealDomain,
    types: sealTypes,
    primaryType: 'Seal',
    message: { vault: vault.toLowerCase() as Hex, subtreeRoot, leaves, sequence: BigInt(sequence) },
  } as const;
}

/** The 32 bytes to sign, for a signer that takes a digest. */
export function sealDigest(fields: SealFields, keccak: Keccak = plainKeccak): Uint8Array {
  const { vault, subtreeRoot, leaves, sequence } = fields;
  if (vault.length !== 42 || subtreeRoot.length !== 66) throw new Error('a seal names an address and a root');
  if (leaves !== leaves >>> 0 || BigInt.asUintN(64, BigInt(sequence)) !== BigInt(sequence)) {
    // They would be truncated below, so that a different seal would be signed.
    throw new Error('the numbers of a seal do not fit their types');
  }
  const struct = new Uint8Array(5 * 32);
  struct.set(keccak(utf8.encode('Seal(address vault,bytes32 subtreeRoot,uint32 leaves,uint64 sequence)')));
  writeHex(vault, struct, 32 + 12);
  writeHex(subtreeRoot, struct, 64);
  const view = new DataView(struct.buffer);
  view.setUint32(4 * 32 - 4, leaves);
  view.setBigUint64(5 * 32 - 8, BigInt(sequence));

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

/** The lower-case address whose key signed; null when no address can be recovered. */
export async function recoverSigner(fields: SealFields, signature: Hex): Promise<Hex | null> {
  try {
    const address = await recoverAddress({ hash: toHex(sealDigest(fields)), signature });
    return address.toLowerCase() as Hex;
  } catch {
    return null;
  }
}

/** Half of the order of secp256k1, rounded down. */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const utf8 = new TextEncoder();
