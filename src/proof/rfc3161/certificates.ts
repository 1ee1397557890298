/** Reads X.509 certificates (RFC 5280), from DER or PEM: what of them decides about a timestamp, and roots to pin. */
import { sha256 } from '@noble/hashes/sha2.js';
import type { Hex } from 'viem';
import { toHex } from '../hex.ts';
import { keyOf, type Signature } from './algorithms.ts';
import { fromBase64, timestampLimits } from './anchor.ts';
import {
  around,
  bitString,
  boolean,
  type Der,
  elementsOf,
  fieldsOf,
  formFault,
  inPlace,
  integer,
  isNumber,
  isTrue,
  listOf,
  must,
  objectId,
  octetString,
  oidOf,
  onlyOf,
  readDer,
  readOr,
  sameBytes,
  sequence,
  smallInteger,
  time,
  timeOf,
  wholeBytes,
} from './der.ts';

/** Of a root only name, key and validity count; whoever pins it has judged the rest. */
export interface TrustAnchor {
  /** The name, in DER. */
  subject: Uint8Array;
  /** The key: a SubjectPublicKeyInfo in DER. */
  spki: Uint8Array;
  /** The subject for people. */
  name: string;
  /** SHA-256 of the certificate. */
  fingerprint: Hex;
  /** Milliseconds; both still belong to the validity. */
  notBefore: number;
  notAfter: number;
}

export interface Certificate extends Omit<TrustAnchor, 'fingerprint'> {
  bytes: Uint8Array;
  /** The content of the INTEGER. */
  serial: Uint8Array;
  /** Names are compared as they are encoded: an authority writes its own the same way everywhere. */
  issuer: Uint8Array;
  signed: Signature;
  extensions: Extensions;
  /** May issue certificates; and how many authorities may follow below it. */
  isAuthority: boolean;
  pathLength: number | undefined;
  /** The bits as in `usages`; undefined when nothing is said. */
  keyUsage: number | undefined;
  extendedKeyUsage: string[] | undefined;
}

export type Extensions = Map<string, { isCritical: boolean; value: Uint8Array }>;

export const usages = { digitalSignature: 0x8000, nonRepudiation: 0x4000, certSign: 0x0400, crlSign: 0x0200 };

export const extensionIds = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  reasonCode: '2.5.29.21',
  issuingDistributionPoint: '2.5.29.28',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  extendedKeyUsage: '2.5.29.37',
};

/** One certificate, in PEM or DER. Throws with the reason when it cannot be a root. */
export function readTrustAnchor(pemOrDer: string | Uint8Array): TrustAnchor {
  const [anchor, more] = readTrustAnchors(pemOrDer);
  must(anchor !== undefined && more === undefined, 'There is more than one certificate.');
  return anchor;
}

/** One or more certificates in one PEM file, or one in DER. */
export function readTrustAnchors(pemOrDer: string | Uint8Array): TrustAnchor[] {
  return readCertificates(pemOrDer).map(anchorOf);
}

/** Text around the PEM blocks, such as what openssl prints, does not matter. */
export function readCertificates(pemOrDer: string | Uint8Array): Certificate[] {
  if (typeof pemOrDer !== 'string' && pemOrDer[0] === sequence) {
    return [readCertificate(pemOrDer, 'The certificate')];
  }
  const text = typeof pemOrDer === 'string' ? pemOrDer : new TextDecoder().decode(pemOrDer);
  const blocks = [...text.matchAll(/-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g)];
  must(blocks.length > 0, 'There is no certificate in PEM or DER.');
  return blocks.map(([, block = ''], at) => {
    const bytes = fromBase64(block.replace(/[ \t\r\n]/g, ''));
    must(bytes !== undefined, `Certificate ${at + 1} is not in base64.`);
    return readCertificate(bytes, `Certificate ${at + 1}`);
  });
}

/** Version, serial number, algorithm, issuer, validity, subject, key, two forgotten identifiers, extensions. */
const certificateShape = [
  [around(0)],
  integer,
  sequence,
  sequence,
  sequence,
  sequence,
  sequence,
  [inPlace(1)],
  [inPlace(2)],
  [around(3)],
] as const;

/** `what` names it in faults: "Certificate 1 of the token". */
export function readCertificate(bytes: Uint8Array, what: string): Certificate {
  const { certificateBytes } = timestampLimits;
  must(bytes.length <= certificateBytes, `${what} is larger than ${certificateBytes} bytes.`);
  const { data, signed } = readSigned(bytes, what);
  const [version, serial, algorithm, issuer, validity, subject, spki, , , wrapped] = fieldsOf(
    data,
    what,
    certificateShape,
  );
  const [number] = version === undefined ? [] : fieldsOf(version, what, [integer], around(0));
  must(
    number === undefined || isNumber(number, 1) || isNumber(number, 2),
    `${what} is of an unknown version.`,
  );
  requireSame(algorithm, signed.algorithm, what);
  const [notBefore, notAfter] = fieldsOf(validity, what, [time, time]).map((one) => timeOf(one, what));
  const extensions = readExtensions(wrapped && onlyOf(wrapped, what), what);
  const inside = (id: string, tag?: number) => {
    const value = extensions.get(id)?.value;
    return value && readDer(value, what, tag);
  };
  const constraints = inside(extensionIds.basicConstraints);
  const [authority, length] = constraints ? fieldsOf(constraints, what, [[boolean], [integer]]) : [];
  const [unused, high = 0, low = 0, ...more] = inside(extensionIds.keyUsage, bitString)?.value ?? [];
  if (more.length > 0) throw formFault(what);
  const purposes = inside(extensionIds.extendedKeyUsage);
  return {
    ...{ bytes, signed, extensions, serial: serial.value, issuer: issuer.bytes },
    ...{ subject: subject.bytes, name: nameText(subject.bytes), spki: spki.bytes },
    ...{ notBefore: notBefore ?? 0, notAfter: notAfter ?? 0 },
    isAuthority: isTrue(authority, what),
    pathLength: length && smallInteger(length, `The path length of ${what}`),
    keyUsage: unused === undefined ? undefined : high * 256 + low,
    extendedKeyUsage: purposes && listOf(purposes, what, objectId).map(oidOf),
  };
}

/** A certificate or a list of revoked ones: the signed part, and its signature. */
export function readSigned(bytes: Uint8Array, what: string): { data: Der; signed: Signature } {
  const [data, algorithm, bits] = fieldsOf(readDer(bytes, what), what, [sequence, sequence, bitString]);
  return { data, signed: { algorithm, signature: wholeBytes(bits, what), data: data.bytes } };
}

/** Certificates and lists name their algorithm twice, once inside what is signed. */
export function requireSame(inside: Der, outside: Der, what: string): void {
  must(sameBytes(inside.bytes, outside.bytes), `${what} names two signature algorithms.`);
}

/** SHA-256 of the certificate. */
export function fingerprintOf(certificate: Uint8Array): Hex {
  return toHex(sha256(certificate));
}

/** By their identifiers; one that occurs twice could be read in two ways. */
export function readExtensions(der: Der | undefined, what: string): Extensions {
  const extensions: Extensions = new Map();
  if (der !== undefined && der.tag !== sequence) throw formFault(what);
  for (const extension of der === undefined ? [] : listOf(der, what)) {
    const [type, critical, { value }] = fieldsOf(extension, what, [objectId, [boolean], octetString]);
    const id = oidOf(type);
    must(!extensions.has(id), `${what} has the extension ${id} twice.`);
    extensions.set(id, { isCritical: isTrue(critical, what), value });
  }
  return extensions;
}

/** The GeneralNames under which its list of revoked certificates is published as a whole. */
export function crlNames({ extensions }: Certificate): Der[] {
  return readOr([], () => {
    const value = extensions.get(extensionIds.crlDistributionPoints)?.value;
    return (value ? listOf(readDer(value, ''), '') : []).flatMap((point) => {
      const [name, more] = elementsOf(point);
      // With reasons or an issuer of its own it is only a part of the list, or not the authority's.
      const [full] = name?.tag === around(0) && more === undefined ? elementsOf(name) : [];
      return full?.tag === around(0) ? elementsOf(full) : [];
    });
  });
}

const shortNames: Record<string, string> = {
  '2.5.4.3': 'CN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '2.5.4.97': 'organizationIdentifier',
};

const longestName = 300;

/** For people, in the order of the encoding: "C=US, O=Example, CN=Example Root". */
export function nameText(name: Uint8Array): string {
  const parts = readOr([], () =>
    elementsOf(readDer(name, ''))
      .flatMap(elementsOf)
      .map((part) => {
        const [type, value] = fieldsOf(part, '', [objectId, elementsOf(part)[1]?.tag ?? 0]);
        const text = new TextDecoder(value.tag === 0x1e ? 'utf-16be' : 'utf-8').decode(value.value);
        return `${shortNames[oidOf(type)] ?? oidOf(type)}=${harmless(text)}`;
      }),
  );
  const text = parts.join(', ') || 'an authority without a name';
  return text.length > longestName ? `${text.slice(0, longestName)}…` : text;
}

/** A comma would look like the next part of a name; what cannot be seen, or turns the direction of text, is shown. */
export function harmless(text: string): string {
  return text
    .replace(/[,\\]/g, '\\$&')
    .replace(/[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu, '\ufffd');
}

function anchorOf({ bytes, subject, spki, name, notBefore, notAfter, ...rest }: Certificate): TrustAnchor {
  // Before version 3 there were no extensions that could say it.
  const mayIssue = (rest.isAuthority || rest.extensions.size === 0) && mayDo(rest.keyUsage, usages.certSign);
  must(mayIssue, `${name} is not an authority and may not issue certificates.`);
  const isAccepted = keyOf(spki) !== undefined;
  must(isAccepted, `The key of ${name} is neither RSA of 2,048 to 8,192 bits nor on P-256 or P-384.`);
  return { subject, spki, name, fingerprint: fingerprintOf(bytes), notBefore, notAfter };
}

/** A certificate that says nothing about the usage of its key allows all of them. */
export function mayDo(keyUsage: number | undefined, usage: number): boolean {
  return keyUsage === undefined || (keyUsage & usage) !== 0;
}
