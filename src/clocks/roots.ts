/** The roots that the tokens of authorities must lead to: those that ship, or those of the operator's file. */
import { readFileSync } from 'node:fs';
import { readTrustAnchors } from '../proof/rfc3161/certificates.ts';
import { shippedRoots } from '../proof/rfc3161/shipped-roots.ts';
import { OperatorError } from '../runtime/errors.ts';
import type { Roots } from './authority.ts';

/** Throws an OperatorError when the file cannot be used. */
export function readRoots(file: string | null): Roots {
  if (file === null) return { anchors: shippedRoots, file };
  try {
    return { anchors: readTrustAnchors(readFileSync(file)), file };
  } catch (error) {
    throw new OperatorError(
      `The root certificates in ${file} cannot be used: ${(error as Error).message} Give a file with certificates in PEM.`,
      { cause: error },
    );
  }
}
