/** What can be wrong with a token by itself, whoever is trusted: its structure, the TSTInfo, the attributes. */

import {
  around,
  ascii,
  type Bytes,
  boolean,
  element,
  inPlace,
  integer,
  join,
  nothing,
  nullValue,
  octets,
  oid,
  sequence,
  set,
} from './der-writer.ts';
import { type FaultCase, tokenFault } from './fault-case.ts';
import { stampedAt, stampedImprint } from './test-authority.ts';
import { directoryName, extension, nameOf, subjectKeyId } from './test-certificates.ts';
import { digest, hashAlgorithm } from './test-keys.ts';
import { type Attributes, accuracy, attribute, essAttribute, makeInfo, oids } from './test-token.ts';

const attributesOf = ({ contentType, signingTime, messageDigest, ess }: Attributes) => [
  ...[contentType, signingTime, messageDigest, ...ess],
];
const without = (left: 'contentType' | 'messageDigest' | 'ess') => (attributes: Attributes) =>
  attributesOf({ ...attributes, [left]: left === 'ess' ? [] : nothing });
const instead = (changes: Partial<Attributes>) => (attributes: Attributes) =>
  attributesOf({ ...attributes, ...changes });

const info = { imprint: stampedImprint, genTime: stampedAt };
const timed = (text: string, tag = 0x18) => ({ faulty: { encodedTime: element(tag, ascii(text)) } });

const structure: FaultCase[] = [
  tokenFault('the content is not SignedData', /not CMS SignedData/, { faulty: { outerType: oids.data } }),
  tokenFault('the content type is not TSTInfo', /does not contain a TSTInfo/, {
    faulty: { contentType: oids.data },
  }),
  tokenFault('the content is missing', /does not contain a TSTInfo/, { faulty: { eContent: nothing } }),
  tokenFault('the content is no OCTET STRING', /The token is not in the form/, {
    faulty: { eContent: around(0, makeInfo(info)) },
  }),
  ...[1, 4, 5].map((version) =>
    tokenFault(`SignedData of version ${version}`, /not SignedData of version 3/, {
      faulty: { signedDataVersion: version },
    }),
  ),
  tokenFault('no signer', /not have exactly one signer/, { faulty: { signers: 0 } }),
  tokenFault('two signers', /not have exactly one signer/, { faulty: { signers: 2 } }),
  tokenFault('SignerInfo of version 3 that names an issuer', /SignerInfo is not of version 1/, {
    faulty: { signerVersion: 3 },
  }),
  tokenFault('SignerInfo of version 1 that names a key', /SignerInfo is not of version 3/, {
    faulty: ({ signer }) => ({ signerId: inPlace(0, subjectKeyId(signer.key)), signerVersion: 1 }),
    sound: ({ signer }) => ({ signerId: inPlace(0, subjectKeyId(signer.key)), signerVersion: 3 }),
  }),
  tokenFault("the list of hashes lacks the signer's", /does not list its signer's hash/, {
    faulty: { digestAlgorithms: set(hashAlgorithm('sha512')) },
    sound: { digestAlgorithms: set(hashAlgorithm('sha512'), hashAlgorithm('sha256')) },
  }),
  tokenFault('a certificate of another kind in the token', /The token is not in the form/, {
    faulty: ({ signer, intermediate }) => ({
      certificates: [signer.certificate, intermediate.certificate, around(0, nameOf('an old kind'))],
    }),
  }),
  tokenFault('a field of SignedData too many', /The token is not in the form/, {
    faulty: { digestAlgorithms: join(set(hashAlgorithm('sha256')), nullValue) },
    sound: { crls: [] },
  }),
];

const information: FaultCase[] = [
  tokenFault('TSTInfo of version 2', /TSTInfo is not of version 1/, { faulty: { version: 2 } }),
  tokenFault('another imprint', /its imprint differs/, {
    faulty: { imprint: digest('sha256', ascii('other')) },
  }),
  tokenFault('a longer imprint', /its imprint differs/, {
    faulty: { imprint: join(stampedImprint, nullValue) },
  }),
  tokenFault('an imprint by SHA-1', /imprint is not by SHA-256/, {
    faulty: { imprint: digest('sha1', ascii('x')), imprintAlgorithm: hashAlgorithm('sha1') },
  }),
  tokenFault('the imprint under the name of another hash', /imprint is not by SHA-256/, {
    faulty: { imprintAlgorithm: hashAlgorithm('sha384') },
    sound: { imprintAlgorithm: sequence(oid('2.16.840.1.101.3.4.2.1')) },
  }),
  tokenFault('another nonce', /nonce of the request/, {
    ...{ faulty: { nonce: 8n }, sound: { nonce: 7n }, question: { nonce: 7n } },
  }),
  tokenFault('no nonce', /nonce of the request/, {
    ...{ faulty: {}, sound: { nonce: 2n ** 63n }, question: { nonce: 2n ** 63n } },
  }),
  tokenFault('a critical extension in the TSTInfo', /TSTInfo has the critical extension 1\.2\.3/, {
    faulty: { extensions: [extension('1.2.3', nullValue, { critical: true })] },
    sound: { extensions: [extension('1.2.3', nullValue)] },
  }),
  tokenFault('an extension of the TSTInfo twice', /extension 1\.2\.3 twice/, {
    faulty: { extensions: [extension('1.2.3', nullValue), extension('1.2.3', nullValue)] },
    sound: { extensions: [extension('1.2.3', nullValue), extension('1.2.4', nullValue)] },
  }),
  tokenFault('a local time', /time that is not valid/, timed('20250615120000')),
  tokenFault('a time with an offset', /time that is not valid/, timed('20250615120000+0200')),
  tokenFault('30 February', /time that is not valid/, timed('20250230120000Z')),
  tokenFault('24 o’clock', /time that is not valid/, timed('20250615240000Z')),
  tokenFault('second 60', /time that is not valid/, timed('20250615115960Z')),
  tokenFault('a time without seconds', /time that is not valid/, timed('202506151200Z')),
  tokenFault('a fraction that ends with a zero', /time that is not valid/, timed('20250615120000.50Z')),
  tokenFault('an empty fraction', /time that is not valid/, timed('20250615120000.Z')),
  tokenFault('a time as UTCTime', /TSTInfo is not in the form/, timed('250615120000Z', 0x17)),
  ...[accuracy(1, 0), accuracy(1, 1000), accuracy(1, 1, 1000)].map((value, at) =>
    tokenFault(`an accuracy out of range (${at + 1})`, /accuracy is out of range/, {
      ...{ faulty: { accuracy: value }, sound: { accuracy: accuracy(1, 999, 999) } },
    }),
  ),
  tokenFault('a negative accuracy', /accuracy is out of range/, {
    faulty: { accuracy: sequence(element(2, Uint8Array.of(255))) },
    sound: { accuracy: sequence() },
  }),
  tokenFault('an accuracy of centuries', /accuracy is out of range/, {
    ...{ faulty: { accuracy: accuracy(2 ** 31) }, sound: { accuracy: accuracy(2 ** 31 - 1) } },
  }),
  tokenFault('two names of the authority', /TSTInfo is not in the form/, {
    faulty: { authority: join(directoryName(nameOf('Test TSA')), directoryName(nameOf('Test TSA'))) },
    sound: { authority: directoryName(nameOf('Test TSA')) },
  }),
  tokenFault('fields of the TSTInfo in another order', /TSTInfo is not in the form/, {
    faulty: { ordering: integer(7), nonce: 7n },
    sound: { ordering: boolean(false), nonce: 7n },
  }),
  tokenFault('a boolean that is neither', /a boolean is wrong/, {
    faulty: { ordering: element(1, Uint8Array.of(1)) },
    sound: { ordering: boolean(true) },
  }),
  tokenFault('bytes after the TSTInfo', /TSTInfo is not valid DER: bytes follow/, {
    faulty: { tstInfo: join(makeInfo(info), nullValue) },
    sound: { tstInfo: makeInfo(info) },
  }),
  tokenFault('a policy that is not trusted', /policy 1\.2\.3\.4 is not among/, {
    faulty: { policy: '1.2.3.4' },
    sound: { policy: '1.2.3.5' },
    question: ({ trusted }) => ({ trust: { roots: [trusted], policies: ['1.2.3', '1.2.3.5'] } }),
  }),
];

const attributes: FaultCase[] = [
  tokenFault('no signed attributes', /no signed attributes/, { faulty: { withoutAttributes: true } }),
  tokenFault('no content-type', /content-type is missing/, {
    faulty: { editAttributes: without('contentType') },
  }),
  tokenFault('another content-type', /content-type is not TSTInfo/, {
    faulty: { editAttributes: instead({ contentType: attribute(oids.contentType, oid(oids.data)) }) },
  }),
  tokenFault('content-type with two values', /content-type has more than one value/, {
    faulty: {
      editAttributes: instead({
        contentType: attribute(oids.contentType, oid(oids.tstInfo), oid(oids.tstInfo)),
      }),
    },
  }),
  tokenFault('content-type twice', /attribute 1\.2\.840\.113549\.1\.9\.3 occurs twice/, {
    faulty: { editAttributes: (all) => [all.contentType, ...attributesOf(all)] },
  }),
  tokenFault('no message-digest', /message-digest is missing/, {
    faulty: { editAttributes: without('messageDigest') },
  }),
  tokenFault('another message-digest', /message-digest is not that of the TSTInfo/, {
    faulty: {
      editAttributes: instead({
        messageDigest: attribute(oids.messageDigest, octets(digest('sha256', ascii('x')))),
      }),
    },
  }),
  tokenFault('message-digest with two values', /message-digest has more than one value/, {
    faulty: {
      editAttributes: (all) => {
        const value = octets(digest('sha256', makeInfo(info)));
        return attributesOf({ ...all, messageDigest: attribute(oids.messageDigest, value, value) });
      },
    },
  }),
  tokenFault('message-digest twice', /attribute 1\.2\.840\.113549\.1\.9\.4 occurs twice/, {
    faulty: { editAttributes: (all) => [...attributesOf(all), all.messageDigest] },
  }),
  tokenFault('message-digest that is no OCTET STRING', /message-digest is not in the form/, {
    faulty: { editAttributes: instead({ messageDigest: attribute(oids.messageDigest, integer(1)) }) },
  }),
  tokenFault('an unknown attribute twice', /attribute 1\.2\.3 occurs twice/, {
    faulty: {
      editAttributes: (all) => [
        ...attributesOf(all),
        attribute('1.2.3', nullValue),
        attribute('1.2.3', nullValue),
      ],
    },
    sound: { editAttributes: (all) => [...attributesOf(all), attribute('1.2.3', nullValue, nullValue)] },
  }),
  tokenFault('a TSTInfo exchanged after it was signed', /message-digest is not that of the TSTInfo/, {
    faulty: { shownInfo: makeInfo({ ...info, genTime: stampedAt - 86_400_000 }) },
    sound: { shownInfo: makeInfo(info) },
  }),
];

/** The signer's certificate, and then always the one above it. */
const listed = (count: number, ...[signer, above]: { certificate: Bytes }[]) =>
  Array.from({ length: count }, (_, at) => (at === 0 ? signer : above)?.certificate ?? nothing);

const ess: FaultCase[] = [
  tokenFault('no ESS attribute', /ESS\) is missing/, { faulty: { ess: [] } }),
  tokenFault('the ESS attribute twice', /2\.47 occurs twice/, { faulty: { ess: ['v2', 'v2'] } }),
  ...[0, 17].map((count) =>
    tokenFault(`an ESS attribute with ${count} certificates`, /ESS\) is not in the form/, {
      faulty: ({ signer, intermediate }) => ({
        editAttributes: instead({ ess: [essAttribute('v2', listed(count, signer, intermediate))] }),
      }),
      sound: ({ signer, intermediate }) => ({
        editAttributes: instead({ ess: [essAttribute('v2', listed(16, signer, intermediate))] }),
      }),
    }),
  ),
  ...(['v1', 'v2'] as const).flatMap((version) => {
    const by =
      (edit: Parameters<typeof essAttribute>[2]) => (authority: { signer: { certificate: Bytes } }) => ({
        editAttributes: instead({ ess: [essAttribute(version, [authority.signer.certificate], edit)] }),
      });
    const [issuer, serial] = [nameOf('Test TSA CA'), 3];
    const sound = by({ issuerSerial: { issuer, serial } });
    return [
      tokenFault(`ESS ${version} of another certificate`, /ESS\) is not about/, {
        faulty: ({ intermediate }) => ({
          editAttributes: instead({ ess: [essAttribute(version, [intermediate.certificate])] }),
        }),
        sound: by({}),
      }),
      tokenFault(`ESS ${version} with another issuer`, /ESS\) is not about/, {
        faulty: by({ issuerSerial: { issuer: nameOf('Test Root'), serial } }),
        sound,
      }),
      tokenFault(`ESS ${version} with another serial number`, /ESS\) is not about/, {
        faulty: by({ issuerSerial: { issuer, serial: 4 } }),
        sound,
      }),
    ];
  }),
  tokenFault('ESS v2 by SHA-1', /ESS\) uses a hash/, {
    faulty: ({ signer }) => ({
      editAttributes: instead({ ess: [essAttribute('v2', [signer.certificate], { hash: 'sha1' })] }),
    }),
    sound: ({ signer }) => ({
      editAttributes: instead({ ess: [essAttribute('v2', [signer.certificate], { hash: 'sha512' })] }),
    }),
  }),
  tokenFault('ESS v1 right, but v2 of another certificate', /ESS\) is not about/, {
    faulty: ({ signer, intermediate }) => ({
      editAttributes: instead({
        ess: [essAttribute('v1', [signer.certificate]), essAttribute('v2', [intermediate.certificate])],
      }),
    }),
    sound: { ess: ['v1', 'v2'] },
  }),
];

export const tokenFaults: FaultCase[] = [...structure, ...information, ...attributes, ...ess];
