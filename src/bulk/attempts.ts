/** Sends a request until it is answered for good: again after an interruption, and when the service asks to wait. */
import { ImportStopped } from './run.ts';

export interface Answer {
  status: number;
  retryAfter: string | null;
  /** Parsed JSON; null if it is none. */
  body: unknown;
}

export interface Attempts {
  /** How long the service may be away; what it answers meanwhile starts the time again. */
  giveUpMs: number;
  /** Ends early when stopped. */
  wait(ms: number): Promise<void>;
  now(): number;
  stopping: AbortSignal;
  /** Why it waits; null: it works again. */
  tell(trouble: string | null): void;
}

const firstWaitMs = 500;
const longestWaitMs = 30_000;
const longestAskedMs = 15 * 60_000;

/** Throws ImportStopped when the service stays away. */
export async function persist<A extends Answer>(attempt: () => Promise<A>, attempts: Attempts): Promise<A> {
  const { now, wait, tell, stopping } = attempts;
  let awaySince: number | null = null;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    let trouble: string;
    let askedMs: number | null = null;
    try {
      const answer = await attempt();
      if (!isTemporary(answer)) {
        tell(null);
        return answer;
      }
      askedMs = askedWaitMs(answer, now());
      trouble = messageOf(answer);
      if (answer.status === 429 || answer.status === 409) awaySince = null;
      else awaySince ??= now();
    } catch (error) {
      if (error instanceof ImportStopped || isLocal(error)) throw error;
      const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
      trouble = `The service cannot be reached (${cause?.code ?? (cause?.message || message)}).`;
      awaySince ??= now();
    }
    if (stopping.aborted) throw new ImportStopped('It was interrupted.');
    if (awaySince !== null && now() - awaySince >= attempts.giveUpMs)
      throw new ImportStopped(`${trouble} Nothing else came for ${Math.round(attempts.giveUpMs / 1_000)} s.`);
    tell(trouble);
    await wait(askedMs ?? waitMs);
    if (stopping.aborted) throw new ImportStopped('It was interrupted.');
  }
}

export function messageOf({ status, body }: Answer): string {
  const { message } = (body ?? {}) as { message?: unknown };
  const said = typeof message === 'string' ? message.slice(0, 500).replace(/\p{Cc}/gu, '\uFFFD') : '';
  return said || `The service answered ${status}.`;
}

export function codeOf({ body }: Answer): string {
  const { errorCode } = (body ?? {}) as { errorCode?: unknown };
  return typeof errorCode === 'string' ? errorCode : '';
}

/** What a refusal of one request means: that its content is wrong, or that no other will be accepted either. */
export function requireContentFault(answer: Answer): string {
  const { status } = answer;
  if (status === 400 || status === 413 || status === 415) return messageOf(answer);
  if (codeOf(answer) === 'idempotency_key_reused')
    throw new ImportStopped(
      `${messageOf(answer)} Probably another version of Holdfast began this import: finish it with that one.`,
    );
  throw new ImportStopped(messageOf(answer));
}

/** A full disk here is no trouble of the service. */
function isLocal(error: unknown): boolean {
  const { code = '' } = error as { code?: unknown };
  return /^(ENOSPC|EDQUOT|EROFS|EIO|EACCES|ENOENT|EISDIR|ENAMETOOLONG|EMFILE)$/.test(String(code));
}

function isTemporary(answer: Answer): boolean {
  const { status } = answer;
  return status >= 500 || status === 429 || status === 408 || codeOf(answer) === 'idempotency_in_progress';
}

/** Seconds or a date, as HTTP allows. */
function askedWaitMs({ retryAfter }: Answer, now: number): number | null {
  if (retryAfter === null || retryAfter.trim() === '') return null;
  const seconds = Number(retryAfter);
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - now : seconds * 1_000;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), longestAskedMs);
}
