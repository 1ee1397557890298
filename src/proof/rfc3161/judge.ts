/** Judges a timestamp token: first what it says by itself, then whose word it is, then whether that still counts. */
import type { Hex } from 'viem';
import { toHex } from '../hex.ts';
import { digestOf, isSignedBy, schemeOf } from './algorithms.ts';
import type { TimestampAnchor } from './anchor.ts';
import { type Certificate, extensionIds, type TrustAnchor, usages } from './certificates.ts';
import {
  around,
  elementsOf,
  must,
  readDer,
  readOr,
  sameBytes,
  TokenFault,
  writeDer,
  writeInteger,
} from './der.ts';
import { criticalFault, findPath, findSigner, timeStamping, validityFault } from './path.ts';
import { type ReadAnchor, type ReadTimestamps, readTimestamps } from './reading.ts';
import { type Crl, judgeRevocation } from './revocation.ts';
import type { TimestampInfo, Token } from './token.ts';

export interface TimestampTrust {
  roots: readonly TrustAnchor[];
  /** Object identifiers in dots; when empty, any policy counts. */
  policies: readonly string[];
  /** Lists of revoked certificates that count beside those of the anchor, whatever that has. */
  crls?: readonly Crl[];
  /** Fingerprints (SHA-256) of certificates that do not count, of the signer, of an issuer or of a root. */
  revoked?: readonly Hex[];
}

export interface TimestampQuestion {
  /** The 32 bytes that must be stamped: the SHA-256 of what the token is about. */
  imprint: Uint8Array;
  trust: TimestampTrust;
  /** The time of judgement; like every time here, in milliseconds. */
  at: number;
  /** As it was sent, when the token has just been received. */
  nonce?: bigint;
  /** The anchors of the document, if it has more than this one. */
  among?: ReadTimestamps;
}

export interface JudgedTimestamp {
  /** The genTime. */
  time: number;
  accuracyMs: number;
  policy: string;
  /** The content of the INTEGER. */
  serial: Hex;
  signer: { name: string };
  /** When the first certificate of the path ends, that of the root included; without a path, when the signer's does. */
  validUntil: number;
  root: { name: string; fingerprint: Hex };
  revocation: 'checked' | 'not checked';
}

export type TimestampJudgement =
  | ({ status: 'pass' } & JudgedTimestamp)
  /** Everything held at the genTime, but a certificate of the path has ended since. */
  | ({ status: 'expired'; reason: string } & JudgedTimestamp)
  /** Contradicts nothing, but nobody who is trusted vouches for it. */
  | ({ status: 'untrusted'; reason: string } & Partial<JudgedTimestamp>)
  | { status: 'fail'; reason: string };

/** Never rejects, whatever the anchor contains. */
export async function judgeTimestamp(
  anchor: TimestampAnchor,
  given: TimestampQuestion,
): Promise<TimestampJudgement> {
  if (globalThis.crypto?.subtle === undefined) {
    return { status: 'untrusted', reason: 'This page has no WebCrypto: it has to be loaded over HTTPS.' };
  }
  try {
    const { read, areTooMany } = given.among ?? readTimestamps([anchor], given.trust.roots);
    const one = read(anchor);
    if (!areTooMany) return await judge(one, given);
    return { status: 'untrusted', reason: 'The tokens of the document have too many signatures to check.' };
  } catch (error) {
    if (error instanceof TokenFault) return { status: 'fail', reason: error.message };
    throw error;
  }
}

/**
 * In this order: whatever contradicts the document or the token itself fails, whoever is trusted; without the signer's
 * certificate, or a path from it to a trusted root, nobody vouches; a path that does not hold, or a revocation, fails;
 * what is later than the time of judgement does not count yet; and what has ended does not count any more.
 */
async function judge(
  { token, pool, crls }: ReadAnchor,
  { imprint, trust, at, nonce }: TimestampQuestion,
): Promise<TimestampJudgement> {
  const { info } = token;
  const { time, accuracyMs, policy } = info;
  must(info.imprintHash === 'SHA-256', 'The imprint is not by SHA-256.');
  must(sameBytes(imprint, info.imprint), 'The token is about something else: its imprint differs.');
  const isAsked = nonce === undefined || sameBytes(writeInteger(nonce), info.nonce);
  must(isAsked, 'The token does not have the nonce of the request.');
  const isPolicy = trust.policies.length === 0 || trust.policies.includes(policy);
  must(isPolicy, `The token's policy ${policy} is not among those that are trusted.`);
  const digest = await digestOf(token.signer.hash, token.content);
  must(
    sameBytes(digest, token.signer.messageDigest),
    'The attribute message-digest is not that of the TSTInfo.',
  );

  const known = { time, accuracyMs, policy, serial: toHex(info.serial) };
  const certificate = await findSigner(token, pool);
  if (certificate === undefined) {
    return { status: 'untrusted', reason: "The signer's certificate is missing.", ...known };
  }
  await checkSigner(token, certificate);
  const { name } = certificate;
  const signed = { ...known, signer: { name }, validUntil: certificate.notAfter };

  const found = await findPath(certificate, { token, pool, roots: trust.roots });
  if ('fault' in found) throw new TokenFault(found.fault);
  if ('end' in found) {
    const reason = `No path of certificates leads from ${name} to a trusted root: ${found.end.name} is the last.`;
    return { status: 'untrusted', reason, ...signed };
  }
  const { isChecked } = await judgeRevocation(found.path, {
    ...{ crls: [...crls, ...(trust.crls ?? [])], revoked: trust.revoked ?? [] },
    ...{ genTime: time, at },
  });
  const { root, certificates } = found.path;
  const first = [...certificates, root].reduce((one, other) => (other.notAfter < one.notAfter ? other : one));
  const all: JudgedTimestamp = {
    ...{ ...signed, root: { name: root.name, fingerprint: root.fingerprint } },
    validUntil: first.notAfter,
    revocation: isChecked ? 'checked' : 'not checked',
  };
  const tooEarly = 'The token is later than the time of judgement.';
  if (time > at) return { status: 'untrusted', reason: tooEarly, ...all };
  const tooLate = `The certificate of ${first.name} ended on ${new Date(first.notAfter).toISOString()}.`;
  if (at > first.notAfter) return { status: 'expired', reason: tooLate, ...all };
  return { status: 'pass', ...all };
}

/** What the signer's certificate must be, whoever issued it. */
async function checkSigner({ signer, info }: Token, certificate: Certificate): Promise<void> {
  const { extendedKeyUsage: purposes, extensions, keyUsage, spki } = certificate;
  const isAccepted = schemeOf(signer.signed) !== undefined;
  must(isAccepted, 'The token is signed by an algorithm that is not accepted.');
  const isSigned = await isSignedBy(spki, signer.signed);
  must(isSigned, "The token's signature is not by the key of its signer's certificate.");

  const isCritical = extensions.get(extensionIds.extendedKeyUsage)?.isCritical;
  const isForTimestamps = isCritical && purposes?.length === 1 && purposes[0] === timeStamping;
  must(
    isForTimestamps === true,
    "The signer's certificate is not for timestamps alone (extended key usage).",
  );
  const others = ~(usages.digitalSignature | usages.nonRepudiation);
  const isForSigning = keyUsage === undefined || (keyUsage !== 0 && (keyUsage & others) === 0);
  must(isForSigning, "The signer's key is not for signing alone (key usage).");
  must(isNamed(info, certificate), "The TSTInfo names another authority than the signer's certificate.");
  const fault = criticalFault(certificate) ?? validityFault(certificate, info.time);
  if (fault !== null) throw new TokenFault(fault);
}

/** The authority that the TSTInfo names, if it names one, must be a subject of the certificate. */
function isNamed({ authority }: TimestampInfo, { subject, extensions }: Certificate): boolean {
  if (authority === undefined) return true;
  const alternatives = extensions.get(extensionIds.subjectAltName)?.value;
  const others = readOr([], () => (alternatives ? elementsOf(readDer(alternatives, '')) : []));
  const names = [writeDer(around(4), subject), ...others.map(({ bytes }) => bytes)];
  return names.some((name) => sameBytes(name, authority.bytes));
}
