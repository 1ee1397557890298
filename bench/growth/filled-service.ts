/** Data directories of services that have been used for long: filled once, kept in bench/cache/. */
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { countAnchoredHours } from '../../src/anchoring/leaves/anchored-hours.ts';
import { openDatabase } from '../../src/db/database.ts';
import { apiBase } from '../../src/http/api/api.ts';
import { countHours } from '../../src/webhooks/deliveries/delivery-hours.ts';
import { startAnchoringService } from '../anchoring.ts';
import type { Fixture } from '../fixture.ts';
import { holdfastDatabase, joinPostgres, type Postgres } from '../postgres.ts';
import { keyHeaders } from '../service.ts';
import { batchLeaves, type Filler, fillers } from './fillers.ts';

const root = resolve(import.meta.dirname, '../..');
const cache = join(root, 'bench/cache');
const sources = ['migrations/*.sql', 'bench/growth/fill*.ts'];
/** What its endpoint subscribes to: nothing that a service does while it is measured. */
export const subscribedType = 'asset.transfer.completed';
/** A multiple of the leaves of a batch. */
const chunkRows = 100 * batchLeaves;
/** The log of deliveries is kept for 90 days; nothing is from the last two. */
const days = 83;
const dayMs = 24 * 60 * 60 * 1000;
/** Larger ones are used where they are: copying them takes longer than anything else. Each use adds a little. */
const mostCopied = 1_000_000;

/** A service that was stopped, with so many rows of each kind. */
export async function filledService(rows: number, fixture: Fixture): Promise<string> {
  const kept = join(cache, `growth-${rows}-${await fingerprint()}`);
  if (!(await exists(kept))) await make(rows, kept, fixture);
  if (rows > mostCopied) return kept;
  const dataDir = await fixture.newDirectory();
  await cp(kept, dataDir, { recursive: true, preserveTimestamps: true, mode: 0 });
  return dataDir;
}

async function make(rows: number, kept: string, fixture: Fixture): Promise<void> {
  console.error(`  filling a service with ${rows.toLocaleString('en')} rows of each kind, once`);
  const began = performance.now();
  await mkdir(cache, { recursive: true });
  const draft = `${kept}.${process.pid}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const anchoring = await startAnchoringService(fixture, draft);
  const answer = await fetch(`${anchoring.service.url}${apiBase}/platform/webhooks/endpoints`, {
    method: 'POST',
    headers: { ...keyHeaders(anchoring.service), 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'http://127.0.0.1:9/', eventTypes: [subscribedType] }),
  });
  if (answer.status !== 201) throw new Error(`no endpoint was made: ${await answer.text()}`);
  const { id: endpoint } = (await answer.json()) as { id: string };
  await anchoring.stop();

  const postgres = await fixture.keep(() => joinPostgres(draft));
  await unsafely(postgres, async () => {
    await Promise.all(fillers.map((list) => fill(postgres, list, { rows, endpoint })));
    await postgres.query(holdfastDatabase, 'vacuum analyze');
    await countHoursOf(postgres);
  });
  await postgres.stop();
  await rename(draft, kept);
  console.error(`  filled in ${Math.round((performance.now() - began) / 1000)} s`);
}

/** Without waiting for the disk: who fills may begin again. */
async function unsafely(postgres: Postgres, work: () => Promise<void>): Promise<void> {
  const set = async (change: string) => {
    for (const name of ['fsync', 'full_page_writes', 'max_wal_size', 'autovacuum'])
      await postgres.query(
        'postgres',
        `alter system ${change === 'reset' ? `reset ${name}` : `set ${name} = ${name === 'max_wal_size' ? "'8GB'" : 'off'}`}`,
      );
    await postgres.query('postgres', 'select pg_reload_conf()');
  };
  await set('set');
  await work();
  await set('reset');
  await postgres.query('postgres', 'checkpoint');
}

interface Plan {
  rows: number;
  endpoint: string;
}

async function fill(postgres: Postgres, list: Filler[], { rows, endpoint }: Plan): Promise<void> {
  const client = new pg.Client({ ...postgres.connection(holdfastDatabase), application_name: 'bench' });
  await client.connect();
  try {
    const firstDay = new Date(Math.floor(Date.now() / dayMs) * dayMs - (days + 2) * dayMs);
    const { rows: found } = await client.query('select workspace_id as id from vaults limit 1');
    const settings = {
      workspace: found[0].id,
      endpoint,
      first_day: firstDay.toISOString().slice(0, 10),
      days: String(days),
    };
    for (const [name, value] of Object.entries(settings))
      await client.query('select set_config($1, $2, false)', [`bench.${name}`, value]);
    // No triggers: nothing is counted, sent or refused.
    await client.query(
      "set session_replication_role = replica; set synchronous_commit = off; set work_mem = '256MB'",
    );
    await client.query(ulidFunction);
    for (const { before = [] } of list) for (const text of before) await client.query(text);
    for (let first = 1; first <= rows; first += chunkRows) {
      const last = Math.min(rows, first + chunkRows - 1);
      await client.query('begin');
      await client.query(chunkText, [first, last, firstDay.getTime(), (days * dayMs) / rows]);
      await client.query('analyze chunk');
      for (const { statements } of list) for (const text of statements) await client.query(text);
      await client.query('commit');
    }
    for (const { after = [] } of list) for (const text of after) await client.query(text);
  } finally {
    await client.end();
  }
}

const digit = (value: string, bits: number) =>
  `substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((${value} >> ${bits}) & 31)::integer + 1, 1)`;
const digits = (value: string, count: number) =>
  Array.from({ length: count }, (_, place) => digit(value, 5 * (count - 1 - place))).join(' || ');

/** What follows the prefix of an id: ten digits of the time, and sixteen that count. */
const ulidFunction = `
  create function pg_temp.ulid(ms bigint, n bigint) returns text language sql immutable as $$
    select ${digits('ms', 10)} || '0000000000' || ${digits('n', 6)}
  $$`;

const chunkText = `
  create temp table chunk on commit drop as
  select n, ms, to_timestamp(ms / 1000.0) as at, pg_temp.ulid(ms, n) as ulid,
         substring(int8send(ms) from 3) || '\\x0000'::bytea || int8send(n) as id_bytes
  from (select n, ($3::float8 + n * $4::float8)::bigint as ms from generate_series($1::bigint, $2::bigint) as n) as numbered`;

/** What the service does in the background, before anybody measures. */
async function countHoursOf(postgres: Postgres): Promise<void> {
  const database = openDatabase({
    connection: () => postgres.connection(holdfastDatabase),
    onError: console.error,
    max: 2,
  });
  while ((await countAnchoredHours(database.db)) === true);
  while ((await countHours(database.db)) === true);
  await database.close();
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of globSync(sources, { cwd: root }).sort())
    hash.update(`${file}\n`).update(await readFile(join(root, file)));
  return hash.digest('hex').slice(0, 12);
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
