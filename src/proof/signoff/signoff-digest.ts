/** The 32 bytes that a worker signs: EIP-712 typed data without chain and contract. A passkey signs them as its challenge. */
import { writeHex } from '../hex.ts';
import { plainKeccak } from '../keccak.ts';
import { sealDomain } from '../seal.ts';
import type { SignoffFields } from './signoff-document.ts';

const typeText =
  'Signoff(string workspaceId,string assetId,string maintenanceId,bytes32 maintenanceHash,string role,address worker,string licenceScope,string licenceNumber,uint64 signedAt)';

export function signoffDigest(fields: SignoffFields): Uint8Array {
  const struct = new Uint8Array(10 * 32);
  const hashes = [
    typeText,
    fields.workspaceId,
    fields.assetId,
    fields.maintenanceId,
    null,
    fields.role,
    null,
    fields.licenceScope,
    fields.licenceNumber,
  ];
  for (const [word, text] of hashes.entries()) if (text !== null) struct.set(hashOf(text), word * 32);
  writeHex(fields.maintenanceHash, struct, 4 * 32);
  writeHex(fields.worker, struct, 6 * 32 + 12);
  new DataView(struct.buffer).setBigUint64(10 * 32 - 8, BigInt(fields.signedAt));

  const domain = new Uint8Array(3 * 32);
  domain.set(hashOf('EIP712Domain(string name,string version)'));
  domain.set(hashOf(sealDomain.name), 32);
  domain.set(hashOf(sealDomain.version), 64);

  const signed = new Uint8Array(2 + 32 + 32);
  signed.set([0x19, 0x01]);
  signed.set(plainKeccak(domain), 2);
  signed.set(plainKeccak(struct), 34);
  return plainKeccak(signed);
}

function hashOf(text: string): Uint8Array {
  return plainKeccak(new TextEncoder().encode(text));
}
