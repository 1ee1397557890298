/** Anchors that are too large, too many, or not in base64, and what is beside a token but cannot be read. */
import { type Bytes, octets, sequence } from './der-writer.ts';
import { anchorFault, certificateFault, type FaultCase } from './fault-case.ts';
import { type TestAuthority, usual } from './test-authority.ts';
import { extension } from './test-certificates.ts';
import { testKey } from './test-keys.ts';
import { attribute } from './test-token.ts';

/** The signer's certificate with an extension of this size. */
const signerOf = (bytes: number) => {
  const filling = extension('1.2.3.4', octets(new Uint8Array(bytes)));
  return { signer: { extensions: [...Object.values(usual.signer(testKey('p256', 'signer'))), filling] } };
};
const many = (count: number, certificate: Bytes) => Array.from({ length: count }, () => certificate);
/** Unsigned, so that it can have any size. */
const filler = (bytes: number) => [attribute('1.2.3', octets(new Uint8Array(bytes)))];

export const limitFaults: FaultCase[] = [
  anchorFault('a token of more than 65,536 bytes', /token is not 1 to 65536 bytes/, {
    make: ({ anchor, stamp }, isFaulty) => {
      const empty = stamp({ unsignedAttributes: filler(60_000) }).length;
      const target = 60_000 + 65_536 - empty + (isFaulty ? 8 : -8);
      return { anchor: anchor(stamp({ unsignedAttributes: filler(target) })) };
    },
  }),
  anchorFault('more than 32 levels', /too many elements or levels/, {
    // An unsigned attribute is on the seventh.
    make: ({ anchor, stamp }, isFaulty) => ({
      anchor: anchor(stamp({ unsignedAttributes: [attribute('1.2.3', nested(isFaulty ? 25 : 24))] })),
    }),
  }),
  anchorFault('more than 16 certificates', /more than 16 certificates/, {
    make: ({ anchor, root }, isFaulty) => ({
      anchor: anchor(undefined, { certificates: many(isFaulty ? 15 : 14, root.certificate) }),
    }),
  }),
  anchorFault('17 certificates beside the token', /certificates has 17 items/, {
    make: ({ anchor, root }, isFaulty) => ({
      anchor: anchor(undefined, { certificates: many(isFaulty ? 17 : 1, root.certificate) }),
    }),
  }),
  certificateFault('a certificate of more than 16,384 bytes', /larger than 16384 bytes/, {
    faulty: signerOf(16_000),
    sound: signerOf(15_000),
  }),
  anchorFault('more than 4 lists of revoked certificates', /crls has 5 items/, {
    make: ({ anchor, crl }, isFaulty) => ({
      anchor: anchor(undefined, { crls: many(isFaulty ? 5 : 4, crl('root')) }),
    }),
  }),
  ...[
    ['base64 without padding', (text: string) => text.replace(/=+$/, '')],
    ['base64 with a line break', (text: string) => `${text.slice(0, 64)}\n${text.slice(64)}`],
    ['base64 of the other alphabet', (text: string) => text.replace(/.$/, '_')],
    ['no token', () => ''],
  ].map(([name, edit]) =>
    anchorFault(name as string, /token is not 1 to 65536 bytes in base64/, {
      make: ({ anchor, stamp }, isFaulty) => {
        const made = anchor(paddedToken(stamp));
        return {
          anchor: isFaulty ? { ...made, token: (edit as (text: string) => string)(made.token) } : made,
        };
      },
    }),
  ),
  anchorFault('base64 with bits that belong to no byte', /token is not 1 to 65536 bytes in base64/, {
    make: ({ anchor, stamp }, isFaulty) => {
      const made = anchor(paddedToken(stamp));
      return { anchor: isFaulty ? { ...made, token: made.token.replace(/.(=+)$/, '9$1') } : made };
    },
  }),
  anchorFault('a certificate beside the token that is none', /Certificate 1 of the anchor/, {
    make: ({ anchor, root }, isFaulty) => ({
      anchor: anchor(undefined, { certificates: [isFaulty ? sequence() : root.certificate] }),
    }),
  }),
  anchorFault('a list of revoked certificates that is none', /List 1 of revoked certificates/, {
    make: ({ anchor, root, crl }, isFaulty) => ({
      anchor: anchor(undefined, { crls: [isFaulty ? root.certificate : crl('root')] }),
    }),
  }),
];

function nested(levels: number): Bytes {
  return levels === 1 ? sequence() : sequence(nested(levels - 1));
}

/** One whose length is not a multiple of 3. */
function paddedToken(stamp: TestAuthority['stamp']): Bytes {
  for (let serial = 1n; ; serial *= 256n) {
    const token = stamp({ serial });
    if (token.length % 3 !== 0) return token;
  }
}
