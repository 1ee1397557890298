/** Trust files that cannot be used, so that nothing is judged, and some that look odd and can. */
import { type Bytes, join, nullValue } from '../timestamps/der-writer.ts';
import { createTestAuthority, pem, stampedAt } from '../timestamps/test-authority.ts';
import {
  basicConstraints,
  type CertificateOptions,
  extension,
  keyUsage,
  makeCertificate,
  nameOf,
} from '../timestamps/test-certificates.ts';
import { type KeyKind, testKey } from '../timestamps/test-keys.ts';
import { type BaseThing, firstTime, givenWith } from './base-batches.ts';
import { upperCase } from './changed.ts';
import { imprintOf } from './clocks.ts';
import { withMore } from './der-edit.ts';
import { anchoredBy } from './good-vectors.ts';
import { spkiOf } from './rsa-key-rows.ts';
import { genTime, judgedAt } from './token-vector.ts';
import { expect, type NamedVector, type TrustFile, trustOf } from './vector.ts';

const tenYears = 3650 * 86_400_000;
const policies = (count: number) => Array.from({ length: count }, (_, at) => `1.2.3.${at}`);

export function trustVectors(file: BaseThing): NamedVector[] {
  return [...unusableVectors(file), ...oddVectors(file)];
}

/** Of the usual name, with what is given instead. */
function rootOf(changes: Partial<CertificateOptions> = {}, kind: KeyKind = 'p256'): Bytes {
  const key = testKey(kind, 'root');
  return makeCertificate({
    ...{ subject: nameOf('Test Root'), issuer: nameOf('Test Root'), key, signedBy: key },
    ...{ notBefore: stampedAt - tenYears, notAfter: stampedAt + tenYears },
    ...{ extensions: [basicConstraints(true), keyUsage('certSign', 'crlSign')], ...changes },
  });
}

/** The key of a root, with another last byte. */
function offCurve(kind: KeyKind): Bytes {
  const { spki } = testKey(kind, 'root');
  return spki.with(-1, (spki.at(-1) ?? 0) ^ 1);
}

/** On P-256, x = 5 has a point; written as 5 + p it is another spelling of the same. */
function beyondCurve(): Bytes {
  const p = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
  const y = 0x459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbccn;
  const point = [5n + p, y].map((number) => number.toString(16).padStart(64, '0')).join('');
  const { spki } = testKey('p256', 'root');
  return join(spki.subarray(0, -64), new Uint8Array(Buffer.from(point, 'hex')));
}

function unusableVectors(file: BaseThing): NamedVector[] {
  const { trust: good, ...given } = givenWith(file, file.proof);
  const { blocks: [block] = [] } = good as TrustFile;
  if (!block) throw new Error('the block is not trusted');
  const chain = { chainId: 424_242, genesisHash: block.hash, finality: 12 };
  const roots = (...tsaRoots: string[]) => ({ ...good, tsaRoots });
  const rows: [name: string, about: string, trust: unknown][] = [
    ['unknown-member', 'It has a member that the format does not have.', { ...good, roots: [] }],
    ['format', 'It is of a later format.', { ...good, format: 'holdfast/trust@2' }],
    ['without-format', 'It does not say its format.', { blocks: [block] }],
    ['blocks-an-object', 'Its blocks are no list.', { ...good, blocks: block }],
    ['blocks-null', 'Its blocks are null.', { ...good, blocks: null }],
    ['block-null', 'A block is null.', { ...good, blocks: [block, null] }],
    ['unknown-in-a-block', 'A block has a member more.', { ...good, blocks: [{ ...block, time: 1 }] }],
    ['block-without-hash', 'A block has no hash.', { ...good, blocks: [{ ...block, hash: undefined }] }],
    [
      'hash-upper-case',
      'A hash is in capitals.',
      { ...good, blocks: [{ ...block, hash: upperCase(block.hash) }] },
    ],
    [
      'hash-too-short',
      'A hash has 31 bytes.',
      { ...good, blocks: [{ ...block, hash: block.hash.slice(0, -2) }] },
    ],
    ['chain-id-a-text', 'An id of a chain is a text.', { ...good, blocks: [{ ...block, chainId: '1' }] }],
    [
      'number-beyond-2-53',
      'A number of a block is 2^53.',
      { ...good, blocks: [{ ...block, number: 2 ** 53 }] },
    ],
    ['number-negative', 'A number of a block is negative.', { ...good, blocks: [{ ...block, number: -1 }] }],
    [
      'finality-1000001',
      'A finality of 1,000,001 blocks.',
      { ...good, chains: [{ ...chain, finality: 1_000_001 }] },
    ],
    [
      'finality-negative',
      'A finality of minus one block.',
      { ...good, chains: [{ ...chain, finality: -1 }] },
    ],
    [
      'finality-unknown',
      'A finality that does not exist.',
      { ...good, chains: [{ ...chain, finality: 'safe' }] },
    ],
    [
      'genesis-upper-case',
      'A first block in capitals.',
      { ...good, chains: [{ ...chain, genesisHash: upperCase(chain.genesisHash) }] },
    ],
    ['unknown-in-a-chain', 'A chain has a member more.', { ...good, chains: [{ ...chain, name: 'x' }] }],
    [
      'height-beyond-uint32',
      'A Bitcoin block of the height 2^32.',
      { ...good, bitcoin: [{ height: 2 ** 32, hash: block.hash }] },
    ],
    [
      'bitcoin-upper-case',
      'A hash of a Bitcoin block in capitals.',
      { ...good, bitcoin: [{ height: 1, hash: upperCase(block.hash) }] },
    ],
    ['policy-in-words', 'A policy that is no object identifier.', { ...good, tsaPolicies: ['timestamps'] }],
    ['policy-padded', 'A policy with a zero too many.', { ...good, tsaPolicies: ['1.2.03'] }],
    ['policies-257', 'It has 257 policies.', { ...good, tsaPolicies: policies(257) }],
    ['roots-257', 'It has 257 roots.', roots(...Array.from({ length: 257 }, () => pem(rootOf())))],
    ['root-no-pem', 'A root is no certificate in PEM.', roots('Test Root')],
    ['root-a-number', 'A root is a number.', { ...good, tsaRoots: [1] }],
    ['root-twice', 'Two certificates in one element.', roots(pem(rootOf()) + pem(rootOf()))],
    ['root-of-20001-characters', 'A root with much text before it.', roots(pem(rootOf()).padStart(20_001))],
    ['root-no-base64', 'A root that is not in base64.', roots(pem(rootOf()).replace('MII', 'M_I'))],
    ['root-cut-off', 'A root whose last byte is missing.', roots(pem(rootOf().subarray(0, -1)))],
    ['root-with-more', 'A root with one element too many.', roots(pem(withMore(rootOf(), [], nullValue)))],
    [
      'root-no-authority',
      'A root that is no authority.',
      roots(pem(rootOf({ extensions: [basicConstraints(false)] }))),
    ],
    [
      'root-without-constraints',
      'A root with extensions, but without basic constraints.',
      roots(pem(rootOf({ extensions: [keyUsage('certSign')] }))),
    ],
    [
      'root-that-may-not-sign',
      'A root that may not sign certificates.',
      roots(pem(rootOf({ extensions: [basicConstraints(true), keyUsage('crlSign')] }))),
    ],
    ['root-of-1024-bits', 'A root with an RSA key of 1,024 bits.', roots(pem(rootOf({}, 'rsa1024')))],
    [
      'root-of-an-even-modulus',
      'A root with an RSA key whose modulus is even.',
      roots(pem(rootOf({ spki: spkiOf({ primes: [2203], exponent: 65_537n, isEven: true }) }))),
    ],
    ['root-off-p256', 'A root whose key is not on P-256.', roots(pem(rootOf({ spki: offCurve('p256') })))],
    ['root-off-p384', 'A root whose key is not on P-384.', roots(pem(rootOf({ spki: offCurve('p384') })))],
    [
      'root-beyond-p256',
      'A root whose key is on P-256 only if a coordinate is reduced first.',
      roots(pem(rootOf({ spki: beyondCurve() }))),
    ],
    ['root-of-p521', 'A root with a key on P-521.', roots(pem(rootOf({}, 'p521')))],
    [
      'root-with-an-extension-twice',
      'A root that has an extension twice.',
      roots(pem(rootOf({ extensions: [basicConstraints(true), basicConstraints(true)] }))),
    ],
  ];
  const text = JSON.stringify(good);
  const texts: [name: string, about: string, text: string][] = [
    ['a-list', 'It is a list.', '[]'],
    ['null', 'It is null.', 'null'],
    ['empty', 'It has no text at all.', ''],
    ['cut-off', 'Its last character is missing.', text.slice(0, -1)],
    ['byte-order-mark', 'A byte order mark is before it.', `\ufeff${text}`],
    ['name-twice', 'A name occurs twice.', text.replace('"blocks":', '"blocks":[],"blocks":')],
    [
      'inexact-number',
      'A number that a double rounds.',
      text.replace('"chainId":1', '"chainId":1.00000000000000000001'),
    ],
  ];
  const expected = { unusable: 'trust' } as const;
  return [
    ...rows.map(([name, about, trust]) => ({
      ...{ name: `trust-unusable-${name}`, about: `The trust file cannot be used. ${about}` },
      ...{ ...given, trust: trust as TrustFile, expected },
    })),
    ...texts.map(([name, about, trustDocument]) => ({
      ...{ name: `trust-unusable-${name}`, about: `The trust file cannot be used. ${about}` },
      ...{ ...given, trust: null, trustDocument, expected },
    })),
  ];
}

function oddVectors(file: BaseThing): NamedVector[] {
  const { proof } = file;
  const usually = givenWith(file, proof);
  const authority = createTestAuthority({ around: stampedAt });
  const anchor = authority.anchor(
    authority.stamp({ imprint: imprintOf(proof.merkle.root), policy: '1.2.3.255' }),
  );
  const stamped = anchoredBy(proof, anchor);
  const rows: [name: string, about: string, trust: TrustFile][] = [
    [
      'root-with-text-around',
      'A root with text around it, and other ends of lines.',
      trustOf({ tsaRoots: [`Subject: Test Root\n${pem(rootOf()).replaceAll('\n', '\r\n')}bye`] }),
    ],
    [
      'root-of-20000-characters',
      'A root with much text before it.',
      trustOf({ tsaRoots: [pem(rootOf()).padStart(20_000)] }),
    ],
    [
      'root-without-extensions',
      'A root without extensions, as old ones are.',
      trustOf({ tsaRoots: [pem(rootOf({ extensions: [] }))] }),
    ],
    [
      'root-without-key-usage',
      'A root that does not say what its key is for.',
      trustOf({ tsaRoots: [pem(rootOf({ extensions: [basicConstraints(true)] }))] }),
    ],
    [
      'root-with-a-critical-extension',
      'A root with a critical extension that nobody knows, which does not count.',
      trustOf({
        tsaRoots: [
          pem(
            rootOf({
              extensions: [basicConstraints(true), extension('1.2.3.4', nullValue, { critical: true })],
            }),
          ),
        ],
      }),
    ],
    [
      'roots-256',
      'It has 256 roots, all of them the same.',
      trustOf({ tsaRoots: Array.from({ length: 256 }, () => pem(rootOf())) }),
    ],
    [
      'policies-256',
      'It has 256 policies, and the last is that of the token.',
      trustOf({ tsaRoots: [pem(rootOf())], tsaPolicies: policies(256) }),
    ],
  ];
  return [
    ...rows.map(([name, about, trust]) => ({
      ...{ name: `trust-${name}`, about },
      ...{ ...givenWith(file, stamped), trust, at: judgedAt },
      expected: expect(stamped, { time: genTime }),
    })),
    {
      name: 'trust-integers-otherwise',
      about: 'Integers of the trust file are written with a fraction and with an exponent.',
      ...{ ...usually, trust: null },
      trustDocument: JSON.stringify(usually.trust)
        .replace('"chainId":1', '"chainId":1.0')
        .replace('21000000', '21e6'),
      expected: expect(proof, { time: firstTime }),
    },
  ];
}
