/** Much work for one token: certificates that lead in circles, and a list that names one certificate again and again. */
import type { Bytes } from '../timestamps/der-writer.ts';
import type { Issued, TestAuthority } from '../timestamps/test-authority.ts';
import { basicConstraints, keyUsage, makeCertificate, nameOf } from '../timestamps/test-certificates.ts';
import { testKey } from '../timestamps/test-keys.ts';
import { fails, holds, skips, type TokenCase, type TokenRow } from './token-vector.ts';

const genMs = Date.parse('2025-06-15T12:00:00Z');
const day = 86_400_000;

type Name = Pick<Issued, 'name' | 'key'>;
/** Four authorities. */
const ring: Name[] = Array.from({ length: 4 }, (_, at) => ({
  name: nameOf(`Ring ${at}`),
  key: testKey('p256', `ring ${at}`),
}));

function authority({ name, key }: Name, issuer: Name, serial: number): Bytes {
  return makeCertificate({
    ...{ subject: name, key, issuer: issuer.name, signedBy: issuer.key, serial },
    ...{ notBefore: genMs - day, notAfter: genMs + 365 * day },
    extensions: [basicConstraints(true), keyUsage('certSign')],
  });
}

/** Each of the four has certified the three others; the first has issued the signer, the last may be known to the root. */
function inCircles(isRooted: boolean): TokenCase {
  const [first, , , last] = ring as [Name, Name, Name, Name];
  return {
    authority: { signer: { issuer: first.name, signedBy: first.key } },
    token: ({ signer, root }) => ({
      certificates: [
        signer.certificate,
        ...ring.flatMap((subject, at) =>
          ring.flatMap((issuer, by) => (at === by ? [] : [authority(subject, issuer, 10 + by)])),
        ),
        ...ring.slice(0, 2).map((one) => authority(one, one, 20)),
        authority(last, isRooted ? root : { name: nameOf('Nobody'), key: testKey('p256', 'nobody') }, 21),
      ],
    }),
  };
}

/** Fifteen certificates of one name and one key, each of which could have issued each other. */
function ofOneName(): TokenCase {
  const [one] = ring as [Name];
  return {
    authority: { signer: { issuer: one.name, signedBy: one.key } },
    token: ({ signer }) => ({
      certificates: [
        signer.certificate,
        ...Array.from({ length: 15 }, (_, at) => authority(one, one, 30 + at)),
      ],
    }),
  };
}

/** The signer was revoked this often for a reason, and after the token, so that it does no harm; and then once more. */
function revokedOften(often: number, lastReason: number) {
  return ({ crl }: TestAuthority): Bytes[] => {
    const harmless = { serial: 3, date: genMs + day, reason: 4 };
    const revoked = [
      ...Array.from({ length: often - 1 }, () => harmless),
      { ...harmless, reason: lastReason },
    ];
    return [crl('intermediate', { revoked })];
  };
}

export const tokenLoadRows: TokenRow[] = [
  [
    'path-in-circles',
    'Sixteen certificates of authorities that certified each other, and the root one of them.',
    holds,
    inCircles(true),
  ],
  [
    'path-in-circles-without-an-end',
    'Sixteen certificates of authorities that certified each other, and nobody else.',
    skips,
    inCircles(false),
  ],
  [
    'path-of-one-name',
    'Fifteen certificates of one name and one key, which lead to each other and nowhere else.',
    skips,
    ofOneName(),
  ],
  [
    'revocation-4000-times',
    'A list names the signer 4,000 times, each time for a reason that does no harm.',
    holds,
    { crls: revokedOften(4000, 4) },
  ],
  [
    'revocation-4000-times-and-the-last-voids',
    'A list names the signer 4,000 times, the last time for a reason that voids the token.',
    fails,
    { crls: revokedOften(4000, 1) },
  ],
];
