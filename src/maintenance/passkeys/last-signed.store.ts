/** What a worker signed last, in SQL. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

/** Far more than clocks differ by. */
const recentMs = 24 * 60 * 60 * 1000;

/**
 * Now, or when the last sign-off of the worker was received, or that time: the clock of another node or signer may be ahead of
 * ours. Whatever the worker signed before is not after this. The worker is locked.
 */
export async function afterSigned(
  db: Db,
  { workspaceId, workerId }: { workspaceId: string; workerId: string },
  time: string,
): Promise<string> {
  const recent = new Date(Date.now() - recentMs);
  const { rows } = await sql<{ last: string | null }>`
    select max(coalesce(document::jsonb ->> 'receivedAt', document::jsonb ->> 'signedAt')) as last from signoffs
    where workspace_id = ${workspaceId} and worker_id = ${workerId} and created_at > ${recent}`.execute(db);
  const times = [time, rows[0]?.last ?? time].map((one) => Date.parse(one));
  return new Date(Math.max(Date.now(), ...times)).toISOString();
}
