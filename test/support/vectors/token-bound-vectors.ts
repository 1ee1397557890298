/** Tokens, certificates and lists that are as large, or as many, as they may be, and those that are one too much. */
import { type Bytes, element, nullValue, octets } from '../timestamps/der-writer.ts';
import type { TestAuthority } from '../timestamps/test-authority.ts';
import { extension, makeCertificate, nameOf } from '../timestamps/test-certificates.ts';
import { testKey } from '../timestamps/test-keys.ts';
import { attribute } from '../timestamps/test-token.ts';
import type { BaseThing } from './base-batches.ts';
import { rsaKeyRows } from './rsa-key-rows.ts';
import { tokenDetailRows } from './token-detail-rows.ts';
import { tokenLoadRows } from './token-load-rows.ts';
import { tokenRangeRows } from './token-range-rows.ts';
import { tokenRevocationRows } from './token-revocation-rows.ts';
import { tokenRoomRows } from './token-room-rows.ts';
import { tokenRuleRows } from './token-rule-rows.ts';
import { tokenSurplusRows } from './token-surplus-rows.ts';
import { tokenTagRows } from './token-tag-rows.ts';
import { tokenTimeRows, tokenValidityRows } from './token-time-rows.ts';
import { fails, holds, type TokenCase, type TokenRow, tokenVector } from './token-vector.ts';
import { malformed, type NamedVector } from './vector.ts';

const genMs = Date.parse('2025-06-15T12:00:00Z');
const filling = (bytes: number) => new Uint8Array(Math.max(bytes, 0));
const many = (count: number, bytes: Bytes) => Array.from({ length: count }, () => bytes);

/** A token of this size. Signatures by RSA have always the same. */
const tokenOf = (size: number): TokenCase => ({
  authority: { kind: 'rsa' },
  token: ({ stamp }) => {
    const filled = (bytes: number) => ({
      unsignedAttributes: [attribute('1.2.3', octets(filling(bytes)))],
    });
    return filled(60_000 + size - stamp(filled(60_000)).length);
  },
});

/** A certificate that is not needed. */
const certificateOf = (size: number) =>
  sized(size, (bytes) =>
    makeCertificate({
      ...{ subject: nameOf('Large'), issuer: nameOf('Test Root'), notBefore: genMs, notAfter: genMs },
      ...{ key: testKey('p256', 'large'), signedBy: testKey('p256', 'root') },
      extensions: [extension('1.2.3.4', octets(filling(bytes)))],
    }),
  );
const besideOf = (size: number): TokenCase => ({ certificates: () => [certificateOf(size)] });
const insideOf = (size: number): TokenCase => ({
  token: ({ signer, intermediate }) => ({
    certificates: [signer.certificate, intermediate.certificate, certificateOf(size)],
  }),
});

/** A list about nothing that is in the path. */
const listOf = (size: number): TokenCase => ({
  crls: ({ crl }) => [
    sized(size, (bytes) => crl('root', { extensions: [extension('1.2.3.4', octets(filling(bytes)))] })),
  ],
});

/** The list itself, what is signed, version, algorithm (two), issuer, two times, algorithm (two), signature. */
const besideTheName = 11;
/** A list with this many elements, because the name of its issuer is a long list of nothing. */
const elementsOf = (count: number): TokenCase => ({
  crls: ({ crl }) => {
    const name = element(0x30, Buffer.concat(many(count - besideTheName, nullValue)));
    return [crl('root', { issuer: name, extensions: [] })];
  },
});

const rows: TokenRow[] = [
  ['token-of-65536-bytes', 'A token of 65,536 bytes.', holds, tokenOf(65_536)],
  ['certificate-of-16384-bytes', 'A certificate of 16,384 bytes beside the token.', holds, besideOf(16_384)],
  [
    'certificate-of-16384-bytes-in-the-token',
    'A certificate of 16,384 bytes in the token.',
    holds,
    insideOf(16_384),
  ],
  [
    'certificate-of-16385-bytes-in-the-token',
    'A certificate of 16,385 bytes in the token.',
    fails,
    insideOf(16_385),
  ],
  [
    'certificates-16',
    'Sixteen certificates, of which two are in the token.',
    holds,
    { certificates: ({ root }: TestAuthority) => many(14, root.certificate) },
  ],
  ['lists-4', 'Four lists of revoked certificates.', holds, { crls: ({ crl }) => many(4, crl('root')) }],
  ['list-of-1048576-bytes', 'A list of 1,048,576 bytes.', holds, listOf(1_048_576)],
  ['der-262144-elements', 'A list with 2^18 elements.', holds, elementsOf(2 ** 18)],
  ['der-262145-elements', 'A list with one element more than 2^18.', fails, elementsOf(2 ** 18 + 1)],
  ...rsaKeyRows,
  ...tokenRuleRows,
  ...tokenRoomRows,
  ...tokenSurplusRows,
  ...tokenDetailRows,
  ...tokenLoadRows,
  ...tokenTagRows,
  ...tokenTimeRows,
  ...tokenValidityRows,
  ...tokenRangeRows,
  ...tokenRevocationRows,
];

/** The document is refused before the token is looked at. */
const refused: TokenRow[] = [
  ['token-of-65537-bytes', 'A token of 65,537 bytes.', fails, tokenOf(65_537)],
  ['certificate-of-16385-bytes', 'A certificate of 16,385 bytes beside the token.', fails, besideOf(16_385)],
  ['list-of-1048577-bytes', 'A list of 1,048,577 bytes.', fails, listOf(1_048_577)],
  ['certificate-empty', 'A certificate of no bytes.', fails, { certificates: () => [filling(0)] }],
  ['list-empty', 'A list of no bytes.', fails, { crls: () => [filling(0)] }],
];

export function tokenBoundVectors(file: BaseThing): NamedVector[] {
  return [
    ...rows.map((row) => tokenVector(file, row)),
    ...refused.map((row) => ({ ...tokenVector(file, row), expected: malformed('time') })),
  ];
}

/** Signatures by ECDSA have several sizes, so that some tries are needed. */
function sized(size: number, make: (filling: number) => Bytes): Bytes {
  let made = make(size);
  for (let bytes = size; made.length !== size; made = make(bytes)) bytes += size - made.length;
  return made;
}
