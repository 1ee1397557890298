/** Everything that can be wrong with the certificates of a token: the signer's, the path, the root, and their times. */
import {
  around,
  ascii,
  type Bytes,
  bits,
  inPlace,
  integer,
  join,
  nothing,
  nullValue,
  oid,
  sequence,
  set,
} from './der-writer.ts';
import { anchorFault, certificateFault, type FaultCase } from './fault-case.ts';
import { type AuthorityOptions, createTestAuthority, judgedAt, stampedAt, usual } from './test-authority.ts';
import {
  basicConstraints,
  directoryName,
  extendedKeyUsage,
  extension,
  keyUsage,
  makeCertificate,
  nameOf,
  purposes,
  subjectKeyId,
} from './test-certificates.ts';
import { signatureAlgorithm, testKey } from './test-keys.ts';
import { essAttribute } from './test-token.ts';

type SignerParts = ReturnType<typeof usual.signer>;
type IntermediateParts = ReturnType<typeof usual.intermediate>;

/** The signer's certificate with one of its usual extensions changed, or with more of them. */
const signer = (changes: Partial<SignerParts>, ...more: Uint8Array[]): AuthorityOptions => ({
  signer: {
    extensions: [...Object.values({ ...usual.signer(testKey('p256', 'signer')), ...changes }), ...more],
  },
});
const intermediate = (changes: Partial<IntermediateParts>, ...more: Uint8Array[]): AuthorityOptions => ({
  intermediate: { extensions: [...Object.values({ ...usual.intermediate(), ...changes }), ...more] },
});

const minute = 60_000;
const unknown = (critical: boolean) => extension('1.2.3.4', nullValue, { critical });
const nameConstraints = extension('2.5.29.30', sequence(), { critical: true });

const isEven = (bytes: Bytes) => ((bytes.at(-1) ?? 1) & 1) === 0;

const purposeFaults: FaultCase[] = [
  certificateFault('no extended key usage', /not for timestamps alone/, {
    faulty: signer({ purpose: nothing }),
  }),
  certificateFault('an extended key usage that is not critical', /not for timestamps alone/, {
    faulty: signer({ purpose: extendedKeyUsage([purposes.timeStamping], { critical: false }) }),
  }),
  certificateFault('an extended key usage for code', /not for timestamps alone/, {
    faulty: signer({ purpose: extendedKeyUsage([purposes.codeSigning]) }),
  }),
  certificateFault('an extended key usage for timestamps and code', /not for timestamps alone/, {
    faulty: signer({ purpose: extendedKeyUsage([purposes.timeStamping, purposes.codeSigning]) }),
  }),
  certificateFault('an extended key usage for everything', /not for timestamps alone/, {
    faulty: signer({ purpose: extendedKeyUsage([purposes.any]) }),
  }),
  certificateFault('a key usage with encryption', /not for signing alone/, {
    faulty: signer({ usage: keyUsage('digitalSignature', 'keyEncipherment') }),
    sound: signer({ usage: keyUsage('digitalSignature', 'nonRepudiation') }),
  }),
  certificateFault('a key usage for certificates', /not for signing alone/, {
    faulty: signer({ usage: keyUsage('certSign') }),
    sound: signer({ usage: keyUsage('nonRepudiation') }),
  }),
  certificateFault('a key usage with unknown bits', /Certificate 1 of the token is not in the form/, {
    faulty: signer({ usage: extension('2.5.29.15', bits(Uint8Array.of(128, 0, 1))) }),
    sound: signer({ usage: extension('2.5.29.15', bits(Uint8Array.of(128, 0))) }),
  }),
  certificateFault('an extended key usage in a SET', /Certificate 1 of the token is not in the form/, {
    faulty: signer({ purpose: extension('2.5.29.37', set(oid(purposes.timeStamping)), { critical: true }) }),
    sound: signer({
      purpose: extension('2.5.29.37', sequence(oid(purposes.timeStamping)), { critical: true }),
    }),
  }),
  certificateFault('an empty key usage', /not for signing alone/, {
    faulty: signer({ usage: keyUsage() }),
    sound: signer({ usage: nothing }),
  }),
  certificateFault('a TSTInfo that names another authority', /names another authority/, {
    faulty: signer({}, extension('2.5.29.17', sequence(directoryName(nameOf('Third'))))),
    sound: signer({}, extension('2.5.29.17', sequence(directoryName(nameOf('Other'))))),
    token: { authority: directoryName(nameOf('Other')) },
  }),
  certificateFault(
    'a TSTInfo that names an address which is not the authority’s',
    /names another authority/,
    {
      faulty: {},
      sound: signer({}, extension('2.5.29.17', sequence(inPlace(2, ascii('tsa.test'))))),
      token: { authority: inPlace(2, ascii('tsa.test')) },
    },
  ),
];

const formFaults: FaultCase[] = [
  certificateFault('a critical extension of the signer that nobody knows', /critical extension 1\.2\.3\.4/, {
    ...{ faulty: signer({}, unknown(true)), sound: signer({}, unknown(false)) },
  }),
  certificateFault(
    'a critical extension of the authority that nobody knows',
    /critical extension 1\.2\.3\.4/,
    {
      ...{ faulty: intermediate({}, unknown(true)), sound: intermediate({}, unknown(false)) },
    },
  ),
  certificateFault('name constraints', /critical extension 2\.5\.29\.30/, {
    faulty: intermediate({}, nameConstraints),
    sound: intermediate(
      {},
      extension('2.5.29.32', sequence(sequence(oid('2.5.29.32.0'))), { critical: true }),
    ),
  }),
  certificateFault('an extension twice', /extension 1\.2\.3\.4 twice/, {
    ...{ faulty: signer({}, unknown(false), unknown(false)), sound: signer({}, unknown(false)) },
  }),
  certificateFault('extensions in a SET', /Certificate 2 of the token is not in the form/, {
    faulty: { intermediate: { extensionList: set(...Object.values(usual.intermediate())) } },
    sound: { intermediate: { extensionList: sequence(...Object.values(usual.intermediate())) } },
  }),
  certificateFault(
    'a signature that does not consist of whole bytes',
    /Certificate 2 of the token is not in the form/,
    {
      faulty: {
        intermediate: { editSignature: (signature) => (isEven(signature) ? bits(signature, 1) : null) },
      },
      sound: { intermediate: { editSignature: (signature) => (isEven(signature) ? bits(signature) : null) } },
    },
  ),
  certificateFault('a certificate of version 4', /unknown version/, {
    faulty: { intermediate: { version: around(0, integer(3)) } },
  }),
  certificateFault('a certificate that names two algorithms', /names two signature algorithms/, {
    faulty: { signer: { innerAlgorithm: signatureAlgorithm({ kind: 'p256' }, { hash: 'sha384' }) } },
  }),
];

const timeFaults: FaultCase[] = (['signer', 'intermediate', 'root'] as const).flatMap((who) => {
  const name = { signer: 'Test TSA', intermediate: 'Test TSA CA', root: 'Test Root' }[who];
  const outside = new RegExp(`outside the validity of CN=${name}\\.`);
  return [
    certificateFault(`a genTime before the validity of the ${who}`, outside, {
      faulty: { [who]: { notBefore: stampedAt + 1000 } },
      sound: { [who]: { notBefore: stampedAt } },
    }),
    certificateFault(`a genTime after the validity of the ${who}`, outside, {
      faulty: { [who]: { notAfter: stampedAt - 1000 } },
      sound: { [who]: { notAfter: stampedAt } },
      // The signer's certificate may have ended since, but not before.
      question: { at: stampedAt },
    }),
  ];
});

/** Root, intermediate, another one below it, signer. */
const longer = (pathLength: number): AuthorityOptions => ({
  intermediate: { extensions: [basicConstraints(true, pathLength), keyUsage('certSign', 'crlSign')] },
  signer: { issuer: nameOf('Test Sub CA'), signedBy: testKey('p256', 'sub') },
});
const subAuthority = () =>
  makeCertificate({
    ...{ subject: nameOf('Test Sub CA'), issuer: nameOf('Test TSA CA'), serial: 9 },
    ...{ key: testKey('p256', 'sub'), signedBy: testKey('p256', 'intermediate') },
    ...{ notBefore: stampedAt - minute, notAfter: judgedAt },
    extensions: [basicConstraints(true), keyUsage('certSign')],
  });

const pathFaults: FaultCase[] = [
  certificateFault('an authority without basic constraints', /is not an authority/, {
    faulty: intermediate({ constraints: nothing }),
  }),
  certificateFault('an authority that is none', /is not an authority/, {
    faulty: intermediate({ constraints: basicConstraints(false) }),
  }),
  certificateFault('an authority whose key may not sign certificates', /is not an authority/, {
    faulty: intermediate({ usage: keyUsage('crlSign') }),
    sound: intermediate({ usage: nothing }),
  }),
  certificateFault('an authority for code', /may not issue certificates for timestamps/, {
    faulty: intermediate({ purpose: extendedKeyUsage([purposes.codeSigning], { critical: false }) }),
    sound: intermediate({ purpose: extendedKeyUsage([purposes.any], { critical: false }) }),
  }),
  certificateFault('a path that is longer than allowed', /path is longer than CN=Test TSA CA allows/, {
    faulty: longer(0),
    sound: longer(1),
    token: (authority) => ({
      certificates: [authority.intermediate.certificate, authority.signer.certificate, subAuthority()],
    }),
  }),
];

/** The key of the intermediate, with its point in another form. */
function keyWith(edit: (point: Bytes) => Bytes): Bytes {
  const { spki } = testKey('p256', 'intermediate');
  return sequence(spki.subarray(2, -68), bits(edit(spki.subarray(-65))));
}

const trustFaults: FaultCase[] = [
  certificateFault('an authority with another name', /No path of certificates/, {
    status: 'untrusted',
    faulty: { intermediate: { subject: nameOf('Another CA') }, signer: { issuer: nameOf('Test TSA CA') } },
  }),
  certificateFault("a signer's certificate signed by another key", /No path of certificates/, {
    status: 'untrusted',
    faulty: { signer: { signedBy: testKey('p256', 'stranger') } },
  }),
  certificateFault('an authority signed by another key', /No path of certificates/, {
    status: 'untrusted',
    faulty: { intermediate: { signedBy: testKey('p256', 'stranger') } },
  }),
  certificateFault('a certificate signed over SHA-1', /No path of certificates/, {
    status: 'untrusted',
    faulty: { kind: 'rsa', intermediate: { rule: { hash: 'sha1' } } },
    sound: { kind: 'rsa', intermediate: { rule: { hash: 'sha384' } } },
  }),
  ...(['rsa1024', 'p521'] as const).map((kind) =>
    certificateFault(`an authority with a key of the kind ${kind}`, /No path of certificates/, {
      status: 'untrusted',
      faulty: { intermediate: { key: testKey(kind, 'weak') } },
      sound: { intermediate: { key: testKey('p384', 'good') } },
    }),
  ),
  certificateFault('an authority with a key in an old form', /No path of certificates/, {
    status: 'untrusted',
    faulty: {
      intermediate: {
        spki: keyWith((point) => join(Uint8Array.of(6 + ((point[64] ?? 0) & 1)), point.subarray(1))),
      },
    },
    sound: { intermediate: { spki: keyWith((point) => point) } },
  }),
  certificateFault('an authority with a compressed key', /No path of certificates/, {
    status: 'untrusted',
    faulty: {
      intermediate: {
        spki: keyWith((point) => join(Uint8Array.of(2 + ((point[64] ?? 0) & 1)), point.subarray(1, 33))),
      },
    },
    sound: { intermediate: { spki: keyWith((point) => point) } },
  }),
  certificateFault('an authority whose key cannot be read', /No path of certificates/, {
    status: 'untrusted',
    faulty: {
      intermediate: { spki: sequence(sequence(oid('1.2.840.113549.1.1.1'), nullValue), bits(ascii('key'))) },
    },
  }),
  certificateFault('an algorithm with two parameters', /No path of certificates/, {
    status: 'untrusted',
    faulty: {
      kind: 'rsa',
      intermediate: { algorithm: sequence(oid('1.2.840.113549.1.1.11'), nullValue, nullValue) },
    },
    sound: { kind: 'rsa', intermediate: { algorithm: sequence(oid('1.2.840.113549.1.1.11')) } },
  }),
  ...[
    ['another serial number', sequence(nameOf('Test TSA CA'), integer(4))] as const,
    ['another issuer', sequence(nameOf('Test Root'), integer(3))] as const,
  ].map(([name, signerId]) =>
    anchorFault(`a signer with ${name}`, /signer's certificate is missing/, {
      status: 'untrusted',
      make: ({ anchor, stamp }, isFaulty) => ({ anchor: anchor(stamp(isFaulty ? { signerId } : {})) }),
    }),
  ),
  anchorFault('a signer with the identifier of another key', /signer's certificate is missing/, {
    status: 'untrusted',
    make: ({ anchor, stamp, signer, root }, isFaulty) => {
      const signerId = inPlace(0, subjectKeyId(isFaulty ? root.key : signer.key));
      return { anchor: anchor(stamp({ signerId, signerVersion: 3 })) };
    },
  }),
  anchorFault('a token without certificates', /signer's certificate is missing/, {
    status: 'untrusted',
    make: ({ anchor, stamp, signer, intermediate }, isFaulty) => ({
      anchor: anchor(stamp({ certificates: [] }), {
        certificates: [...(isFaulty ? [] : [signer.certificate]), intermediate.certificate],
      }),
    }),
  }),
  anchorFault("a token with nothing but the signer's certificate", /Test TSA is the last/, {
    status: 'untrusted',
    make: ({ anchor, stamp, signer, intermediate }, isFaulty) => ({
      anchor: anchor(stamp({ certificates: [signer.certificate] }), {
        certificates: isFaulty ? [] : [intermediate.certificate],
      }),
    }),
  }),
  anchorFault('a token that allows other certificates only', /No path of certificates/, {
    status: 'untrusted',
    make: ({ anchor, stamp, signer, intermediate, root }, isFaulty) => {
      const above = isFaulty ? root : intermediate;
      const ess = essAttribute('v2', [signer.certificate, above.certificate]);
      return {
        anchor: anchor(stamp({ editAttributes: (all) => [all.contentType, all.messageDigest, ess] })),
      };
    },
  }),
  anchorFault('a root that is not pinned', /No path of certificates/, {
    status: 'untrusted',
    make: ({ trusted }, isFaulty) => {
      const other = createTestAuthority({ root: { subject: nameOf('Other Root') } }).trusted;
      const sameName = createTestAuthority({ kind: 'p384' }).trusted;
      return {
        question: { trust: { roots: [other, sameName, ...(isFaulty ? [] : [trusted])], policies: [] } },
      };
    },
  }),
  anchorFault('a token that is later than the time of judgement', /later than the time of judgement/, {
    status: 'untrusted',
    make: (_, isFaulty) => ({ question: { at: isFaulty ? stampedAt - 1 : stampedAt } }),
  }),
  certificateFault(
    "a signer's certificate that has ended since",
    /CN=Test TSA ended on 2025-12-31T23:59:59/,
    {
      status: 'expired',
      faulty: { signer: { notAfter: judgedAt - 1000 } },
      sound: { signer: { notAfter: judgedAt } },
    },
  ),
];

export const certificateFaults: FaultCase[] = [
  ...[...purposeFaults, ...formFaults, ...timeFaults, ...pathFaults, ...trustFaults],
];
