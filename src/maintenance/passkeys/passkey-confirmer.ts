/** The second person: neither the one who invited the worker, nor the worker. */
import { findAuditActor } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import type { StatedActor } from '../signing/passkey-document.ts';

export async function requireSecondPerson(
  db: Db,
  caller: Caller,
  { invitedBy, workerUserId }: { invitedBy: StatedActor; workerUserId: string | null },
): Promise<void> {
  const { person } = caller;
  if (!person) {
    throw new AppError(
      'second_person_required',
      'A registration is confirmed by a person who is signed in, not by an API key.',
    );
  }
  if (person.userId === workerUserId) {
    throw new AppError(
      'second_person_required',
      'You are this worker, so somebody else must confirm that the passkey is yours.',
    );
  }
  if ((await personBehind(db, caller.workspaceId, invitedBy)) === person.userId) {
    throw new AppError(
      'second_person_required',
      'You invited this worker, or made the API key that did, so somebody else must confirm the registration.',
    );
  }
}

/** Who made a key that made a key; null if it was the operator. */
async function personBehind(db: Db, workspaceId: string, actor: StatedActor): Promise<string | null> {
  let behind: StatedActor | null = actor;
  for (let step = 0; behind?.kind === 'api_key' && step < mostSteps; step += 1) {
    behind = await findAuditActor(db, { workspaceId, action: 'api_key.create', targetId: behind.id });
  }
  return behind?.kind === 'user' ? behind.id : null;
}

const mostSteps = 100;
