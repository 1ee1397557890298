/** Certificates and lists of revoked ones, with every field under control. */
import {
  around,
  ascii,
  type Bytes,
  bits,
  boolean,
  enumerated,
  inPlace,
  integer,
  join,
  nothing,
  octets,
  oid,
  sequence,
  set,
  time,
  utf8,
} from './der-writer.ts';
import { digest, type SigningRule, signatureAlgorithm, signWith, type TestKey } from './test-keys.ts';

export interface CertificateOptions {
  subject: Bytes;
  issuer: Bytes;
  key: TestKey;
  signedBy: TestKey;
  rule?: SigningRule;
  serial?: number | bigint;
  /** Milliseconds. */
  notBefore: number;
  notAfter: number;
  extensions?: Bytes[];
  /** The version field: `[0]` with 2 unless given. */
  version?: Bytes;
  /** Another algorithm than that of the signature; and another one inside than outside. */
  algorithm?: Bytes;
  innerAlgorithm?: Bytes;
  /** Replaces the key. */
  spki?: Bytes;
  /** Replaces the list of extensions. */
  extensionList?: Bytes;
  /** The BIT STRING of the signature; null for a signature that does not suit: then another one is made. */
  editSignature?: (signature: Bytes) => Bytes | null;
}

export interface CrlOptions {
  issuer: Bytes;
  signedBy: TestKey;
  rule?: SigningRule;
  /** 1, which means the second version, unless given. */
  version?: number;
  thisUpdate: number;
  /** Null: none is announced. */
  nextUpdate: number | null;
  revoked?: { serial: number | bigint; date: number; reason?: number; extensions?: Bytes[] }[];
  extensions?: Bytes[];
}

/** A common name. */
export function nameOf(commonName: string): Bytes {
  return sequence(set(sequence(oid('2.5.4.3'), utf8(commonName))));
}

export function makeCertificate(options: CertificateOptions): Bytes {
  const { subject, issuer, key, signedBy, rule = { hash: 'sha256' }, extensions = [] } = options;
  const algorithm = options.algorithm ?? signatureAlgorithm(signedBy, rule);
  const list = options.extensionList ?? (extensions.length > 0 ? sequence(...extensions) : nothing);
  const signed = sequence(
    options.version ?? around(0, integer(2)),
    integer(options.serial ?? 1),
    options.innerAlgorithm ?? algorithm,
    issuer,
    sequence(time(options.notBefore), time(options.notAfter)),
    subject,
    options.spki ?? key.spki,
    list.length > 0 ? around(3, list) : nothing,
  );
  const { editSignature = (signature) => bits(signature) } = options;
  let signature = editSignature(signWith(signedBy, rule, signed));
  while (signature === null) signature = editSignature(signWith(signedBy, rule, signed));
  return sequence(signed, algorithm, signature);
}

export function makeCrl(options: CrlOptions): Bytes {
  const { issuer, signedBy, rule = { hash: 'sha256' }, thisUpdate, nextUpdate, revoked = [] } = options;
  const algorithm = signatureAlgorithm(signedBy, rule);
  const entries = revoked.map(({ serial, date, reason, extensions = [] }) => {
    const all =
      reason === undefined ? extensions : [...extensions, extension('2.5.29.21', enumerated(reason))];
    return sequence(integer(serial), time(date), all.length > 0 ? sequence(...all) : nothing);
  });
  const extensions = options.extensions ?? [extension('2.5.29.20', integer(1))];
  const signed = sequence(
    integer(options.version ?? 1),
    algorithm,
    issuer,
    time(thisUpdate),
    nextUpdate === null ? nothing : time(nextUpdate),
    entries.length > 0 ? sequence(...entries) : nothing,
    extensions.length > 0 ? around(0, sequence(...extensions)) : nothing,
  );
  return sequence(signed, algorithm, bits(signWith(signedBy, rule, signed)));
}

export function extension(id: string, value: Bytes, { critical = false } = {}): Bytes {
  return sequence(oid(id), critical ? boolean(true) : nothing, octets(value));
}

export const purposes = {
  timeStamping: '1.3.6.1.5.5.7.3.8',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  any: '2.5.29.37.0',
};

export function extendedKeyUsage(ids: string[], { critical = true } = {}): Bytes {
  return extension('2.5.29.37', sequence(...ids.map(oid)), { critical });
}

const usageBits = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  '',
  '',
  'certSign',
  'crlSign',
] as const;

export function keyUsage(...usages: (typeof usageBits)[number][]): Bytes {
  const byte = usages.reduce((sum, usage) => sum | (128 >> usageBits.indexOf(usage)), 0);
  const unused = byte === 0 ? 0 : 31 - Math.clz32(byte & -byte);
  return extension('2.5.29.15', bits(byte === 0 ? nothing : Uint8Array.of(byte), unused), { critical: true });
}

export function basicConstraints(authority: boolean, pathLength?: number): Bytes {
  const parts = [
    authority ? boolean(true) : nothing,
    pathLength === undefined ? nothing : integer(pathLength),
  ];
  return extension('2.5.29.19', sequence(...parts), { critical: true });
}

export const subjectKeyId = (key: TestKey): Bytes => digest('sha1', key.spki);
export const subjectKeyIdExtension = (key: TestKey): Bytes =>
  extension('2.5.29.14', octets(subjectKeyId(key)));

/** A GeneralName that is a URL. */
export const url = (address: string): Bytes => inPlace(6, ascii(address));
/** A GeneralName that is a name. */
export const directoryName = (name: Bytes): Bytes => around(4, name);

export function crlDistributionPoints(...addresses: string[]): Bytes {
  const points = addresses.map((address) => sequence(around(0, around(0, url(address)))));
  return extension('2.5.29.31', sequence(...points));
}

export function issuerAddress(address: string): Bytes {
  return extension('1.3.6.1.5.5.7.1.1', sequence(sequence(oid('1.3.6.1.5.5.7.48.2'), url(address))));
}

/** The scope of a list: names under which it is published, and further fields such as `[1]` for users only. */
export function issuingDistributionPoint({
  addresses = [],
  more = [],
}: {
  addresses?: string[];
  more?: Bytes[];
}) {
  const names = addresses.length > 0 ? around(0, around(0, ...addresses.map(url))) : nothing;
  return extension('2.5.29.28', sequence(join(names, ...more)), { critical: true });
}
