/** Who may sign what: order of the roles, independence, licences. Pure, and safe in browsers. */
import { type Licence, licenceKey } from './licence.ts';

/** In the order of signing; `inspected` may be left out. */
export const signoffRoles = ['performed', 'inspected', 'certified'] as const;
export type SignoffRole = (typeof signoffRoles)[number];

/** Why a sign-off is refused. The code is that of the API's error. */
export interface Refusal {
  code: 'conflict' | 'same_person' | 'same_licence' | 'performer_of_corrected';
  message: string;
}

/** Somebody who did the work. */
export interface Performer {
  address: string;
  /** Who that is, now and when it was recorded: one person may have several worker records. */
  identities: string[];
  /** Held at any time, or used to sign; by their `licenceKey`. */
  licences: string[];
  /** Did the work of an entry that this one corrects. */
  inherited: boolean;
}

export interface Signing {
  role: SignoffRole;
  workerAddress: string;
  /** Who the worker is; null where that is not known, as in a dossier. */
  identity: string | null;
  /** The worker's current licences. */
  licences: Licence[];
  /** The scope of the licence to use. */
  licenceScope?: string | undefined;
  at: Date;
  /** The scope that the work needs. */
  scope: string;
  /** Earlier sign-offs. */
  earlier: { role: SignoffRole; workerAddress: string; identities?: string[] }[];
  /** The entry's worker, those who signed as performed, and those of the entries that it corrects. */
  performers: Performer[];
}

/** The licence that the sign-off relies on, null when it needs none; or why it is refused. */
export function judgeSignoff(signing: Signing): { licence: Licence | null } | Refusal {
  const { role, workerAddress, identity, earlier, performers } = signing;
  const has = (wanted: SignoffRole) => earlier.some((one) => one.role === wanted);
  const same = earlier.filter((one) => one.role === role);
  if (same.some((one) => isSameAddress(one.workerAddress, workerAddress))) {
    return conflict(`The worker ${workerAddress} has already signed as ${role}.`);
  }
  const other = same.find(({ identities }) => identity !== null && identities?.includes(identity));
  if (other) {
    return {
      code: 'same_person',
      message: `The worker ${workerAddress} is the same person as ${other.workerAddress}, who has already signed as ${role}.`,
    };
  }
  const later = signoffRoles.slice(signoffRoles.indexOf(role) + 1).find(has);
  if (later !== undefined) {
    return conflict(`It is already signed as ${later}, and ${role} must come before that.`);
  }
  if (role !== 'performed' && !has('performed')) {
    return conflict(`It must be signed as performed before it can be ${role}.`);
  }
  const chosen = chooseLicence(signing);
  if (role === 'performed') return chosen;
  // Those of this entry first: the message about them is the simpler one.
  const ordered = performers.toSorted((one, next) => Number(one.inherited) - Number(next.inherited));
  for (const performer of ordered) {
    const refusal = independenceFault(signing, performer);
    if (refusal !== null) return refusal;
  }
  return chosen;
}

/** Why the worker cannot judge what this performer did, or null. */
function independenceFault(
  { role, workerAddress, identity, licences }: Signing,
  { address, identities, licences: held, inherited }: Performer,
): Refusal | null {
  const work = inherited ? 'the work of an entry that this one corrects' : 'the work';
  const byOther = `it must be ${role} by someone else`;
  const isSameWorker = isSameAddress(address, workerAddress);
  const shared = licences.find((licence) => held.includes(licenceKey(licence)));
  const isSamePerson = identity !== null && identities.includes(identity);
  if (!isSameWorker && !shared && !isSamePerson) return null;
  if (inherited) {
    return {
      code: 'performer_of_corrected',
      message: `The worker ${workerAddress} did ${work}: ${byOther}.`,
    };
  }
  if (isSameWorker) return conflict(`The worker ${workerAddress} did ${work}: ${byOther}.`);
  if (shared) {
    return {
      code: 'same_licence',
      message: `The licence ${shared.number} belongs to someone who did ${work}: ${byOther}.`,
    };
  }
  return {
    code: 'same_person',
    message: `The worker ${workerAddress} is the same person as ${address}, who did ${work}: ${byOther}.`,
  };
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

function chooseLicence(signing: Signing): { licence: Licence | null } | Refusal {
  const { role, workerAddress, licences, licenceScope, at, scope } = signing;
  if (role === 'performed' && licenceScope === undefined) return { licence: null };
  const named = licences.filter(
    (licence) => licenceScope === undefined || plain(licence.scope) === plain(licenceScope),
  );
  const fitting = named.filter((licence) => fitsScope(licence.scope, scope));
  const licence = fitting.find((licence) => !isExpired(licence, at));
  if (licence) return { licence };
  const [expired] = fitting;
  if (expired) {
    return conflict(`The licence ${expired.number} for "${expired.scope}" expired at ${expired.expiresAt}.`);
  }
  const which = licenceScope === undefined ? '' : ` with the scope "${licenceScope}"`;
  return conflict(
    `The worker ${workerAddress} has no licence${which} for "${scope}", which this work needs.`,
  );
}

function conflict(message: string): Refusal {
  return { code: 'conflict', message };
}

function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function plain(text: string): string {
  return text.trim().toLowerCase();
}
