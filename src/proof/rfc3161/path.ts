/**
 * Finds the certificate of a token's signer, and the path from it to a pinned root (RFC 5280). The shortest path that
 * holds counts; certificates that lead nowhere do not matter.
 */
import { digestOf, isSignedBy } from './algorithms.ts';
import { type Certificate, extensionIds, mayDo, type TrustAnchor, usages } from './certificates.ts';
import { must, octetString, sameBytes, writeDer } from './der.ts';
import type { CertificateId, Token } from './token.ts';

export interface Path {
  /** The signer's first, the one that the root issued last. */
  certificates: Certificate[];
  root: TrustAnchor;
}

/** A path that holds; or what is wrong with the one there is; or the certificate beyond which nothing is known. */
export type PathResult = { path: Path } | { fault: string } | { end: Certificate };

export const timeStamping = '1.3.6.1.5.5.7.3.8';
const anyPurpose = '2.5.29.37.0';
const longestPath = 8;

/** The extensions that may be critical, because they are checked here or limit nothing that matters here. */
const understood: string[] = [
  extensionIds.keyUsage,
  extensionIds.subjectAltName,
  extensionIds.basicConstraints,
  extensionIds.certificatePolicies,
  extensionIds.extendedKeyUsage,
];

/** The certificate that the token names and identifies by its hash; undefined when none has that name. */
export async function findSigner(
  { signer: { named, identified } }: Token,
  pool: readonly Certificate[],
): Promise<Certificate | undefined> {
  const candidates = pool.filter(({ issuer, serial, extensions }) => {
    if ('serial' in named) return sameBytes(issuer, named.issuer) && sameBytes(serial, named.serial);
    return sameBytes(writeDer(octetString, named.keyId), extensions.get(extensionIds.subjectKeyId)?.value);
  });
  for (const candidate of candidates) {
    const matches = await Promise.all(identified.map(([first]) => identifies(first, candidate)));
    if (!matches.includes(false)) return candidate;
  }
  must(
    candidates.length === 0,
    "The attribute signing-certificate (ESS) is not about the signer's certificate.",
  );
  return undefined;
}

/** Each certificate of the path, and the root, must have been valid at the genTime. */
export async function findPath(
  signer: Certificate,
  { token, pool, roots }: { token: Token; pool: readonly Certificate[]; roots: readonly TrustAnchor[] },
): Promise<PathResult> {
  const { time } = token.info;
  const allowed = await allowedBy(token, pool);
  const search = async (strict: boolean): Promise<Path | Certificate> => {
    const reached = [[signer]];
    const seen = new Set([signer]);
    let last = signer;
    // Grows while it is walked: all paths of one length come before the longer ones.
    for (const below of reached) {
      last = below.at(-1) ?? signer;
      for (const root of roots) {
        if (strict && validityFault(root, time) !== null) continue;
        if (await isIssuedBy(last, root)) return { certificates: below, root };
      }
      for (const issuer of below.length < longestPath ? allowed : []) {
        if (seen.has(issuer) || (strict && issuerFault(issuer, below, time) !== null)) continue;
        if (!(await isIssuedBy(last, issuer))) continue;
        seen.add(issuer);
        reached.push([...below, issuer]);
      }
    }
    return last;
  };

  const good = await search(true);
  if ('root' in good) return { path: good };
  const any = await search(false);
  if (!('root' in any)) return { end: any };
  const faults = any.certificates.slice(1).map((one, at) => {
    return issuerFault(one, any.certificates.slice(0, at + 1), time);
  });
  const fault = [...faults, validityFault(any.root, time)].find((one) => one !== null);
  return { fault: fault ?? 'No path of certificates holds.' };
}

export function validityFault(
  { notBefore, notAfter, name }: { notBefore: number; notAfter: number; name: string },
  time: number,
): string | null {
  return time < notBefore || time > notAfter ? `The genTime is outside the validity of ${name}.` : null;
}

export function criticalFault({ extensions, name }: Certificate): string | null {
  const unknown = [...extensions].find(([id, { isCritical }]) => isCritical && !understood.includes(id));
  return unknown ? `${name} has the critical extension ${unknown[0]}, which is not understood.` : null;
}

/** Why a certificate cannot be the issuer of the path below it. */
function issuerFault(issuer: Certificate, below: Certificate[], time: number): string | null {
  const { name, isAuthority, keyUsage, extendedKeyUsage: purposes, pathLength } = issuer;
  if (!isAuthority || !mayDo(keyUsage, usages.certSign)) {
    return `${name} is not an authority and may not issue certificates.`;
  }
  if (purposes && !purposes.includes(timeStamping) && !purposes.includes(anyPurpose)) {
    return `${name} may not issue certificates for timestamps.`;
  }
  // All authorities below count; the standard would spare those that have issued themselves.
  if (pathLength !== undefined && below.length - 1 > pathLength) {
    return `The path is longer than ${name} allows.`;
  }
  return criticalFault(issuer) ?? validityFault(issuer, time);
}

/** When a token identifies more certificates than its signer's, only those may be used (RFC 5035, section 3). */
async function allowedBy({ signer }: Token, pool: readonly Certificate[]): Promise<Certificate[]> {
  const lists = signer.identified.filter((ids) => ids.length > 1);
  const allowed: Certificate[] = [];
  for (const one of pool) {
    const listed = lists.map((ids) => Promise.all(ids.map((id) => identifies(id, one))));
    if ((await Promise.all(listed)).every((matches) => matches.includes(true))) allowed.push(one);
  }
  return allowed;
}

async function identifies(id: CertificateId | undefined, certificate: Certificate): Promise<boolean> {
  if (id === undefined) return false;
  const { bytes, issuer, serial } = certificate;
  const isNamed = id.issuer === undefined || (sameBytes(issuer, id.issuer) && sameBytes(serial, id.serial));
  return isNamed && sameBytes(await digestOf(id.hash, bytes), id.digest);
}

/** Whether one issued the other, by name and by signature. */
async function isIssuedBy(one: Certificate, issuer: TrustAnchor | Certificate): Promise<boolean> {
  return sameBytes(one.issuer, issuer.subject) && isSignedBy(issuer.spki, one.signed);
}
