/** The root certificates that the operator chose instead of those that ship, to name them where their word counts. */
import { readFileSync } from 'node:fs';
import { readCertificates, readTrustAnchor, type TrustAnchor } from '../../proof/rfc3161/certificates.ts';
import { pemOf } from './pem.ts';

export interface OperatorRoot {
  anchor: TrustAnchor;
  pem: string;
}

/** None without a file. Whoever stamps with them has already refused a file that cannot be used. */
export function readOperatorRoots(file: string | null): OperatorRoot[] {
  if (file === null) return [];
  return readCertificates(readFileSync(file)).map(({ bytes }) => ({
    anchor: readTrustAnchor(bytes),
    pem: pemOf(bytes),
  }));
}
