/**
 * An export: each collection is listed page by page, and a thing's line is written after everything else of it, so that an
 * interrupted export continues with the things that have no line yet. The manifest is written last.
 */
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ImportStopped } from '../bulk/run.ts';
import { OperatorError } from '../runtime/errors.ts';
import { version } from '../runtime/version.ts';
import type { AppendLog } from './append-log.ts';
import { print } from './command.ts';
import { type ConnectionOptions, chooseConnection } from './connection.ts';
import { exportFiles } from './export-files.ts';
import { sumsOf } from './export-sums.ts';
import { exportAssets, exportRecords } from './export-things.ts';
import { createExporter, replace } from './exporter.ts';
import { createServiceCalls } from './service-calls.ts';
import { stopOnSignal } from './stop-signal.ts';

export interface ExportOptions extends ConnectionOptions {
  out: string;
  giveUpAfter: number;
  json?: boolean;
}

const format = 'holdfast/export@1';

export async function exportWorkspace(options: ExportOptions): Promise<void> {
  const connection = await chooseConnection(options);
  if (connection === null)
    throw new OperatorError('Name a service: use "holdfast login", or --url and HOLDFAST_API_KEY.');
  const { out } = options;
  await begin(out, connection.url);
  const stopping = stopOnSignal();
  const giveUpMs = options.giveUpAfter * 1_000;
  const calls = createServiceCalls(connection, { giveUpMs, stopping, say: (line) => console.error(line) });
  const logs = new Map<string, AppendLog>();
  try {
    const exporter = await createExporter({ calls, folder: out, logs, stopping });
    let stopped: string | null = null;
    try {
      await exportRecords(exporter);
      await exportFiles(exporter);
      await exportAssets(exporter);
    } catch (error) {
      if (!(error instanceof ImportStopped)) throw error;
      stopped = error.message;
    }
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
    const counts = Object.fromEntries([...logs].map(([name, { size }]) => [name, size]));
    if (stopped === null) await finish(out, connection.url, logs);
    else process.exitCode = 1;
    const { records = 0, files = 0, assets = 0, maintenances = 0, missing = 0 } = counts;
    print(
      options,
      { out, records, files, assets, maintenances, missing, complete: stopped === null, stopped },
      `${records} records, ${files} files, ${assets} assets and ${maintenances} maintenance entries are in ${out}.${missing > 0 ? ` What could not be read is in missing.jsonl: ${missing}.` : ''}${stopped === null ? '' : `\nNot finished: ${stopped} Run the same command again to continue.`}`,
    );
  } finally {
    for (const log of logs.values()) await log.close();
  }
}

/** Refuses a folder with something else in it, and one of another service. */
async function begin(out: string, url: string): Promise<void> {
  const mark = join(out, 'export.json');
  const made = await mkdir(out, { recursive: true });
  if (await exists(join(out, 'manifest.json')))
    throw new OperatorError(`The export in ${out} is complete. Choose another folder.`);
  if (await exists(mark)) {
    const begun = JSON.parse(await readFile(mark, 'utf8'));
    if (begun.url !== url)
      throw new OperatorError(`The export in ${out} is of ${String(begun.url).slice(0, 200)}.`);
  } else {
    if (made === undefined && (await readdir(out)).length > 0)
      throw new OperatorError(`${out} is not empty, and no export was begun there.`);
    await replace(mark, JSON.stringify({ format, url, begunAt: new Date().toISOString() }));
  }
  for (const name of ['files', 'proofs', 'histories']) await mkdir(join(out, name), { recursive: true });
}

/** SHA256SUMS is for `sha256sum -c`; the manifest names its digest and the counts. */
async function finish(out: string, url: string, logs: Map<string, AppendLog>): Promise<void> {
  const sums = await sumsOf(out);
  await replace(join(out, 'SHA256SUMS'), sums);
  const counts = Object.fromEntries([...logs].map(([name, { size }]) => [name, size]));
  const sha256 = createHash('sha256').update(sums).digest('hex');
  const manifest = { format, url, version, exportedAt: new Date().toISOString(), counts, sha256sums: sha256 };
  await replace(join(out, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
