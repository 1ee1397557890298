/**
 * Reads a timestamp token: a CMS ContentInfo with SignedData (RFC 5652) around a TSTInfo (RFC 3161), and what its one
 * signer signed. Real authorities do not sort sets as DER would have it (DigiCert's attributes, everybody's
 * certificates), so any order is accepted, and what is signed is taken as it was written.
 */
import { type HashName, hashOf, isAlgorithm, type Signature } from './algorithms.ts';
import { timestampLimits } from './anchor.ts';
import { type Certificate, readCertificate, readExtensions } from './certificates.ts';
import {
  around,
  boolean,
  type Der,
  elementsOf,
  fieldsOf,
  formFault,
  generalizedTime,
  inPlace,
  integer,
  isNumber,
  listOf,
  must,
  objectId,
  octetString,
  oidOf,
  onlyOf,
  readDer,
  sequence,
  set,
  smallInteger,
  timeOf,
} from './der.ts';

export interface Token {
  certificates: Certificate[];
  /** The TSTInfo as it was signed. */
  content: Uint8Array;
  info: TimestampInfo;
  signer: Signer;
}

export interface TimestampInfo {
  policy: string;
  imprintHash: HashName | undefined;
  imprint: Uint8Array;
  /** The content of the INTEGER. */
  serial: Uint8Array;
  /** The genTime, in milliseconds. */
  time: number;
  accuracyMs: number;
  /** The INTEGER. */
  nonce: Uint8Array | undefined;
  /** The GeneralName of the authority. */
  authority: Der | undefined;
}

export interface Signer {
  /** Its certificate's issuer and serial number, or its key's identifier. */
  named: { issuer: Uint8Array; serial: Uint8Array } | { keyId: Uint8Array };
  hash: HashName;
  signed: Signature;
  messageDigest: Uint8Array;
  /** For each ESS attribute: the signer's certificate, and possibly those above it. */
  identified: CertificateId[][];
}

export interface CertificateId {
  hash: HashName | 'SHA-1';
  digest: Uint8Array;
  issuer: Uint8Array | undefined;
  serial: Uint8Array | undefined;
}

const signedData = '1.2.840.113549.1.7.2';
const tstInfo = '1.2.840.113549.1.9.16.1.4';
const contentType = '1.2.840.113549.1.9.3';
const messageDigest = '1.2.840.113549.1.9.4';
/** RFC 2634, by SHA-1; and RFC 5035, by any hash, SHA-256 unless named. A token may have both. */
const ess = { v1: '1.2.840.113549.1.9.16.2.12', v2: '1.2.840.113549.1.9.16.2.47' };

/** Version, hashes, content, certificates, lists of revoked certificates (not used), signers. */
const signedDataShape = [integer, set, sequence, [around(0)], [around(1)], set] as const;

/** Throws a TokenFault when it is no such token. */
export function readToken(bytes: Uint8Array): Token {
  const what = 'The token';
  const [type, wrapped] = fieldsOf(readDer(bytes, what), what, [objectId, around(0)]);
  must(oidOf(type) === signedData, 'The token is not CMS SignedData.');
  const inner = onlyOf(wrapped, what);
  const [version, digests, encapsulated, certificates, , signers] = fieldsOf(inner, what, signedDataShape);
  must(isNumber(version, 3), 'The token is not SignedData of version 3.');
  const [contained, content] = fieldsOf(encapsulated, what, [objectId, [around(0)]]);
  must(oidOf(contained) === tstInfo && content !== undefined, 'The token does not contain a TSTInfo.');
  const [octets] = fieldsOf(content, what, [octetString], around(0));
  const [only, more] = elementsOf(signers);
  must(only !== undefined && more === undefined, 'The token does not have exactly one signer.');
  const signer = readSigner(only);
  const listed = listOf(digests, what);
  if (!listed.every(isAlgorithm)) throw formFault(what);
  const isListed = listed.some((one) => hashOf(one) === signer.hash);
  must(isListed, "The token does not list its signer's hash.");
  return {
    certificates: (certificates ? listOf(certificates, what) : []).map((one, at) =>
      readCertificate(one.bytes, `Certificate ${at + 1} of the token`),
    ),
    content: octets.value,
    info: readInfo(octets.value),
    signer,
  };
}

/** Version, policy, imprint, serial number, time; accuracy, ordering, nonce, authority, extensions. */
const infoShape = [
  integer,
  objectId,
  sequence,
  integer,
  generalizedTime,
  [sequence],
  [boolean],
  [integer],
  [around(0)],
  [around(1)],
] as const;

function readInfo(bytes: Uint8Array): TimestampInfo {
  const what = 'The TSTInfo';
  const [version, policy, imprinted, serial, genTime, accuracy, , nonce, named, more] = fieldsOf(
    readDer(bytes, what),
    what,
    infoShape,
  );
  must(isNumber(version, 1), 'The TSTInfo is not of version 1.');
  const [algorithm, imprint] = fieldsOf(imprinted, what, [sequence, octetString]);
  for (const [id, { isCritical }] of readExtensions(more && { ...more, tag: sequence }, what)) {
    must(!isCritical, `The TSTInfo has the critical extension ${id}, which is not understood.`);
  }
  return {
    policy: oidOf(policy),
    imprintHash: hashOf(algorithm),
    imprint: imprint.value,
    serial: serial.value,
    time: timeOf(genTime, what, { fraction: true }),
    accuracyMs: accuracy === undefined ? 0 : readAccuracy(accuracy),
    nonce: nonce?.bytes,
    authority: named && onlyOf(named, what),
  };
}

/** In whole milliseconds, rounded up. */
function readAccuracy(der: Der): number {
  const what = 'The accuracy';
  const [seconds, millis, micros] = fieldsOf(der, what, [[integer], [inPlace(0)], [inPlace(1)]]).map(
    (part) => part && smallInteger(part, what),
  );
  const isInRange = [millis, micros].every((part) => part === undefined || (part > 0 && part < 1000));
  must(isInRange, 'The accuracy is out of range.');
  return (seconds ?? 0) * 1000 + (millis ?? 0) + (micros === undefined ? 0 : 1);
}

function readSigner(der: Der): Signer {
  const what = "The token's SignerInfo";
  const byKey = elementsOf(der)[1]?.tag === inPlace(0);
  const [version, who, hashing, attributes, algorithm, signature] = fieldsOf(der, what, [
    integer,
    byKey ? inPlace(0) : sequence,
    sequence,
    [around(0)],
    sequence,
    octetString,
    [around(1)],
  ]);
  must(isNumber(version, byKey ? 3 : 1), `${what} is not of version ${byKey ? 3 : 1}.`);
  const [issuer, number] = byKey ? [] : fieldsOf(who, what, [sequence, integer]);
  const hash = hashOf(hashing);
  must(hash !== undefined, "The signer's hash is not SHA-256, SHA-384 or SHA-512.");
  must(attributes !== undefined, 'The token has no signed attributes.');
  const values = readAttributes(attributes);
  const type = onlyValue(values, contentType, 'content-type');
  must(type.tag === objectId && oidOf(type) === tstInfo, 'The attribute content-type is not TSTInfo.');
  const digest = onlyValue(values, messageDigest, 'message-digest');
  if (digest.tag !== octetString) throw formFault('The attribute message-digest');
  // Signed is the attributes' SET, whose tag is replaced in the token.
  const data = attributes.bytes.slice();
  data[0] = set;
  return {
    named: issuer && number ? { issuer: issuer.bytes, serial: number.value } : { keyId: who.value },
    hash,
    signed: { algorithm, signature: signature.value, data, hash },
    messageDigest: digest.value,
    identified: readIdentified(values),
  };
}

/** By their types; an attribute that occurs twice could be read in two ways. */
function readAttributes(der: Der): Map<string, Der[]> {
  const values = new Map<string, Der[]>();
  for (const attribute of listOf(der, 'The list of signed attributes')) {
    const [type, all] = fieldsOf(attribute, 'A signed attribute', [objectId, set]);
    const id = oidOf(type);
    must(!values.has(id), `The signed attribute ${id} occurs twice.`);
    values.set(id, elementsOf(all));
  }
  return values;
}

function onlyValue(values: Map<string, Der[]>, id: string, name: string): Der {
  const [value, more] = values.get(id) ?? [];
  must(value !== undefined, `The signed attribute ${name} is missing.`);
  must(more === undefined, `The signed attribute ${name} has more than one value.`);
  return value;
}

function readIdentified(values: Map<string, Der[]>): CertificateId[][] {
  const name = 'signing-certificate (ESS)';
  const present = Object.values(ess).filter((id) => values.has(id));
  must(present.length > 0, `The signed attribute ${name} is missing.`);
  return present.map((id) => {
    const what = `The attribute ${name}`;
    const [all] = fieldsOf(onlyValue(values, id, name), what, [sequence, [sequence]]);
    const ids = listOf(all, what);
    if (ids.length === 0 || ids.length > timestampLimits.certificates) throw formFault(what);
    return ids.map((one) => readCertificateId(one, what, id === ess.v1));
  });
}

function readCertificateId(der: Der, what: string, isV1: boolean): CertificateId {
  const named = isV1 ? false : elementsOf(der)[0]?.tag === sequence;
  const [algorithm, digest, who] = named
    ? fieldsOf(der, what, [sequence, octetString, [sequence]])
    : [undefined, ...fieldsOf(der, what, [octetString, [sequence]])];
  const hash = isV1 ? 'SHA-1' : algorithm ? hashOf(algorithm) : 'SHA-256';
  must(hash !== undefined, `${what} uses a hash that is not accepted.`);
  const [names, serial] = who ? fieldsOf(who, what, [sequence, integer]) : [];
  const [name] = names ? fieldsOf(names, what, [around(4)]) : [];
  const [issuer] = name ? fieldsOf(name, what, [sequence], around(4)) : [];
  return { hash, digest: digest.value, issuer: issuer?.bytes, serial: serial?.value };
}
