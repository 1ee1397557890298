/** The two people behind a registration: who invites the worker is known, and somebody else confirms, who is not the worker. */
import { findMaker } from '../../access/api-keys/api-keys.ts';
import type { Db } from '../../db/database.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { isWorker } from '../workers/identities.store.ts';

export interface Inviter {
  /** The person, also if it was with an API key that they had made. */
  invitedBy: string;
  invitedWith: string | null;
}

/** Throws for an API key that nobody made: then nobody could tell whether inviter and confirmer are two people. */
export async function requireInviter(db: Db, caller: Caller): Promise<Inviter> {
  if (caller.person) return { invitedBy: caller.person.userId, invitedWith: null };
  const maker = await findMaker(db, caller);
  if (maker !== null) return { invitedBy: maker, invitedWith: caller.actor.id };
  throw new AppError(
    'forbidden',
    'This API key was made on the command line, so nobody knows which person invites. Invite workers in the dashboard, or with an API key that a person has made while signed in.',
  );
}

/** The person who confirms: neither the one who invited the worker, nor the worker. */
export async function requireSecondPerson(
  db: Db,
  { person, workspaceId }: Caller,
  { invitedBy, workerId }: { invitedBy: string; workerId: string },
): Promise<NonNullable<Caller['person']>> {
  if (!person) {
    throw new AppError(
      'second_person_required',
      'A registration is confirmed by a person who is signed in, not by an API key.',
    );
  }
  if (await isWorker(db, { workspaceId, workerId, userId: person.userId })) {
    throw new AppError(
      'second_person_required',
      'You are this worker, so somebody else must confirm that the passkey is yours.',
    );
  }
  if (person.userId !== invitedBy) return person;
  throw new AppError(
    'second_person_required',
    'You invited this worker, or made the API key that did, so somebody else must confirm the registration.',
  );
}
