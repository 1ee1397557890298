/** Whether the signature of a sign-off is its worker's: by their key, or by a passkey. Pure, and safe in browsers. */
import type { Hex } from 'viem';
import { fromHex } from '../hex.ts';
import { signatureFault } from '../seal.ts';
import { addressOf } from '../secp256k1.ts';
import { assertionFault } from './assertion.ts';
import { signoffDigest } from './signoff-digest.ts';
import { fieldsOf, type SignoffDocument, type SignoffFields } from './signoff-document.ts';

/** Why this is not the signature of the worker's key over these fields, or null. */
export function keySignatureFault(fields: SignoffFields, signature: string): string | null {
  const given = signature.toLowerCase() as Hex;
  const form = signatureFault(given);
  if (form !== null) return form;
  const signer = addressOf(signoffDigest(fields), fromHex(given));
  if (signer === null) return 'no signer can be recovered from it';
  if (signer === fields.worker.toLowerCase()) return null;
  return `it was made by ${signer}, or over other data`;
}

/** Why the signature in the document does not hold, or null. Whose passkey it was is in the document that registered it. */
export async function documentSignatureFault(document: SignoffDocument): Promise<string | null> {
  const { signedWith, signature } = document;
  if (signedWith?.method !== 'passkey') return keySignatureFault(fieldsOf(document), signature);
  const fault = await assertionFault({ ...signedWith, signature }, signoffDigest(fieldsOf(document)));
  return fault && `the assertion ${fault.message}`;
}
