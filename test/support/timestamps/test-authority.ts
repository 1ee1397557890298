/** A timestamp authority for tests: a root, an authority below it, and the signer's certificate, made in memory. */
import type { TimestampAnchor } from '../../../src/proof/rfc3161/anchor.ts';
import { readTrustAnchor, type TrustAnchor } from '../../../src/proof/rfc3161/certificates.ts';
import type { Bytes } from './der-writer.ts';
import {
  basicConstraints,
  type CertificateOptions,
  type CrlOptions,
  crlDistributionPoints,
  extendedKeyUsage,
  issuerAddress,
  keyUsage,
  makeCertificate,
  makeCrl,
  nameOf,
  purposes,
  subjectKeyIdExtension,
} from './test-certificates.ts';
import { digest, type KeyKind, type SigningRule, type TestKey, testKey } from './test-keys.ts';
import { makeToken, type TokenOptions } from './test-token.ts';

export interface AuthorityOptions {
  /** P-256 unless given. */
  kind?: KeyKind;
  /** How the token is signed; SHA-256 unless given. */
  rule?: SigningRule;
  /** Changes of the three certificates. */
  root?: Partial<CertificateOptions>;
  intermediate?: Partial<CertificateOptions>;
  signer?: Partial<CertificateOptions>;
  /** The time around which everything is valid, in milliseconds; `stampedAt` unless given. */
  around?: number;
}

export interface TestAuthority {
  root: Issued;
  intermediate: Issued;
  signer: Issued;
  trusted: TrustAnchor;
  /** A token with the certificates of signer and intermediate. */
  stamp(options?: Partial<TokenOptions>): Bytes;
  /** The anchor with that token; certificates and lists in DER. */
  anchor(token?: Bytes, more?: { certificates?: Bytes[]; crls?: Bytes[] }): TimestampAnchor;
  /** What the root or the intermediate says about the certificates that it has issued. */
  crl(by: 'root' | 'intermediate', options?: Partial<CrlOptions>): Bytes;
}

export interface Issued {
  key: TestKey;
  name: Bytes;
  serial: number | bigint;
  certificate: Bytes;
}

const day = 86_400_000;
const year = 365 * day;

/** The usual genTime. */
export const stampedAt = Date.parse('2025-06-15T12:00:00Z');
/** The usual time of judgement. */
export const judgedAt = Date.parse('2026-01-01T00:00:00Z');
/** What is stamped, if nothing else is: 32 bytes as of a batch root, and their hash. */
export const stampedBytes: Bytes = new Uint8Array(32).fill(0x5a);
export const stampedImprint = digest('sha256', stampedBytes);

export const crlAddresses = {
  signer: 'http://crl.test/tsa-ca.crl',
  intermediate: 'http://crl.test/root.crl',
};

/** The usual extensions, each by itself, so that a test can leave one out or replace it. */
export const usual = {
  signer: (key: TestKey) => ({
    constraints: basicConstraints(false),
    usage: keyUsage('digitalSignature'),
    purpose: extendedKeyUsage([purposes.timeStamping]),
    keyId: subjectKeyIdExtension(key),
    crl: crlDistributionPoints(crlAddresses.signer),
    issuer: issuerAddress('http://ca.test/tsa-ca.cer'),
  }),
  intermediate: () => ({
    constraints: basicConstraints(true, 0),
    usage: keyUsage('certSign', 'crlSign'),
    purpose: extendedKeyUsage([purposes.timeStamping], { critical: false }),
    crl: crlDistributionPoints(crlAddresses.intermediate),
    issuer: issuerAddress('http://ca.test/root.cer'),
  }),
};

export function createTestAuthority(options: AuthorityOptions = {}): TestAuthority {
  const { kind = 'p256', rule = { hash: 'sha256' }, around = stampedAt } = options;
  const root = issue(
    { name: 'Test Root', key: testKey(kind, 'root'), serial: 1, years: [-10, 30] },
    { extensions: [basicConstraints(true), keyUsage('certSign', 'crlSign')], ...options.root },
  );
  const intermediate = issue(
    { name: 'Test TSA CA', key: testKey(kind, 'intermediate'), serial: 2, years: [-5, 15], issuer: root },
    { extensions: Object.values(usual.intermediate()), ...options.intermediate },
  );
  const signerKey = options.signer?.key ?? testKey(kind, 'signer');
  const signer = issue(
    { name: 'Test TSA', key: signerKey, serial: 3, years: [-1, 10], issuer: intermediate },
    { extensions: Object.values(usual.signer(signerKey)), ...options.signer },
  );
  const stamp: TestAuthority['stamp'] = (changes = {}) =>
    makeToken(
      { ...signer, issuer: options.signer?.issuer ?? intermediate.name, rule },
      {
        ...{ imprint: stampedImprint, genTime: around },
        ...{ certificates: [signer.certificate, intermediate.certificate], ...changes },
      },
    );
  return {
    ...{ root, intermediate, signer, stamp },
    trusted: readTrustAnchor(root.certificate),
    anchor(token = stamp(), { certificates = [], crls = [] } = {}) {
      return {
        type: 'rfc3161',
        token: base64(token),
        certificates: certificates.map(base64),
        crls: crls.map(base64),
      };
    },
    crl(by, changes = {}) {
      const { name, key } = { root, intermediate }[by];
      const times = { thisUpdate: around - day, nextUpdate: around + 7 * day };
      return makeCrl({ issuer: name, signedBy: key, ...times, ...changes });
    },
  };

  function issue(
    usually: { name: string; key: TestKey; serial: number; years: [number, number]; issuer?: Issued },
    changes: Partial<CertificateOptions>,
  ): Issued {
    const [before, after] = usually.years;
    const all: CertificateOptions = {
      subject: nameOf(usually.name),
      issuer: usually.issuer?.name ?? nameOf(usually.name),
      key: usually.key,
      signedBy: usually.issuer?.key ?? usually.key,
      serial: usually.serial,
      notBefore: around + before * year,
      notAfter: around + after * year,
      ...changes,
    };
    return { key: all.key, name: all.subject, serial: all.serial ?? 1, certificate: makeCertificate(all) };
  }
}

export function base64(bytes: Bytes): string {
  return Buffer.from(bytes).toString('base64');
}

export function pem(certificate: Bytes): string {
  return pemOf('CERTIFICATE', certificate);
}

export function crlPem(list: Bytes): string {
  return pemOf('X509 CRL', list);
}

function pemOf(what: string, bytes: Bytes): string {
  const lines = base64(bytes).match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${what}-----\n${lines.join('\n')}\n-----END ${what}-----\n`;
}
