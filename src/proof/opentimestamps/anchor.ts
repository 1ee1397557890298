/** The anchor `opentimestamps` of a proof document: its shape, and the file in it. */
import type { Hex } from 'viem';
import { type Check, eachOf, exactly, hexOf, integerUpTo, objectOf } from '../json-shape.ts';
import { headerBytes } from './bitcoin-header.ts';
import { maxFileBytes, maxNumber } from './encoding.ts';

export interface OpenTimestampsAnchor {
  type: 'opentimestamps';
  /** A detached `.ots` file in base64, for the SHA-256 of the 32 bytes of the batch root. */
  proof: string;
  /** Headers of the blocks that the file names, so that a verifier needs to know no more than their hashes. */
  headers: { height: number; header: Hex }[];
}

const maxHeaders = 16;

/** Without this rule on the last digit, the same bytes could be written in several ways. */
const base64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$/;

const checkFile: Check = (value, path) => {
  const isBase64 =
    typeof value === 'string' && value.length <= 4 * Math.ceil(maxFileBytes / 3) && base64.test(value);
  return isBase64 ? [] : [{ path, message: `is not 1 to ${maxFileBytes} bytes in base64` }];
};

const checkShape = objectOf({
  type: exactly('opentimestamps'),
  proof: checkFile,
  headers: eachOf(objectOf({ height: integerUpTo(maxNumber), header: hexOf(headerBytes) }), {
    max: maxHeaders,
  }),
});

export const checkOpenTimestampsAnchor: Check = (value, path) => {
  const faults = checkShape(value, path);
  if (faults.length > 0) return faults;
  const { headers } = value as OpenTimestampsAnchor;
  return headers.flatMap(({ height }, place) =>
    headers.findIndex((header) => header.height === height) === place
      ? []
      : [{ path: `${path === '' ? '' : `${path}.`}headers[${place}].height`, message: 'occurs twice' }],
  );
};

/** Only for an anchor of the right shape. */
export function fileIn({ proof }: OpenTimestampsAnchor): Uint8Array {
  return Uint8Array.from(atob(proof), (character) => character.charCodeAt(0));
}
