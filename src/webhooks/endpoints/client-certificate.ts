/** The client certificate that an endpoint's requests show to its receiver (mutual TLS). */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
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

/** Refuses what could not be used: an unreadable or expired certificate, an encrypted key, or the key of another one. */
export function readCertificate({ certificate, privateKey }: ClientCertificate): CertificateFacts {
  const read = attempt('certificate is no certificate in PEM', () => new X509Certificate(certificate));
  const key: KeyObject = attempt('privateKey is no unencrypted private key in PEM', () =>
    createPrivateKey(privateKey),
  );
  if (!read.checkPrivateKey(key)) throw refused('privateKey does not belong to the certificate');
  if (read.validToDate <= new Date())
    throw refused(`the certificate expired on ${read.validToDate.toISOString()}`);
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
