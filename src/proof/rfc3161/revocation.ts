/** Lists of revoked certificates (RFC 5280), and what they say about the path of a token. */
import { isSignedBy, type Signature } from './algorithms.ts';
import {
  type Certificate,
  crlNames,
  type Extensions,
  extensionIds,
  mayDo,
  readExtensions,
  readSigned,
  requireSame,
  usages,
} from './certificates.ts';
import {
  around,
  bitString,
  type Der,
  elementsOf,
  enumerated,
  fieldsOf,
  formFault,
  inPlace,
  integer,
  isNumber,
  isTrue,
  listOf,
  must,
  onlyOf,
  readDer,
  sameBytes,
  sequence,
  smallInteger,
  TokenFault,
  time,
  timeOf,
  writeDer,
} from './der.ts';
import type { Path } from './path.ts';

export interface Crl {
  issuer: Uint8Array;
  signed: Signature;
  /** Milliseconds. */
  thisUpdate: number;
  nextUpdate: number | undefined;
  revoked: Revoked[];
  /** Which certificates it is about; null when that is not understood. */
  scope: Scope | null;
}

interface Revoked {
  serial: Uint8Array;
  date: number;
  reason: number | undefined;
}

interface Scope {
  /** The names under which it is published: it is about certificates that name one of them. */
  names?: Der[] | undefined;
  /** Only about authorities, or only about others. */
  areAuthorities?: boolean | undefined;
}

/**
 * unspecified, affiliationChanged, superseded, cessationOfOperation: the key was not compromised, so that tokens from
 * before the revocation stand (RFC 3161, section 4).
 */
const harmlessReasons: (number | undefined)[] = [0, 3, 4, 5];

/** Version, algorithm, issuer, time, time of the next one, entries, extensions. */
const crlShape = [[integer], sequence, sequence, time, [time], [sequence], [around(0)]] as const;

/** Throws a TokenFault when it is no such list. */
export function readCrl(bytes: Uint8Array, what: string): Crl {
  const { data, signed } = readSigned(bytes, what);
  const [version, algorithm, issuer, issued, next, entries, wrapped] = fieldsOf(data, what, crlShape);
  must(version === undefined || isNumber(version, 1), `${what} is of an unknown version.`);
  requireSame(algorithm, signed.algorithm, what);
  let isUnderstood = true;
  const revoked = (entries ? listOf(entries, what) : []).map((entry) => {
    const [serial, date, more] = fieldsOf(entry, what, [integer, time, [sequence]]);
    const extensions = readExtensions(more, what);
    isUnderstood &&= understands(extensions, extensionIds.reasonCode);
    const code = extensions.get(extensionIds.reasonCode)?.value;
    const reason = code && smallInteger(readDer(code, what, enumerated), what);
    return { serial: serial.value, date: timeOf(date, what), reason };
  });
  const extensions = readExtensions(wrapped && onlyOf(wrapped, what), what);
  isUnderstood &&= understands(extensions, extensionIds.issuingDistributionPoint);
  const point = extensions.get(extensionIds.issuingDistributionPoint);
  const scope = point ? readScope(point.value, what) : {};
  return {
    ...{ signed, revoked, issuer: issuer.bytes, scope: isUnderstood ? scope : null },
    ...{ thisUpdate: timeOf(issued, what), nextUpdate: next && timeOf(next, what) },
  };
}

/** `isChecked`: for every certificate below the root there was a list that is about it. Throws when one is revoked. */
export async function judgeRevocation(
  { certificates, root }: Path,
  { crls, genTime, at }: { crls: readonly Crl[]; genTime: number; at: number },
): Promise<{ isChecked: boolean }> {
  let isChecked = true;
  for (const [place, certificate] of certificates.entries()) {
    const issuer = certificates[place + 1];
    let isListed = false;
    for (const crl of crls) {
      const { thisUpdate, nextUpdate = genTime } = crl;
      // What came after the time of judgement, and what ended before the token, does not count.
      if (thisUpdate > at || nextUpdate < genTime || !isAbout(crl, certificate)) continue;
      if (!mayDo(issuer?.keyUsage, usages.crlSign)) continue;
      if (!(await isSignedBy((issuer ?? root).spki, crl.signed))) continue;
      isListed = true;
      const voiding = crl.revoked.find(
        ({ serial, date, reason }) =>
          sameBytes(serial, certificate.serial) && !(harmlessReasons.includes(reason) && genTime < date),
      );
      if (voiding !== undefined) throw revokedFault(certificate, voiding);
    }
    isChecked &&= isListed;
  }
  return { isChecked };
}

function revokedFault({ name }: Certificate, { date, reason }: Revoked): TokenFault {
  const why = reason === undefined ? 'without a reason' : `for reason ${reason}`;
  return new TokenFault(`${name} was revoked on ${new Date(date).toISOString()} ${why}.`);
}

function isAbout({ issuer, scope }: Crl, certificate: Certificate): boolean {
  if (scope === null || !sameBytes(issuer, certificate.issuer)) return false;
  const { names, areAuthorities = certificate.isAuthority } = scope;
  if (areAuthorities !== certificate.isAuthority) return false;
  const published = names && crlNames(certificate);
  return !names || names.some((name) => published?.some(({ bytes }) => sameBytes(name.bytes, bytes)));
}

/** Whether there is no critical extension but this one. */
function understands(extensions: Extensions, known: string): boolean {
  return [...extensions].every(([id, { isCritical }]) => !isCritical || id === known);
}

/** Null for a part of a list, by reasons or by relative names, and for one of another authority's certificates. */
function readScope(value: Uint8Array, what: string): Scope | null {
  const [point, users, authorities, reasons, indirect, attributes] = fieldsOf(readDer(value, what), what, [
    [around(0)],
    [inPlace(1)],
    [inPlace(2)],
    [inPlace(3)],
    [inPlace(4)],
    [inPlace(5)],
  ]);
  const [onlyUsers, onlyAuthorities, isIndirect, onlyAttributes] = [
    users,
    authorities,
    indirect,
    attributes,
  ].map((one) => isTrue(one, what));
  const full = point && onlyOf(point, what);
  if (full !== undefined && full.tag !== around(0) && full.tag !== around(1)) throw formFault(what);
  if (reasons !== undefined) readDer(writeDer(bitString, reasons.value), what, bitString);
  const isPart = reasons !== undefined || full?.tag === around(1);
  if (isPart || isIndirect || onlyAttributes || (onlyUsers && onlyAuthorities)) return null;
  const areAuthorities = onlyUsers || onlyAuthorities ? onlyAuthorities : undefined;
  return { names: full && elementsOf(full), areAuthorities };
}
