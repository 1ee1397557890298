/** The stored answers of idempotent requests. */
import { withClient } from './database.ts';

/** Those to this key, of any workspace, each as the JSON of its row. */
export function storedAnswers(databaseUrl: string, path: string, key: string): Promise<string[]> {
  return withClient({ connectionString: databaseUrl }, async (client) => {
    const { rows } = await client.query<{ row: string }>(
      `select to_json(a)::text as row from idempotent_answers a, workspaces w
       where slot = sha256(convert_to(concat_ws(' ', w.id, 'POST', $1::text, $2::text), 'UTF8'))`,
      [path.replace(/\/$/, ''), key],
    );
    return rows.map(({ row }) => row);
  });
}
