/** Copies a snapshot of the database into an archive, while the service goes on working. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { objectName } from '../blobs/object-names.ts';
import { locks } from '../db/advisory-lock.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { columnList, listMigrations, listTables, quoted, readSequences } from './catalogue.ts';
import { type Manifest, type TableEntry, tableMember } from './format.ts';
import { countRows } from './verify-archive.ts';

export type DatabasePart = Pick<Manifest, 'migrations' | 'masterKeys' | 'chain' | 'tables' | 'sequences'>;

export interface DumpOptions {
  archive: ArchiveWriter;
  /** Receives the names of all blobs that were not erased, one per line. */
  blobNamesFile: string;
  onProgress(progress: { done: number; total: number }): void;
  signal?: AbortSignal | undefined;
}

export interface Dump extends DatabasePart {
  checkValues: { version: number; check_value: Buffer }[];
  /** Bytes of the blobs before encryption; about the amount to copy. */
  blobs: { count: number; bytes: number };
}

const blobPage = 5_000;

/**
 * Uses one snapshot for all tables. It holds no lock that blocks readers or writers. Only creating and dropping
 * partitions would wait, and block everybody behind it: an advisory lock keeps that from starting meanwhile. After a
 * failure the connection may be in the middle of a COPY, and must be closed.
 */
export async function dumpDatabase(client: pg.ClientBase, options: DumpOptions): Promise<Dump> {
  await client.query('select pg_advisory_lock($1)', [locks.deliveryPartitions]);
  await client.query('begin isolation level repeatable read read only');
  // COPY's output depends on these settings, and rows hidden by a policy must fail the dump instead of being left out.
  await client.query(`
    set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
    set local bytea_output = 'hex'; set local extra_float_digits = 1; set local row_security = off;
    set local search_path = public`);
  const dump = await dumpSnapshot(client, options);
  await client.query('commit');
  await client.query('select pg_advisory_unlock($1)', [locks.deliveryPartitions]);
  return dump;
}

async function dumpSnapshot(client: pg.ClientBase, options: DumpOptions): Promise<Dump> {
  const { archive, signal, onProgress } = options;
  const found = await listTables(client);
  const about = found.reduce((sum, { aboutRows }) => sum + aboutRows, 0);
  let done = 0;
  const tables: TableEntry[] = [];
  for (const { name, columns, partitions } of found) {
    signal?.throwIfAborted();
    let rows = 0;
    const source = client.query(
      copyTo(`copy (select ${columnList(columns)} from ${quoted(name)}) to stdout`),
    );
    const counted = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        signal?.throwIfAborted();
        const more = countRows(chunk);
        rows += more;
        done += more;
        onProgress({ done, total: Math.max(done, about) });
        yield chunk;
      }
    };
    const written = await archive.addPieces(tableMember(name), counted(), { compress: true });
    tables.push({ name, columns, partitions, rows, ...written });
  }
  const checkValues = await client.query<Dump['checkValues'][number]>(
    'select version, check_value from master_keys order by version',
  );
  return {
    migrations: await listMigrations(client),
    masterKeys: checkValues.rows.map(({ version }) => version),
    checkValues: checkValues.rows,
    chain: await readChain(client),
    tables,
    sequences: await readSequences(client),
    blobs: await spoolBlobNames(client, options.blobNamesFile),
  };
}

async function readChain(client: pg.ClientBase): Promise<Manifest['chain']> {
  const { rows } = await client.query<{ chain_id: string; genesis: string; embedded: boolean }>(
    "select chain_id::text, '0x' || encode(genesis_hash, 'hex') as genesis, embedded from chain",
  );
  const [chain] = rows;
  return chain
    ? { chainId: Number(chain.chain_id), genesisHash: chain.genesis, embedded: chain.embedded }
    : null;
}

/** To a file: there may be many names, and the blobs are copied after the snapshot, which must not stay open for hours. */
async function spoolBlobNames(client: pg.ClientBase, file: string): Promise<Dump['blobs']> {
  const sum = { count: 0, bytes: 0 };
  async function* lines(): AsyncGenerator<string> {
    let last = ['', ''];
    for (;;) {
      const { rows } = await client.query<{ workspace_id: string; id: string; size: string }>(
        `select workspace_id, id, size::text from blobs
         where (workspace_id, id) > ($1, $2) and erased_at is null order by workspace_id, id limit $3`,
        [...last, blobPage],
      );
      for (const { workspace_id, id, size } of rows) {
        sum.count += 1;
        sum.bytes += Number(size);
        yield `${objectName({ workspaceId: workspace_id, blobId: id })}\n`;
      }
      const end = rows.at(-1);
      if (!end) return;
      last = [end.workspace_id, end.id];
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(file, { mode: 0o600 }));
  return sum;
}
