/** What PostgreSQL says about the archiving of its log. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { OperatorError } from '../../runtime/errors.ts';

/** A log that cannot be archived fills the disk of the database, and what it says cannot be restored. */
export async function requireArchived(db: Db): Promise<void> {
  const { rows } = await sql<{ failed: string; at: Date }>`
    select last_failed_wal as failed, last_failed_time as at from pg_stat_archiver
    where last_failed_time > coalesce(last_archived_time, '-infinity')`.execute(db);
  const [failing] = rows;
  if (!failing) return;
  throw new OperatorError(
    `PostgreSQL cannot archive its log (${failing.failed}, last tried at ${failing.at.toISOString()}): check the space and the rights in HOLDFAST_WAL_ARCHIVE_DIR. Until it can, the log stays in the data directory.`,
  );
}
