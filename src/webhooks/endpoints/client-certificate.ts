/** The client certificate that an endpoint's requests show to its receiver (mutual TLS). */
import { createPrivateKey, type KeyObject, randomBytes, sign, verify, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { promisify } from 'node:util';
import { AppError } from '../../runtime/errors.ts';

/** In PEM. The certificate may be followed by those of its authorities. */
export interface ClientCertificate {
  certificate: string;
  privateKey: string;
}

/** What everybody may see of it. */
export interface CertificateFacts {
  subject: string;
  issuer: string;
  notAfter: string;
  /** SHA-256, in lower-case hexadecimal digits. */
  fingerprint: string;
}

export const pemLimits = { certificate: 20_000, privateKey: 10_000 };

/**
 * Refuses what could not be used: an unreadable or expired certificate, an encrypted key, or the key of another one. Also keys
 * that would take long: each connection signs with it, on the thread that everybody shares.
 */
export async function readCertificate({
  certificate,
  privateKey,
}: ClientCertificate): Promise<CertificateFacts> {
  const chain = attempt('certificate is no certificate in PEM', () => readChain(certificate));
  const [read] = chain as [X509Certificate];
  const key = attempt('privateKey is no unencrypted private key in PEM', () => createPrivateKey(privateKey));
  // Before anything is done with the keys.
  for (const one of chain) {
    if (!isKindUsable(attempt(badKind, () => one.publicKey))) throw refused(badKind);
  }
  if (!isKindUsable(key) || !hasUsableNumbers(key)) throw refused(badKind);
  if (!read.checkPrivateKey(key)) throw refused('privateKey does not belong to the certificate');
  if (read.validToDate <= new Date())
    throw refused(`the certificate expired on ${read.validToDate.toISOString()}`);
  if (!(await signsFor(read.publicKey, key))) throw refused('privateKey does not belong to the certificate');
  // TLS refuses some that can be read, such as those with short keys.
  attempt('TLS cannot use this certificate', () =>
    createSecureContext({ cert: certificate, key: privateKey }),
  );
  return {
    subject: oneLine(read.subject),
    issuer: oneLine(read.issuer),
    notAfter: read.validToDate.toISOString(),
    fingerprint: read.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}

/** As TLS reads it: text around the certificates is skipped. At least one. */
function readChain(certificate: string): X509Certificate[] {
  const blocks = certificate.match(/-----BEGIN [^-]*CERTIFICATE-----[^-]*-----END [^-]*CERTIFICATE-----/g);
  return (blocks ?? [certificate]).map((block) => new X509Certificate(block));
}

const mostRsaBits = 4096;
const mostExponentBytes = 4;
const badKind = `the keys of the certificate, of its authorities and the private key must be RSA with at most ${mostRsaBits} bits, P-256, P-384 or Ed25519`;

function isKindUsable({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (type === 'ed25519') return true;
  if (type === 'ec') return ['prime256v1', 'secp384r1'].includes(details?.namedCurve ?? '');
  return type === 'rsa' && (details?.modulusLength ?? Number.POSITIVE_INFINITY) <= mostRsaBits;
}

/** The numbers in an RSA key decide what a signature takes: without its primes four times as long, with long ones any time. */
function hasUsableNumbers(key: KeyObject): boolean {
  if (key.asymmetricKeyType !== 'rsa') return true;
  const numbers = key.export({ format: 'jwk' });
  const bytes = (name: 'n' | 'e' | 'd' | 'p' | 'q' | 'dp' | 'dq' | 'qi') =>
    Buffer.from(numbers[name] ?? '', 'base64url').length;
  const half = Math.ceil(bytes('n') / 2);
  return (
    bytes('e') <= mostExponentBytes &&
    bytes('d') <= bytes('n') &&
    (['p', 'q', 'dp', 'dq', 'qi'] as const).every((name) => bytes(name) > 0 && bytes(name) <= half)
  );
}

/** Whether the private key signs for the public one; computed off the thread that everybody shares. */
async function signsFor(publicKey: KeyObject, key: KeyObject): Promise<boolean> {
  const data = randomBytes(32);
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  try {
    return await promisify(verify)(hash, data, publicKey, await promisify(sign)(hash, data, key));
  } catch {
    return false;
  }
}

function attempt<T>(problem: string, work: () => T): T {
  try {
    return work();
  } catch {
    // The reason could repeat parts of the key.
    throw refused(problem);
  }
}

function refused(problem: string): AppError {
  return new AppError('invalid_request', `clientCertificate: ${problem}.`);
}

function oneLine(name: string): string {
  return name.split('\n').join(', ').slice(0, 500);
}
