/** The supported versions of PostgreSQL: those that the tests can run on. */
import type { ClientBase } from 'pg';
import { OperatorError } from '../../runtime/errors.ts';

/** In the form of `server_version_num`, without the minor version. */
export const oldestMajor = 15;

/** Throws before any change is made. */
export async function refuseOldServer(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ number: string }>(
    "select current_setting('server_version_num') as number",
  );
  const number = Number(rows[0]?.number);
  const major = Math.floor(number / 10_000);
  if (major >= oldestMajor) return;
  throw new OperatorError(
    `The database server is PostgreSQL ${major}.${number % 10_000}, but Holdfast needs ${oldestMajor} or newer. Upgrade the server, or set DATABASE_URL to another one. Nothing was changed.`,
  );
}
