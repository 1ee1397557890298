/** `bytes`: what an anchored record takes in the database, table by table with its indexes, in the write-ahead log, in a full `fsck`, and archived. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRecords, startAnchoringService, waitForConfirmation } from '../anchoring.ts';
import { holdfastDatabase, type Postgres } from '../postgres.ts';
import { readProcess } from '../process-times.ts';
import type { Comparison, Figure, Row } from '../row.ts';
import { ownRoot, type Service, serviceEnvironment } from '../service.ts';
import { processesOf } from '../service-processes.ts';

const batchSize = 1_000;
const batches = 20;
/** Smaller shares are of tables that do not grow with records. */
const leastBytes = 0.5;

interface Sizes {
  tables: Map<string, number>;
  walBytes: number;
}

export const bytes: Row = {
  name: 'bytes',
  what: `bytes of each of ${(batchSize * batches).toLocaleString('en')} records, made by the thousand and anchored`,
  async measure(fixture) {
    const anchoring = await startAnchoringService(fixture);
    const { postgres } = anchoring;
    const before = await sizesOf(postgres);
    for (let batch = 0; batch < batches; batch++) {
      const ids = await createRecords(anchoring, batchSize);
      await waitForConfirmation(anchoring, ids.at(-1) ?? '');
    }
    await waitUntilTold(postgres);
    const after = await sizesOf(postgres);
    const fsckMs = await checkEverything(anchoring.service);
    const archived = await archiveAll(anchoring.service, postgres);
    await anchoring.stop();
    const perRecord = (size: number) => Math.round((size / (batchSize * batches)) * 10) / 10;
    const tables = Object.fromEntries(
      [...after.tables]
        .map(([name, size]) => [name, perRecord(size - (before.tables.get(name) ?? 0))] as const)
        .filter(([, size]) => size > leastBytes)
        .sort(([, one], [, other]) => other - one),
    );
    const total = Object.values(tables).reduce((sum, size) => sum + size, 0);
    const fsckMicros = Math.round((fsckMs * 1_000) / (batchSize * batches));
    const lines: [string, number][] = [
      ['stored', total],
      ['write-ahead log', perRecord(after.walBytes - before.walBytes)],
      ...Object.entries(tables),
    ];
    return {
      comparisons: [
        ...lines.map(([name, value]) => line(name, value, 'B')),
        line('CPU of fsck', fsckMicros, 'µs'),
        line('archived: in the database', archived.tableBytes, 'B'),
        line('archived: in files', archived.fileBytes, 'B'),
      ],
      details: { records: batchSize * batches, tables, fsckMs, archived },
    };
  },
};

function line(figure: string, value: number, unit: Figure['unit']): Comparison {
  return {
    figure,
    peer: null,
    holdfast: { value, unit, p99Ms: null },
    ratio: null,
    toReach: null,
    reached: null,
  };
}

/** What each archived record takes in `archived_records` and `archived_leaves`, once these are packed, and in the blob store. */
async function archiveAll({ dataDir }: Service, postgres: Postgres) {
  const output = await new Promise<string>((resolve, reject) => {
    const args = ['archive', '--before', '0m', '--json'];
    execFile(join(ownRoot, 'bin/holdfast'), args, { env: serviceEnvironment(dataDir) }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
  const { records, fileBytes, left } = JSON.parse(output) as Record<string, number> & { records: number };
  for (const table of ['archived_records', 'archived_leaves', 'anchor_leaves'])
    await postgres.query(holdfastDatabase, `vacuum full ${table}`);
  const { tables } = await sizesOf(postgres);
  const size = (tables.get('archived_records') ?? 0) + (tables.get('archived_leaves') ?? 0);
  const each = (bytes = 0) => Math.round((bytes / records) * 10) / 10;
  return {
    ...{ records, left, leavesBytes: tables.get('anchor_leaves') },
    tableBytes: each(size),
    fileBytes: each(fileBytes),
  };
}

/** CPU time of the command and of its connections to the database, which end with it. */
async function checkEverything(service: Service): Promise<number> {
  const [postmaster] = (await processesOf(service)).postgres ?? [];
  const ended = async () => {
    const both = await Promise.all([readProcess(process.pid), readProcess(postmaster ?? 0)]);
    return both.reduce((sum, one) => sum + (one?.endedMs ?? 0), 0);
  };
  const before = await ended();
  await new Promise<void>((resolve, reject) => {
    const env = serviceEnvironment(service.dataDir);
    execFile(join(ownRoot, 'bin/holdfast'), ['fsck', '--json'], { env }, (error, stdout) =>
      error ? reject(new Error(stdout, { cause: error })) : resolve(),
    );
  });
  return (await ended()) - before;
}

/** After a checkpoint, so that both begin with whole pages in the log. */
async function sizesOf(postgres: Postgres): Promise<Sizes> {
  await postgres.query(holdfastDatabase, 'checkpoint');
  const rows = await postgres.query<{ name: string; size: string }>(
    holdfastDatabase,
    `select relname as name, pg_total_relation_size(oid)::text as size from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const [wal] = await postgres.query<{ at: string }>(
    holdfastDatabase,
    "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as at",
  );
  return { tables: new Map(rows.map(({ name, size }) => [name, Number(size)])), walBytes: Number(wal?.at) };
}

/** Every confirmation is an event, written after the confirmation itself. */
async function waitUntilTold(postgres: Postgres): Promise<void> {
  for (;;) {
    const open = await postgres.query(
      holdfastDatabase,
      'select 1 from anchor_batches where announced < size limit 1',
    );
    if (open.length === 0) return;
    await sleep(200);
  }
}
