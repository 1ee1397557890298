/** The anchor `opentimestamps` of a proof document: its shape, and the file in it. */
import type { Hex } from 'viem';
import { type Check, eachOf, exactly, hexOf, integerUpTo, objectOf } from '../json-shape.ts';
import { fromBase64 } from '../rfc3161/anchor.ts';
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

const checkFile: Check = (value, path) => {
  const isBase64 =
    typeof value === 'string' && value.length <= 4 * Math.ceil(maxFileBytes / 3) && fromBase64(value)?.length;
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
  return fromBase64(proof) ?? new Uint8Array();
}
