/** The steps of a verification and their combined verdict. */

/** Steps on the document as a whole. */
export const documentSteps = ['digest', 'claims', 'leaf', 'path', 'seal', 'time'] as const;
/** The worker's signature, in a proof of a sign-off or of a statement about a passkey that is verified with its content. */
export const signatureStep = 'signature';
/** Whether the worker had that passkey, in a proof of a sign-off that is verified with what was anchored of passkeys. */
export const passkeyStep = 'passkey';
/** Those without which a verdict is not PASS. */
export const neededSteps: readonly string[] = [...documentSteps, signatureStep, passkeyStep];
/** Steps on each anchor, by its type; and `renewal`, on each renewal. */
export const clockSteps = ['registry', 'chain', 'finality', 'token', 'block', 'renewal'] as const;

export type StepName =
  | (typeof documentSteps)[number]
  | (typeof clockSteps)[number]
  | typeof signatureStep
  | typeof passkeyStep;

export interface StepResult {
  status: 'pass' | 'fail' | 'skipped';
  message: string;
  /** Skipped only because the chain could not be reached at the moment: worth a retry. */
  notNow?: true;
}

export interface Step extends StepResult {
  name: StepName;
  /** The renewal that it is about, by its place in the document. */
  renewal?: number;
  /** The anchor that it is about, by its place. */
  anchor?: number;
}

/** A clock that says when the root existed, and that the verifier trusts. */
export interface Voucher {
  /** Milliseconds since 1970. */
  time: number;
  /** Who says so, in words. */
  by: string;
  /** Whether the shipped trust includes it, and not only the choice of whoever verifies. */
  isShipped: boolean;
}

export interface Verification {
  verdict: 'pass' | 'fail' | 'incomplete';
  /** The verdict in one sentence. */
  summary: string;
  /** The clocks that vouch, earliest first. */
  vouchers: Voucher[];
  steps: Step[];
}

export const pass = (message: string): StepResult => ({ status: 'pass', message });
export const fail = (message: string): StepResult => ({ status: 'fail', message });
export const skip = (message: string): StepResult => ({ status: 'skipped', message });

/** One failed step fails the whole; every step on the document must pass. A clock that was not checked does no harm. */
export function verdictOf(steps: readonly Step[]): Verification['verdict'] {
  if (steps.some(({ status }) => status === 'fail')) return 'fail';
  const needed = steps.filter(({ name }) => neededSteps.includes(name));
  return needed.every(({ status }) => status === 'pass') ? 'pass' : 'incomplete';
}

/** For people: when something existed. A clock may be ahead of the time of judgement, and nobody knows what exists then. */
export function existedWhen(time: number, at: number): string {
  return `${time > at ? 'before' : 'on'} ${isoTime(time)}`;
}

/** For people: `2026-11-18T06:00:00Z`; beyond the range of dates, the seconds themselves. */
export function isoTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime())
    ? `second ${milliseconds / 1000}`
    : date.toISOString().replace('.000', '');
}
