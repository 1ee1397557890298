/** `npm test`: one PostgreSQL for the whole run, then every test file; extra arguments name single files. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/db/embedded/embedded-postgres.ts';
import { migrate } from '../src/db/migrate.ts';
import { connectionText, templateDatabase, withClient } from './database.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
const quiet = { info() {}, error: console.error };
const postgres = await startEmbeddedPostgres({ dataDir, log: quiet });
let exitCode = 1;
try {
  const server = postgres.connection();
  await withClient(server, async (client) => {
    // This server holds copies for tests that come and go; what must survive a crash is tested on servers of its own.
    await client.query('alter system set fsync = off');
    await client.query('select pg_reload_conf()');
    await client.query(`create database ${templateDatabase}`);
  });
  await migrate({ connection: { ...server, database: templateDatabase } });

  const named = process.argv.slice(2);
  const files = named.length > 0 ? named : ['src/**/*.test.ts', 'test/**/*.test.ts'];
  const run = spawn(process.execPath, ['--test', '--test-concurrency=4', '--test-timeout=120000', ...files], {
    stdio: 'inherit',
    env: {
      // Each file is a process that loads much the same: compiled code kept between them takes a third off.
      NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
      ...process.env,
      HOLDFAST_TEST_SERVER: connectionText(server),
    },
  });
  // Ctrl-C reaches the run as well; the server is stopped below in any case.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => run.kill('SIGTERM'));
  exitCode = await new Promise((resolve) => run.on('exit', (code) => resolve(code ?? 1)));
} finally {
  await postgres.release();
  await rm(dataDir, { recursive: true, force: true });
}
process.exit(exitCode);
