/** Who may sign what: order of the roles, independence, licences. Pure, and safe in browsers. */
import { utcTime } from '../../proof/utc-time.ts';
import { type Licence, type LicenceFault, type LicenceName, licenceFault, licenceKey } from './licence.ts';
import type { Requirement } from './maintenance-entry.ts';

/** In the order of signing; `inspected` may be left out. */
export const signoffRoles = ['performed', 'inspected', 'certified'] as const;
export type SignoffRole = (typeof signoffRoles)[number];

/** Why a sign-off is refused. The code is that of the API's error. */
export interface Refusal {
  code:
    | 'conflict'
    | 'same_person'
    | 'same_licence'
    | 'performer_of_corrected'
    | 'licence_required'
    | 'licence_out_of_scope'
    | LicenceFault['code']
    | 'inspection_required'
    | 'inspector_not_independent';
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
  /** To be asked ahead: whether earlier roles are signed is judged when it is signed. */
  ahead?: boolean | undefined;
  /** The scope of the licence to use. */
  licenceScope?: string | undefined;
  /** Milliseconds since 1970. */
  at: number;
  requires: Requirement;
  /** Earlier sign-offs. */
  earlier: {
    role: SignoffRole;
    workerAddress: string;
    identities?: string[];
    licence?: LicenceName | null;
  }[];
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
  if (role !== 'performed' && !signing.ahead && !has('performed')) {
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
  return inspectionFault(signing) ?? chosen;
}

/** Why critical work cannot be certified by this worker yet, or null: somebody else has to inspect it. */
function inspectionFault(signing: Signing): Refusal | null {
  const { role, workerAddress, identity, licences, requires, earlier, ahead } = signing;
  if (role !== 'certified' || !requires.critical) return null;
  const inspectors = earlier.filter((one) => one.role === 'inspected');
  if (inspectors.length === 0 && !ahead) {
    return {
      code: 'inspection_required',
      message: 'This work is critical: an independent person has to inspect it before it is certified.',
    };
  }
  const held = licences.map(licenceKey);
  const isSigner = (one: Signing['earlier'][number]) =>
    isSameAddress(one.workerAddress, workerAddress) ||
    (identity !== null && one.identities?.includes(identity)) ||
    (one.licence && held.includes(licenceKey(one.licence)));
  if (!inspectors.some(isSigner)) return null;
  return {
    code: 'inspector_not_independent',
    message: `The worker ${workerAddress} inspected this work, which is critical: it must be certified by someone else.`,
  };
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

/** When something was signed and, if it was signed elsewhere, when the service got it. */
interface SigningTimes {
  role: SignoffRole;
  signedAt: string;
  receivedAt?: string;
}

/** How far the clock of a signer's device may be ahead of the service's. */
export const signerAheadMs = 60_000;

/**
 * Why a sign-off cannot have been made at that time, or null. Nothing is signed before it is recorded, nor before it was signed
 * in an earlier role. Sign-offs are in the order in which the service got them; in one role, those that were signed elsewhere
 * may have been signed in another order. Times of signatures are in whole seconds.
 */
export function signingTimeFault({
  recordedAt,
  earlier,
  ...signing
}: SigningTimes & { recordedAt: string; earlier: SigningTimes[] }): string | null {
  const { signedAt, receivedAt } = signing;
  const second = (time: string) => Math.floor(utcTime(time) / 1000);
  if (!(second(signedAt) >= second(recordedAt))) {
    return `It was recorded at ${recordedAt} and cannot have been signed before that, at ${signedAt}.`;
  }
  if (receivedAt !== undefined && !(second(signedAt) * 1000 <= second(receivedAt) * 1000 + signerAheadMs)) {
    return `It was received at ${receivedAt} and cannot have been signed after that, at ${signedAt}.`;
  }
  const later = earlier.find(
    (one) =>
      !(second(gotAt(signing)) >= second(gotAt(one))) ||
      (one.role !== signing.role && !(second(signedAt) >= second(one.signedAt))),
  );
  return later === undefined
    ? null
    : `It was signed as ${later.role} at ${later.signedAt} and cannot be signed with an earlier time, ${signedAt}.`;
}

function gotAt({ signedAt, receivedAt = signedAt }: SigningTimes): string {
  return receivedAt;
}

/** `engine` covers `engine` and `engine/borescope`; `*` covers everything. Case does not matter. */
export function fitsScope(licenceScope: string, scope: string): boolean {
  const [held, needed] = [plain(licenceScope), plain(scope)];
  return held === '*' || held === needed || needed.startsWith(`${held}/`);
}

function chooseLicence(signing: Signing): { licence: Licence | null } | Refusal {
  const { role, workerAddress, licences, licenceScope, at, requires } = signing;
  if (role === 'performed' && licenceScope === undefined) return { licence: null };
  const named = licences.filter(
    (licence) => licenceScope === undefined || plain(licence.scope) === plain(licenceScope),
  );
  const fitting = named.filter((licence) => fits(licence, requires));
  const licence = fitting.find((licence) => licenceFault(licence, at) === null);
  if (licence) return { licence };
  const [first] = fitting;
  const fault = first && licenceFault(first, at);
  if (fault) {
    const message = `The licence ${first.number} for "${first.scope}" ${fault.message}.`;
    return { code: fault.code, message };
  }
  const which = licenceScope === undefined ? '' : ` with the scope "${licenceScope}"`;
  const { scope, categories } = requires;
  const category = categories.length === 0 ? '' : ` of the category ${categories.join(' or ')}`;
  return {
    code: licences.length === 0 ? 'licence_required' : 'licence_out_of_scope',
    message: `The worker ${workerAddress} has no licence${which} for "${scope}"${category}, which this work needs.`,
  };
}

function fits({ scope, category }: Licence, requires: Requirement): boolean {
  const { categories } = requires;
  const hasCategory = categories.some((one) => plain(one) === plain(category ?? ''));
  return fitsScope(scope, requires.scope) && (categories.length === 0 || hasCategory);
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
