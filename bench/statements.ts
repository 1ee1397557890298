/** Counts the SQL statements of the service, every single one, with PostgreSQL's own pg_stat_statements. */
import { holdfastDatabase, joinPostgres, type Postgres } from './postgres.ts';
import { type Service, startService } from './service.ts';

/** In statements of the benchmark itself, which do not count. */
export const ours = '/* benchmark */';

/**
 * Started twice: the module has to be there when PostgreSQL starts. Counting transactions needs no module, but would
 * take the four statements of a loop's transaction for one.
 */
export async function startCountedService(options: { root: string; dataDir: string }): Promise<Service> {
  const { dataDir } = options;
  const first = await startService(options);
  try {
    const postgres = await joinPostgres(dataDir);
    await postgres.query(home, 'create extension pg_stat_statements');
    await postgres.query(home, "alter system set shared_preload_libraries = 'pg_stat_statements'");
    await postgres.stop();
  } finally {
    await first.stop();
  }
  return { ...(await startService(options)), key: first.key };
}

/** Starts counting; the function it returns tells how many there were since. */
export async function countStatements(postgres: Postgres): Promise<() => Promise<number>> {
  await postgres.query(home, 'select pg_stat_statements_reset()');
  return async () => {
    const [row] = await postgres.query<{ calls: number }>(
      home,
      `select coalesce(sum(s.calls), 0)::int as calls
       from pg_stat_statements s join pg_database d on d.oid = s.dbid
       where d.datname = $1 and position($2 in s.query) = 0`,
      [holdfastDatabase, ours],
    );
    return row?.calls ?? 0;
  };
}

/** Where the module's view lives. */
const home = 'postgres';
