/** What a stolen cookie must not be enough for: changes that need a fresh proof of who is there, or a second factor. */
import { type Caller, freshMinutes } from './caller.ts';
import { AppError } from './errors.ts';

/**
 * Throws step_up_required if the person has not proved lately who they are. Keys and commands pass: their holder has no
 * session. For whole routes, set `freshSession` in their config; call this where only some requests of a route need it.
 */
export function requireFreshSession({ person }: Caller): void {
  if (!person || person.isFresh) return;
  throw stepUpRequired();
}

export function stepUpRequired(): AppError {
  return new AppError(
    'step_up_required',
    `Confirm that it is you: this needs a passkey, a two-factor code or, if you have neither, your password, used within the last ${freshMinutes} minutes. Then try again.`,
  );
}

/** Throws second_factor_required if the workspace requires one that the session lacks. Keys and commands pass. */
export function requireSecondFactor({ person }: Caller): void {
  if (!person?.lacksSecondFactor) return;
  throw new AppError(
    'second_factor_required',
    'This workspace requires a second factor. Set up a passkey or two-factor codes under Settings, or sign in with one.',
  );
}
