/** What every part of an export uses: lists, answers that are saved, logs of what is done, and the list of what is missing. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../bulk/attempts.ts';
import { ImportStopped } from '../bulk/run.ts';
import { type AppendLog, openAppendLog } from './append-log.ts';
import type { ServiceCalls } from './service-calls.ts';

export interface Exporter {
  calls: ServiceCalls;
  folder: string;
  /** The lines of a collection, by what tells them apart. */
  log(name: string, keyOf: (line: never) => string): Promise<AppendLog>;
  /** All things of a list, page by page; a list that may not be read is noted as missing. */
  list(path: string, what: string): AsyncIterable<Thing[]>;
  /** Saves what a path answers; what cannot be read is noted as missing. */
  save(path: string, file: string, of: { id: string; what: string }): Promise<boolean>;
  /** The answer, or null: noted as missing. */
  read(path: string, of: { id: string; what: string }): Promise<unknown>;
  missing(of: { id: string; what: string }, reason: string): Promise<void>;
  progress(): void;
}

export interface Thing {
  id: string;
  version: number;
  [name: string]: unknown;
}

/** Of lists; the service accepts no more. */
const pageSize = 100;

export async function createExporter({
  calls,
  folder,
  logs,
  stopping,
}: {
  calls: ServiceCalls;
  folder: string;
  logs: Map<string, AppendLog>;
  stopping: AbortSignal;
}): Promise<Exporter> {
  async function log(name: string, keyOf: (line: never) => string): Promise<AppendLog> {
    const opened = await openAppendLog(join(folder, `${name}.jsonl`), keyOf as (line: object) => string);
    logs.set(name, opened);
    return opened;
  }
  const missingKey = ({ id, what }: { id: string; what: string }) => `${what} ${id}`;
  const lost = await log('missing', missingKey as (line: never) => string);
  async function missing(of: { id: string; what: string }, reason: string): Promise<void> {
    if (!lost.has(missingKey(of))) await lost.append({ ...of, reason });
  }
  async function read(path: string, of: { id: string; what: string }): Promise<unknown> {
    if (stopping.aborted) throw new ImportStopped('It was interrupted.');
    const answer = await calls.call(path);
    if (answer.status === 200) return answer.body;
    if (answer.status === 401) throw new ImportStopped(messageOf(answer));
    await missing(of, messageOf(answer));
    return null;
  }
  return {
    calls,
    folder,
    log,
    missing,
    read,
    async *list(path, what) {
      for (let cursor: string | null = ''; cursor !== null; ) {
        if (stopping.aborted) throw new ImportStopped('It was interrupted.');
        const mark = path.includes('?') ? '&' : '?';
        const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const answer = await calls.call(`${path}${mark}limit=${pageSize}${after}`);
        if (answer.status !== 200) {
          if (answer.status === 401) throw new ImportStopped(messageOf(answer));
          return missing({ id: path, what }, messageOf(answer));
        }
        yield answer.body as Thing[];
        if (answer.archivedBefore)
          await missing(
            { id: path, what },
            `What was archived before ${answer.archivedBefore} is not in the list.`,
          );
        cursor = answer.nextCursor ?? null;
      }
    },
    async save(path, file, of) {
      const body = await read(path, of);
      if (body === null) return false;
      await replace(join(folder, file), JSON.stringify(body));
      return true;
    },
    progress() {
      if (!process.stderr.isTTY) return;
      const parts = [...logs].map(([name, { size }]) => `${size.toLocaleString('en-US')} ${name}`);
      process.stderr.write(`\r\u001b[K${parts.join(', ').slice(0, (process.stderr.columns ?? 80) - 1)}`);
    },
  };
}

/** As a whole, so that a kill leaves the old content or the new one. */
export async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.part`, text, { mode: 0o600 });
  await rename(`${path}.part`, path);
}
