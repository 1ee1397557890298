/** Certificates for TLS that vouch for themselves, made here: openssl need not be installed. */
import { randomInt, X509Certificate } from 'node:crypto';
import { ascii, type Bytes, inPlace, sequence } from '../timestamps/der-writer.ts';
import {
  basicConstraints,
  extension,
  makeCertificate,
  nameOf,
  subjectKeyIdExtension,
} from '../timestamps/test-certificates.ts';
import { testKey } from '../timestamps/test-keys.ts';

export interface SelfSigned {
  /** Both as PEM. */
  cert: string;
  key: string;
}

const day = 86_400_000;

/** Valid today, unless it has expired; `hosts`: names, and addresses of IPv4. */
export function makeSelfSigned(
  name: string,
  { hosts = [name], expired = false }: { hosts?: string[]; expired?: boolean } = {},
): SelfSigned {
  // TLS goes by the clock of the machine, whatever a run has set.
  const now = performance.timeOrigin + performance.now();
  const from = expired ? now - 100 * day : now - day;
  // A curve: an RSA key takes half a second of processor time. Each has a key of its own.
  const serial = randomInt(2 ** 47);
  const key = testKey('p256', `self-signed ${serial}`);
  const certificate = makeCertificate({
    ...{ subject: nameOf(name), issuer: nameOf(name), key, signedBy: key, serial },
    ...{ notBefore: from, notAfter: from + 3 * day },
    extensions: [
      basicConstraints(true),
      subjectKeyIdExtension(key),
      extension('2.5.29.17', sequence(...hosts.map(generalName))),
    ],
  });
  return {
    cert: new X509Certificate(certificate).toString(),
    key: key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function generalName(host: string): Bytes {
  const isAddress = /^[\d.]+$/.test(host);
  return isAddress ? inPlace(7, Uint8Array.from(host.split('.').map(Number))) : inPlace(2, ascii(host));
}
