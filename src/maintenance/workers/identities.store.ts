/**
 * Which workers are one person: those of the same member, with the same licence at any time, or of whom somebody said so.
 * Workers of one person share an identity, which is the id of one of them until they are separated.
 */
import { sql } from 'kysely';
import { locks } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { newId } from '../../runtime/ids.ts';
import { type LicenceName, licenceKey } from '../signing/licence.ts';

export interface WorkerKey {
  workspaceId: string;
  workerId: string;
}

/** Who a worker is. */
export interface Identified {
  identities: string[];
  /** Licences held at any time, as they are compared. */
  licences: string[];
}

/** Until the transaction ends, nobody else changes who is who. Taken before the rows of workers. */
export async function lockIdentities(db: Db, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${locks.identities}, hashtext(${workspaceId}))`.execute(db);
}

/** What makes this worker and others one person. */
export function marksOf({ userId, licences }: { userId: string | null; licences: LicenceName[] }): string[] {
  const member = userId === null ? [] : [`member ${userId}`];
  return [...new Set([...licences.map(licenceMark), ...member])];
}

/** Remembers that the worker has these. Returns the workers who had one of them at any time, with this one. */
export async function noteMarks(
  db: Db,
  { workspaceId, workerId }: WorkerKey,
  marks: string[],
): Promise<string[]> {
  await sql`
    insert into identity_marks (workspace_id, mark, worker_id)
    select ${workspaceId}::text, mark, ${workerId}::text from unnest(${marks}::text[]) as mark
    on conflict do nothing`.execute(db);
  const { rows } = await sql<{ worker_id: string }>`
    select distinct worker_id from identity_marks
    where workspace_id = ${workspaceId} and mark = any(${marks}::text[])`.execute(db);
  return rows.map(({ worker_id }) => worker_id);
}

/** Makes these workers one person, with everybody who is one with them. `replaced`: other identities that they had. */
export async function makeOne(
  db: Db,
  { workspaceId, workerId }: WorkerKey,
  others: string[],
): Promise<{ identity: string; replaced: string[] }> {
  const { rows } = await sql<{ identity: string }>`
    select distinct coalesce(identity, id) as identity from workers
    where workspace_id = ${workspaceId} and id = any(${[workerId, ...others]}::text[])
    order by identity`.execute(db);
  const [identity = workerId, ...replaced] = rows.map((row) => row.identity);
  if (replaced.length === 0) return { identity, replaced };
  await sql`
    update workers set identity = ${identity}
    where workspace_id = ${workspaceId} and coalesce(identity, id) = any(${replaced}::text[])`.execute(db);
  await sql`
    insert into former_identities (workspace_id, worker_id, identity, until)
    select workspace_id, worker_id, ${identity}::text, until from former_identities
    where workspace_id = ${workspaceId} and identity = any(${replaced}::text[])
    on conflict (workspace_id, worker_id, identity)
      do update set until = greatest(former_identities.until, excluded.until)`.execute(db);
  return { identity, replaced };
}

/**
 * Makes the worker a person of their own. Returns null, and changes nothing, while another worker has or had one of these
 * marks, which are those that the worker has now.
 */
export async function separate(
  db: Db,
  { workspaceId, workerId }: WorkerKey,
  marks: string[],
): Promise<string | null> {
  const { rows } = await sql`
    select 1 from identity_marks
    where workspace_id = ${workspaceId} and mark = any(${marks}::text[]) and worker_id <> ${workerId} limit 1`.execute(
    db,
  );
  if (rows.length > 0) return null;
  // What the worker had by mistake, and another has, no longer makes them one.
  await sql`
    delete from identity_marks as mine
    where workspace_id = ${workspaceId} and worker_id = ${workerId} and mark <> all(${marks}::text[]) and exists (
      select 1 from identity_marks other
      where other.workspace_id = mine.workspace_id and other.mark = mine.mark and other.worker_id <> mine.worker_id
    )`.execute(db);
  await sql`
    insert into former_identities (workspace_id, worker_id, identity, until)
    select workspace_id, id, coalesce(identity, id), clock_timestamp() from workers
    where workspace_id = ${workspaceId} and id = ${workerId}
    on conflict (workspace_id, worker_id, identity) do update set until = excluded.until`.execute(db);
  const identity = newId('prs');
  await sql`
    update workers set identity = ${identity} where workspace_id = ${workspaceId} and id = ${workerId}`.execute(
    db,
  );
  return identity;
}

/** Who these workers are, and were said to be when something was recorded then; by the worker's id. */
export async function identitiesOf(
  db: Db,
  { workspaceId, workerIds }: { workspaceId: string; workerIds: string[] },
  then: Date,
): Promise<Map<string, Identified>> {
  const { rows } = await sql<{ id: string; licences: LicenceName[]; identities: string[]; marks: string[] }>`
    select w.id, w.licences,
      array(
        select coalesce(w.identity, w.id)
        union select f.identity from former_identities f
        where f.workspace_id = w.workspace_id and f.worker_id = w.id and f.until > ${then}
      ) as identities,
      array(
        select mark from identity_marks m where m.workspace_id = w.workspace_id and m.worker_id = w.id
      ) as marks
    from workers w
    where w.workspace_id = ${workspaceId} and w.id = any(${workerIds}::text[])`.execute(db);
  return new Map(
    rows.map(({ id, identities, licences, marks }) => {
      const held = marks.filter((mark) => mark.startsWith(licencePrefix));
      const keys = held.map((mark) => mark.slice(licencePrefix.length));
      return [id, { identities, licences: [...licences.map(licenceKey), ...keys] }];
    }),
  );
}

/** Whether this member is the worker, by this record of them or by another one. */
export async function isWorker(
  db: Db,
  { workspaceId, workerId, userId }: WorkerKey & { userId: string },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from workers w
    join workers other on other.workspace_id = w.workspace_id
      and coalesce(other.identity, other.id) = coalesce(w.identity, w.id)
    where w.workspace_id = ${workspaceId} and w.id = ${workerId} and other.user_id = ${userId} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

const licencePrefix = 'licence ';

function licenceMark(licence: LicenceName): string {
  return licencePrefix + licenceKey(licence);
}
