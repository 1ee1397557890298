/** The exchange with a timestamp authority (RFC 3161, section 2.4), and what is stored with its token afterwards. */
import { type TimestampAnchor, timestampLimits } from './anchor.ts';
import { crlNames, harmless } from './certificates.ts';
import {
  bitString,
  boolean,
  type Der,
  elementsOf,
  fieldsOf,
  inPlace,
  integer,
  listOf,
  nullTag,
  octetString,
  oidOf,
  readDer,
  readOr,
  sameBytes,
  sequence,
  smallInteger,
  TokenFault,
  writeDer,
  writeInteger,
  writeOid,
} from './der.ts';
import type { TimestampTrust } from './judge.ts';
import { findPath, findSigner } from './path.ts';
import { readTimestampAnchor } from './reading.ts';
import { readCrl } from './revocation.ts';

export interface TimestampRequest {
  /** 32 bytes: the SHA-256 of what is stamped. */
  imprint: Uint8Array;
  /** Random, not negative; comes back in the token. */
  nonce: bigint;
  /** Asks for the certificates. */
  certReq: true;
  policy?: string;
}

/** What a service stores with a token, and where it gets that. */
export interface TimestampNeeds {
  /** Whether the path reaches a trusted root. */
  isComplete: boolean;
  /** The certificates of the path that the token itself lacks, in DER. */
  certificates: Uint8Array[];
  /** For each certificate of the path, where its list of revoked ones is published. */
  crls: { name: string; urls: string[] }[];
  /** Where the next certificate of an incomplete path is published. */
  issuerUrls: string[];
}

/** An answer is little more than its token. */
const maxResponseBytes = 131_072;

/** A TimeStampReq, to be sent as application/timestamp-query. */
export function timestampRequest({ imprint, nonce, policy }: TimestampRequest): Uint8Array {
  const hash = writeDer(sequence, writeOid('2.16.840.1.101.3.4.2.1'), writeDer(nullTag));
  return writeDer(
    sequence,
    writeInteger(1n),
    writeDer(sequence, hash, writeDer(octetString, imprint)),
    policy === undefined ? [] : writeOid(policy),
    writeInteger(nonce),
    writeDer(boolean, [255]),
  );
}

/** Cuts the token out of a TimeStampResp, byte by byte as it was sent; or says why there is none. */
export function readTimestampResponse(bytes: Uint8Array): { token: Uint8Array } | { refusal: string } {
  if (bytes.length > maxResponseBytes)
    return { refusal: `The answer is larger than ${maxResponseBytes} bytes.` };
  try {
    const what = 'The answer';
    const [status, token] = fieldsOf(readDer(bytes, what), what, [sequence, [sequence]]);
    const [code, texts, failure] = fieldsOf(status, what, [integer, [sequence], [bitString]]);
    const number = smallInteger(code, 'The status of the answer');
    // Granted, or granted with changes, which the judgement of the token will find.
    if (number < 2) return token ? { token: token.bytes.slice() } : { refusal: 'The answer has no token.' };
    const words = [
      statuses[number] ?? `status ${number}`,
      ...(failure ? failuresIn(failure) : []),
      ...(texts ? elementsOf(texts).map(textOf) : []),
    ];
    return { refusal: `The authority refused: ${words.join('; ')}.` };
  } catch (error) {
    if (error instanceof TokenFault) return { refusal: error.message };
    throw error;
  }
}

/**
 * Says what to store and where to fetch it. Judges nothing: null when the anchor cannot be read, or when nobody has the
 * signer's certificate.
 */
export async function timestampNeeds(
  anchor: TimestampAnchor,
  { roots }: Pick<TimestampTrust, 'roots'>,
): Promise<TimestampNeeds | null> {
  try {
    const { token, pool } = readTimestampAnchor(anchor);
    const signer = await findSigner(token, pool);
    if (signer === undefined) return null;
    const found = await findPath(signer, { token, pool, roots });
    if (!('path' in found)) {
      const urls = 'end' in found ? issuerUrls(found.end) : [];
      return { isComplete: false, certificates: [], crls: [], issuerUrls: urls };
    }
    const { certificates } = found.path;
    const isInside = (bytes: Uint8Array) => token.certificates.some((one) => sameBytes(one.bytes, bytes));
    return {
      isComplete: true,
      certificates: certificates.map(({ bytes }) => bytes).filter((bytes) => !isInside(bytes)),
      crls: certificates.map((one) => ({ name: one.name, urls: webUrls(crlNames(one)) })),
      issuerUrls: [],
    };
  } catch (error) {
    if (error instanceof TokenFault) return null;
    throw error;
  }
}

/** Whether it can be read: an anchor with a list that cannot would fail. */
export function isStorableCrl(bytes: Uint8Array): boolean {
  return bytes.length <= timestampLimits.crlBytes && readOr(false, () => readCrl(bytes, '') !== undefined);
}

const authorityInformation = '1.3.6.1.5.5.7.1.1';
const caIssuers = '1.3.6.1.5.5.7.48.2';

function issuerUrls({ extensions }: Parameters<typeof crlNames>[0]): string[] {
  return readOr([], () => {
    const value = extensions.get(authorityInformation)?.value;
    return (value ? listOf(readDer(value, ''), '') : []).flatMap((access) => {
      const [method, location] = elementsOf(access);
      return method && location && oidOf(method) === caIssuers ? webUrls([location]) : [];
    });
  });
}

/** Those GeneralNames that are http or https URLs. */
function webUrls(names: Der[]): string[] {
  return names
    .filter(({ tag }) => tag === inPlace(6))
    .map(({ value }) => new TextDecoder().decode(value))
    .filter((url) => /^https?:\/\/[\x21-\x7e]{1,2000}$/i.test(url));
}

const statuses: Record<number, string> = {
  2: 'rejection',
  3: 'waiting',
  4: 'a revocation is imminent',
  5: 'its certificate has been revoked',
};

/** By the number of their bit. */
const failures: Record<number, string> = {
  0: 'it does not accept the hash algorithm',
  2: 'it does not support this kind of request',
  5: 'the request was malformed',
  14: 'its clock is not available',
  15: 'it does not offer the requested policy',
  16: 'it does not support a requested extension',
  17: 'additional information is not available',
  25: 'it had an internal failure',
};

function failuresIn({ value: [, ...bytes] }: Der): string[] {
  return bytes.slice(0, 8).flatMap((byte, at) => {
    const bits = [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte & (128 >> bit)).map((bit) => 8 * at + bit);
    return bits.map((bit) => failures[bit] ?? `failure ${bit}`);
  });
}

function textOf({ value }: Der): string {
  return `"${harmless(new TextDecoder().decode(value.subarray(0, 300)))}"`;
}
