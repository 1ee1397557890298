/** Timestamp tokens and answers of an authority, with every field under control. */
import {
  around,
  type Bytes,
  bits,
  element,
  generalizedTime,
  inPlace,
  integer,
  join,
  nothing,
  octets,
  oid,
  sequence,
  set,
  utf8,
} from './der-writer.ts';
import { directoryName } from './test-certificates.ts';
import {
  digest,
  type Hash,
  hashAlgorithm,
  plainRsa,
  type SigningRule,
  signatureAlgorithm,
  signWith,
  type TestKey,
} from './test-keys.ts';

export const oids = {
  signedData: '1.2.840.113549.1.7.2',
  data: '1.2.840.113549.1.7.1',
  tstInfo: '1.2.840.113549.1.9.16.1.4',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  essV1: '1.2.840.113549.1.9.16.2.12',
  essV2: '1.2.840.113549.1.9.16.2.47',
};

/** Whose token it is. */
export interface TokenSigner {
  key: TestKey;
  rule: SigningRule;
  certificate: Bytes;
  issuer: Bytes;
  serial: number | bigint;
}

export interface InfoOptions {
  imprint: Bytes;
  /** Milliseconds. */
  genTime: number;
  policy?: string;
  serial?: number | bigint;
  nonce?: bigint;
  accuracy?: Bytes;
  ordering?: Bytes;
  /** A GeneralName. */
  authority?: Bytes;
  extensions?: Bytes[];
  version?: number;
  imprintAlgorithm?: Bytes;
  /** Replaces the encoded genTime. */
  encodedTime?: Bytes;
}

export interface TokenOptions extends InfoOptions {
  certificates?: Bytes[];
  ess?: ('v1' | 'v2')[];
  /** For each place in the list of attributes, in the order content-type, signing time, message-digest, ESS. */
  editAttributes?: (attributes: Attributes) => Bytes[];
  /** Replaces the attributes that are signed. */
  signedAttributes?: Bytes;
  tstInfo?: Bytes;
  /** Replaces what is in the token, after it was signed. */
  shownInfo?: Bytes;
  contentType?: string;
  outerType?: string;
  eContent?: Bytes;
  signedDataVersion?: number;
  signerVersion?: number;
  digestAlgorithms?: Bytes;
  digestHash?: Hash;
  signerId?: Bytes;
  signatureAlgorithm?: Bytes;
  signature?: Bytes;
  /** Null for a signature that does not suit: then another one is made. */
  editSignature?: (signature: Bytes) => Bytes | null;
  unsignedAttributes?: Bytes[];
  crls?: Bytes[];
  /** How often the signer is listed. */
  signers?: number;
  withoutAttributes?: boolean;
}

export interface Attributes {
  contentType: Bytes;
  signingTime: Bytes;
  messageDigest: Bytes;
  ess: Bytes[];
}

export function makeInfo(options: InfoOptions): Bytes {
  const { imprint, genTime, policy = '1.3.6.1.4.1.99999.1', nonce, extensions } = options;
  return sequence(
    integer(options.version ?? 1),
    oid(policy),
    sequence(options.imprintAlgorithm ?? hashAlgorithm('sha256'), octets(imprint)),
    integer(options.serial ?? 4711),
    options.encodedTime ?? generalizedTime(genTime),
    options.accuracy ?? nothing,
    options.ordering ?? nothing,
    nonce === undefined ? nothing : integer(nonce),
    options.authority ? around(0, options.authority) : nothing,
    extensions ? around(1, ...extensions) : nothing,
  );
}

export function makeToken(signer: TokenSigner, options: TokenOptions): Bytes {
  const { rule, key } = signer;
  const hash = options.digestHash ?? rule.hash;
  const info = options.tstInfo ?? makeInfo(options);
  const attributes: Attributes = {
    contentType: attribute(oids.contentType, oid(oids.tstInfo)),
    signingTime: attribute(oids.signingTime, element(0x17, new TextEncoder().encode('250615120000Z'))),
    messageDigest: attribute(oids.messageDigest, octets(digest(hash, info))),
    ess: (options.ess ?? ['v2']).map((version) => essAttribute(version, [signer.certificate])),
  };
  const usual = [attributes.contentType, attributes.signingTime, attributes.messageDigest, ...attributes.ess];
  const content = join(...(options.editAttributes?.(attributes) ?? usual));
  const sign = () => signWith(key, rule, options.signedAttributes ?? element(0x31, content));
  const { editSignature = (one) => one } = options;
  let signature = editSignature(sign());
  while (signature === null) signature = editSignature(sign());
  const usualAlgorithm = key.kind === 'rsa' && !rule.pss ? plainRsa : signatureAlgorithm(key, rule);
  const signerInfo = sequence(
    integer(options.signerVersion ?? 1),
    options.signerId ?? sequence(signer.issuer, integer(signer.serial)),
    hashAlgorithm(hash),
    options.withoutAttributes ? nothing : element(0xa0, content),
    options.signatureAlgorithm ?? usualAlgorithm,
    octets(options.signature ?? signature),
    options.unsignedAttributes ? around(1, ...options.unsignedAttributes) : nothing,
  );
  const signedData = sequence(
    integer(options.signedDataVersion ?? 3),
    options.digestAlgorithms ?? set(hashAlgorithm(hash)),
    sequence(
      oid(options.contentType ?? oids.tstInfo),
      options.eContent ?? around(0, octets(options.shownInfo ?? info)),
    ),
    options.certificates ? around(0, ...options.certificates) : nothing,
    options.crls ? around(1, ...options.crls) : nothing,
    set(...Array.from({ length: options.signers ?? 1 }, () => signerInfo)),
  );
  return sequence(oid(options.outerType ?? oids.signedData), around(0, signedData));
}

export function attribute(type: string, ...values: Bytes[]): Bytes {
  return sequence(oid(type), set(...values));
}

export interface EssOptions {
  hash?: Hash;
  /** Of the first certificate; with GeneralNames that contain its issuer. */
  issuerSerial?: { issuer: Bytes; serial: number | bigint };
  digest?: Bytes;
}

/** Identifies the first certificate as the signer's; more of them limit the path. */
export function essAttribute(version: 'v1' | 'v2', certificates: Bytes[], options: EssOptions = {}): Bytes {
  const hash = options.hash ?? (version === 'v1' ? 'sha1' : 'sha256');
  const ids = certificates.map((certificate, place) => {
    const { issuerSerial } = options;
    return sequence(
      version === 'v2' && options.hash ? hashAlgorithm(hash) : nothing,
      octets((place === 0 && options.digest) || digest(hash, certificate)),
      issuerSerial && place === 0
        ? sequence(sequence(directoryName(issuerSerial.issuer)), integer(issuerSerial.serial))
        : nothing,
    );
  });
  return attribute(version === 'v1' ? oids.essV1 : oids.essV2, sequence(sequence(...ids)));
}

/** Seconds, milliseconds and microseconds. */
export function accuracy(seconds?: number, millis?: number, micros?: number): Bytes {
  const small = (number: number) => integer(number).subarray(2);
  return sequence(
    seconds === undefined ? nothing : integer(seconds),
    millis === undefined ? nothing : inPlace(0, small(millis)),
    micros === undefined ? nothing : inPlace(1, small(micros)),
  );
}

/** A TimeStampResp that grants. */
export function makeAnswer(token: Bytes, status = 0): Bytes {
  return sequence(sequence(integer(status)), token);
}

/** A TimeStampResp that refuses; `failure` is the number of a bit. */
export function makeRefusal({
  status = 2,
  failure,
  text,
}: {
  status?: number;
  failure?: number;
  text?: string;
}) {
  const field = new Uint8Array(Math.floor((failure ?? 0) / 8) + 1);
  field[field.length - 1] = 128 >> ((failure ?? 0) % 8);
  return sequence(
    sequence(
      integer(status),
      text === undefined ? nothing : sequence(utf8(text)),
      failure === undefined ? nothing : bits(field, 7 - (failure % 8)),
    ),
  );
}
