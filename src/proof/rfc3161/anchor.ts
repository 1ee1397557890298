/** The anchor `rfc3161` of a proof document: its shape, and the bytes in it. */
import { type Check, eachOf, exactly, objectOf } from '../json-shape.ts';

/** DER in base64. */
export interface TimestampAnchor {
  type: 'rfc3161';
  /** For the SHA-256 of the 32 bytes of the batch root. */
  token: string;
  /** Those that the token itself lacks. */
  certificates: string[];
  /** Lists of revoked certificates, as they were when the token was made. */
  crls: string[];
}

export const timestampLimits = {
  tokenBytes: 65_536,
  certificateBytes: 16_384,
  /** Those of the token and those beside it, together. */
  certificates: 16,
  crlBytes: 1_048_576,
  crls: 4,
};

export const checkTimestampAnchor: Check = objectOf({
  type: exactly('rfc3161'),
  token: base64UpTo(timestampLimits.tokenBytes),
  certificates: eachOf(base64UpTo(timestampLimits.certificateBytes), { max: timestampLimits.certificates }),
  crls: eachOf(base64UpTo(timestampLimits.crlBytes), { max: timestampLimits.crls }),
});

/** Only for an anchor of the right shape. */
export function tokenIn({ token }: TimestampAnchor): Uint8Array {
  return fromBase64(token) ?? new Uint8Array();
}

/** Standard base64 with padding, in the one form in which these bytes can be written; undefined for anything else. */
export function fromBase64(text: string): Uint8Array | undefined {
  let binary = '';
  try {
    binary = atob(text);
  } catch {
    return undefined;
  }
  if (btoa(binary) !== text) return undefined;
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

function base64UpTo(maxBytes: number): Check {
  return (value, path) => {
    const isShort = typeof value === 'string' && value.length <= 4 * Math.ceil(maxBytes / 3);
    const { length } = (isShort && fromBase64(value)) || '';
    return length > 0 && length <= maxBytes
      ? []
      : [{ path, message: `is not 1 to ${maxBytes} bytes in base64` }];
  };
}
