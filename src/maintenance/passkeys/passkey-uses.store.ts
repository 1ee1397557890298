/**
 * What passkeys counted, in the order of signing: signatures may wait on a device, and arrive in another order than they were
 * made. A counter that contradicts that order shows a copy of the passkey. Some passkeys always count zero.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { AppError } from '../../runtime/errors.ts';

interface Use {
  workspaceId: string;
  /** Locked until the transaction ends. */
  passkey: { id: string; counter: number };
  signedAt: Date;
  counter: number;
}

/** Of the same second, what arrived first was signed first. */
export async function addUse(db: Db, { workspaceId, passkey, signedAt, counter }: Use): Promise<void> {
  const key = { workspace_id: workspaceId, passkey_id: passkey.id };
  const { rows } = await sql<{ before: number | null; after: number | null }>`
    select (
      select counter from passkey_uses
      where workspace_id = ${workspaceId} and passkey_id = ${passkey.id} and signed_at <= ${signedAt}
      order by signed_at desc, counter desc limit 1
    ) as before, (
      select counter from passkey_uses
      where workspace_id = ${workspaceId} and passkey_id = ${passkey.id} and signed_at > ${signedAt}
      order by signed_at, counter limit 1
    ) as after`.execute(db);
  const isFirst = rows[0]?.before == null;
  const before = Number(rows[0]?.before ?? passkey.counter);
  const after = rows[0]?.after == null ? null : Number(rows[0].after);
  if (!rises(before, counter)) throw contradiction(`counted ${counter}, after ${before} before`);
  if (after !== null && !rises(counter, after)) {
    throw contradiction(`counted ${counter}, and ${after} in a signature that was made later`);
  }
  const uses = [{ ...key, signed_at: signedAt, counter }];
  if (isFirst) uses.push({ ...key, signed_at: new Date(0), counter: passkey.counter });
  // A passkey that always counts zero may be used twice in a second.
  await db
    .insertInto('passkey_uses')
    .values(uses)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db
    .updateTable('worker_passkeys')
    .set({ counter: Math.max(counter, passkey.counter) })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', passkey.id)
    .execute();
}

function rises(one: number, next: number): boolean {
  return next > one || (one === 0 && next === 0);
}

function contradiction(what: string): AppError {
  return new AppError('passkey_counter', `The passkey ${what}: it may have been copied.`);
}
