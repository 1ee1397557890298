/** The code by which two people make sure that they speak of the same passkey. */
import { createHash } from 'node:crypto';

/** Short enough to be read aloud; made from what the API does not show before the confirmation. */
export function codeOf(credentialId: Buffer): string {
  const hex = createHash('sha256').update(credentialId).digest('hex').slice(0, 8).toUpperCase();
  return `${hex.slice(0, 4)}-${hex.slice(4)}`;
}
