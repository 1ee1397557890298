/** Who may sign what: order of the roles, independence, licences. Pure, and safe in browsers. */
import type { Licence } from './licence.ts';

/** In the order of signing; `inspected` may be left out. */
export const signoffRoles = ['performed', 'inspected', 'certified'] as const;
export type SignoffRole = (typeof signoffRoles)[number];

export interface Signing {
  role: SignoffRole;
  workerAddress: string;
  /** The worker's current licences. */
  licences: Licence[];
  /** The scope of the licence to use. */
  licenceScope?: string | undefined;
  at: Date;
  /** The scope that the work needs. */
  scope: string;
  /** Earlier sign-offs. */
  earlier: { role: SignoffRole; workerAddress: string }[];
  /** Everyone who did the work: the entry's worker and those who signed as performed, with their licence numbers. */
  performers: { address: string; licenceNumbers: string[] }[];
}

/** The licence that the sign-off relies on, null when it needs none; or a message why it is refused. */
export function judgeSignoff(signing: Signing): { licence: Licence | null } | string {
  const { role, workerAddress, earlier, performers } = signing;
  const has = (wanted: SignoffRole) => earlier.some((one) => one.role === wanted);
  if (earlier.some((one) => one.role === role && isSameAddress(one.workerAddress, workerAddress))) {
    return `The worker ${workerAddress} has already signed as ${role}.`;
  }
  const later = signoffRoles.slice(signoffRoles.indexOf(role) + 1).find(has);
  if (later !== undefined) return `It is already signed as ${later}, and ${role} must come before that.`;
  if (role !== 'performed') {
    if (!has('performed')) return `It must be signed as performed before it can be ${role}.`;
    if (performers.some(({ address }) => isSameAddress(address, workerAddress))) {
      return `The worker ${workerAddress} did the work: it must be ${role} by someone else.`;
    }
  }
  const chosen = chooseLicence(signing);
  if (typeof chosen === 'string') return chosen;
  const { licence } = chosen;
  if (role !== 'performed' && licence) {
    const number = plain(licence.number);
    if (performers.some(({ licenceNumbers }) => licenceNumbers.some((held) => plain(held) === number))) {
      return `The licence ${licence.number} belongs to someone who did the work: it must be ${role} by someone else.`;
    }
  }
  return chosen;
}

/**
 * Why a sign-off cannot have been made at that time, or null. Nothing is signed before it is recorded, nor before earlier
 * sign-offs. Times of signatures are in whole seconds.
 */
export function signingTimeFault({
  signedAt,
  recordedAt,
  earlier,
}: {
  signedAt: string;
  recordedAt: string;
  earlier: { role: SignoffRole; signedAt: string }[];
}): string | null {
  const second = (time: string) => Math.floor(Date.parse(time) / 1000);
  if (!(second(signedAt) >= second(recordedAt))) {
    return `It was recorded at ${recordedAt} and cannot have been signed before that, at ${signedAt}.`;
  }
  const later = earlier.find((one) => !(second(signedAt) >= second(one.signedAt)));
  return later === undefined
    ? null
    : `It was signed as ${later.role} at ${later.signedAt} and cannot be signed with an earlier time, ${signedAt}.`;
}

/** Expired from `expiresAt` on, inclusive. */
export function isExpired({ expiresAt }: Licence, at: Date): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= at.getTime();
}

/** `engine` covers `engine` and `engine/borescope`; `*` covers everything. Case does not matter. */
export function fitsScope(licenceScope: string, scope: string): boolean {
  const [held, needed] = [plain(licenceScope), plain(scope)];
  return held === '*' || held === needed || needed.startsWith(`${held}/`);
}

function chooseLicence(signing: Signing): { licence: Licence | null } | string {
  const { role, workerAddress, licences, licenceScope, at, scope } = signing;
  if (role === 'performed' && licenceScope === undefined) return { licence: null };
  const named = licences.filter(
    (licence) => licenceScope === undefined || plain(licence.scope) === plain(licenceScope),
  );
  const fitting = named.filter((licence) => fitsScope(licence.scope, scope));
  const licence = fitting.find((licence) => !isExpired(licence, at));
  if (licence) return { licence };
  const [expired] = fitting;
  if (expired) return `The licence ${expired.number} for "${expired.scope}" expired at ${expired.expiresAt}.`;
  const which = licenceScope === undefined ? '' : ` with the scope "${licenceScope}"`;
  return `The worker ${workerAddress} has no licence${which} for "${scope}", which this work needs.`;
}

function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function plain(text: string): string {
  return text.trim().toLowerCase();
}
