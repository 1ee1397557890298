/** The second person: neither the one who invited the worker, nor the worker. */
import { findMaker } from '../../access/api-keys/api-keys.ts';
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
  const { workspaceId } = caller;
  const inviter =
    invitedBy.kind === 'user' ? invitedBy.id : await findMaker(db, { workspaceId, actor: invitedBy });
  if (inviter === person.userId) {
    throw new AppError(
      'second_person_required',
      'You invited this worker, or made the API key that did, so somebody else must confirm the registration.',
    );
  }
}
