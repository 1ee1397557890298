/** Who may have the service sign with a key that it holds, and what the sign-off then says. */
import type { SignedWith } from '../../proof/signoff/signoff-document.ts';
import { type Caller, may, onBehalf } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { requireFreshSession } from '../../runtime/fresh-session.ts';
import type { Subject } from '../entries/maintenance-subject.ts';

/** Throws unless the caller is the worker, and has just shown it, or may sign on behalf of workers. */
export function requireSigningAuthority(caller: Caller, worker: Subject['worker']): SignedWith {
  if (caller.person) {
    requireWorker(caller, worker);
    return { method: 'held-key', apiKeyId: null };
  }
  if (caller.actor.kind === 'api_key' && may(caller, onBehalf)) {
    return { method: 'held-key', apiKeyId: caller.actor.id };
  }
  throw new AppError(
    'forbidden',
    `The service holds the key of ${worker.address}. To have it sign on behalf of the worker, an API key needs the scope ${onBehalf}, which must be named: no key has it by default. Otherwise the worker signs in their own session.`,
  );
}

/** Throws unless the person who is signed in is this worker, and has just shown it. */
export function requireWorker(caller: Caller, worker: Pick<Subject['worker'], 'address' | 'userId'>): void {
  if (caller.person?.userId !== worker.userId) {
    throw new AppError(
      'not_the_signer',
      worker.userId === null
        ? `No person is bound to the worker ${worker.address}. An admin must say which member this worker is.`
        : `You are not the worker ${worker.address}: only that person can sign with this key.`,
    );
  }
  requireFreshSession(caller);
}
