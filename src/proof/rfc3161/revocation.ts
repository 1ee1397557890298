/** Lists of revoked certificates (RFC 5280), and what they say about the path of a token. */
import type { Hex } from 'viem';
import { isSignedBy, type Signature } from './algorithms.ts';
import { fromBase64 } from './anchor.ts';
import {
  type Certificate,
  crlNames,
  type Extensions,
  extensionIds,
  fingerprintOf,
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
  generalizedTime,
  headerAt,
  inPlace,
  integer,
  isAt,
  isNumber,
  isTrue,
  must,
  onlyOf,
  readDer,
  sameBytes,
  sequence,
  smallInteger,
  TokenFault,
  time,
  timeAt,
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
  /** What it says about the certificate with this serial number, each time that it names it. */
  revoked(serial: Uint8Array): Revoked[];
  /** Which certificates it is about; null when that is not understood. */
  scope: Scope | null;
}

interface Revoked {
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

/** One list in PEM, whatever text is around it. Throws a TokenFault. */
export function readCrlPem(pem: string): Crl {
  const what = 'The list of revoked certificates';
  const blocks = [...pem.matchAll(/-----BEGIN X509 CRL-----([^-]*)-----END X509 CRL-----/g)];
  const [[, block = ''] = [], more] = blocks;
  must(blocks.length > 0 && more === undefined, 'There is not exactly one list in PEM.');
  const bytes = fromBase64(block.replace(/[ \t\r\n]/g, ''));
  must(bytes !== undefined, `${what} is not in base64.`);
  return readCrl(bytes, what);
}

/** Version, algorithm, issuer, time, time of the next one, entries, extensions. */
const crlShape = [[integer], sequence, sequence, time, [time], [sequence], [around(0)]] as const;

/** Throws a TokenFault when it is no such list. */
export function readCrl(bytes: Uint8Array, what: string): Crl {
  const { data, signed } = readSigned(bytes, what);
  const [version, algorithm, issuer, issued, next, entries, wrapped] = fieldsOf(data, what, crlShape);
  must(version === undefined || isNumber(version, 1), `${what} is of an unknown version.`);
  requireSame(algorithm, signed.algorithm, what);
  const list = entries?.value ?? new Uint8Array();
  let isUnderstood = readEntries(list, what, () => false).length === 0;
  const extensions = readExtensions(wrapped && onlyOf(wrapped, what), what);
  isUnderstood &&= understands(extensions, extensionIds.issuingDistributionPoint);
  const point = extensions.get(extensionIds.issuingDistributionPoint);
  const scope = point ? readScope(point.value, what) : {};
  return {
    revoked: (serial) =>
      readEntries(list, what, (start, end) => end - start === serial.length && isAt(serial, list, start)),
    ...{ signed, issuer: issuer.bytes, scope: isUnderstood ? scope : null },
    ...{ thisUpdate: timeOf(issued, what), nextUpdate: next && timeOf(next, what) },
  };
}

interface Entry extends Revoked {
  isUnderstood: boolean;
}

/**
 * Checks all entries, and returns those whose serial number is wanted and those that are not understood. Lists of a megabyte
 * have tens of thousands, so that nothing is made of the others.
 */
function readEntries(
  list: Uint8Array,
  what: string,
  isWanted: (start: number, end: number) => boolean,
): Entry[] {
  const found: Entry[] = [];
  for (let at = 0; at < list.length; ) {
    const entry = headerAt(list, at, list.length);
    const serial = headerAt(list, entry.start, entry.end);
    const dated = headerAt(list, serial.end, entry.end);
    const isTime = dated.tag === time || dated.tag === generalizedTime;
    const isForm = entry.tag === sequence && serial.tag === integer && isTime && dated.end <= entry.end;
    if (!isForm) throw formFault(what);
    const date = timeAt(dated.tag, list, dated.start, dated.end);
    must(!Number.isNaN(date), `${what} has a time that is not valid.`);
    const extended = dated.end < entry.end ? readReason(list.subarray(dated.end, entry.end), what) : plain;
    if (!extended.isUnderstood || isWanted(serial.start, serial.end)) found.push({ date, ...extended });
    at = entry.end;
  }
  return found;
}

const plain = { reason: undefined, isUnderstood: true };
/** Extensions with nothing but a reason, as nearly all lists write it: the last byte is the reason. */
const usualReason = Uint8Array.of(48, 12, 48, 10, 6, 3, 85, 29, 21, 4, 3, 10, 1);

/** The extensions of an entry. */
function readReason(bytes: Uint8Array, what: string): Omit<Entry, 'date'> {
  const [last = 128] = bytes.subarray(-1);
  if (bytes.length === 14 && last < 128 && isAt(usualReason, bytes, 0))
    return { reason: last, isUnderstood: true };
  const extensions = readExtensions(readDer(bytes, what), what);
  const code = extensions.get(extensionIds.reasonCode)?.value;
  const reason = code && smallInteger(readDer(code, what, enumerated), what);
  return { reason, isUnderstood: understands(extensions, extensionIds.reasonCode) };
}

export interface RevocationQuestion {
  crls: readonly Crl[];
  /** Fingerprints of certificates that do not count, whatever the lists say. */
  revoked: readonly Hex[];
  genTime: number;
  at: number;
}

/** `isChecked`: for every certificate below the root there was a list that is about it. Throws when one is revoked. */
export async function judgeRevocation(
  { certificates, root }: Path,
  { crls, revoked, genTime, at }: RevocationQuestion,
): Promise<{ isChecked: boolean }> {
  const fingerprints = certificates.map(({ name, bytes }) => ({ name, fingerprint: fingerprintOf(bytes) }));
  const refused = [...fingerprints, root].find(({ fingerprint }) => revoked.includes(fingerprint));
  must(refused === undefined, `${refused?.name} is revoked by whoever chose the trust.`);
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
      const voiding = crl
        .revoked(certificate.serial)
        .find(({ date, reason }) => !(harmlessReasons.includes(reason) && genTime < date));
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
