/** `holdfast import records`: records from CSV or JSON Lines, a thousand in a request. */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { importKey, lineRange } from '../bulk/keys.ts';
import { parseColumnRule } from '../bulk/mapping.ts';
import { createRecordReader, formatOf, type RecordInput, recordsPlan } from '../bulk/record-input.ts';
import { recordsBody, recordsSent } from '../bulk/records.ts';
import type { InputFormat } from '../bulk/rows.ts';
import type { Sent } from '../bulk/run.ts';
import { InputError } from '../bulk/split-rows.ts';
import { type Body, type Placed, type Row, recordUnits, unitsOf } from '../bulk/units.ts';
import { OperatorError } from '../runtime/errors.ts';
import { type ImportOptions, openImport } from './import-session.ts';
import { postJson, requireActiveVault, requireScope, type ServiceCalls } from './service-calls.ts';

export interface RecordOptions extends ImportOptions {
  vault: string;
  format?: InputFormat;
  delimiter: string;
  map: string[];
  externalId?: string;
  dataOnly?: boolean;
}

const route = '/platform/records/batch';
const pieceBytes = 256 * 1024;

export async function importRecords(path: string, options: RecordOptions): Promise<void> {
  const form = formOf(path, options);
  const file = await openInput(path);
  try {
    const { digest, totalBytes, isSame } = await digestOf(file);
    const { calls, run } = await openImport(options);
    await requireScope(calls, route);
    await requireActiveVault(calls, options.vault);
    const plan = recordsPlan(options.vault, form);

    async function* rows(): AsyncGenerator<Row[]> {
      const reader = createRecordReader(form);
      for await (const piece of piecesOf(file)) yield reader.push(piece);
      if (!(await isSame())) throw new OperatorError(`${path} was changed while it was read.`);
      yield reader.end();
    }
    await run({
      ...{ input: path, identity: digest, plan, totalBytes, noun: 'records' },
      units: () => unitsOf(rows(), recordUnits),
      keyOf: (some) => importKey({ digest, plan, part: lineRange(some) }),
      send: (some, key) => sendRecords(calls, { vault: options.vault, rows: some, key }),
    });
  } catch (error) {
    throw error instanceof InputError ? new OperatorError(error.message, { cause: error }) : error;
  } finally {
    await file.close();
  }
}

function formOf(
  path: string,
  { format: named, delimiter, map, externalId, dataOnly }: RecordOptions,
): RecordInput {
  const format = named ?? formatOf(path);
  if (format === null) throw new OperatorError(`Say with --format whether ${path} is csv or jsonl.`);
  if (format === 'jsonl' && map.length > 0) throw new OperatorError('--map is for CSV.');
  try {
    return {
      format,
      delimiter: delimiter === 'tab' ? '\t' : delimiter,
      rules: map.map(parseColumnRule),
      externalId: externalId === undefined ? null : externalId.split('.'),
      isData: format === 'csv' || dataOnly === true || externalId !== undefined,
    };
  } catch (error) {
    throw error instanceof InputError ? new OperatorError(`--map: ${error.message}`) : error;
  }
}

async function sendRecords(
  { call }: ServiceCalls,
  { vault, rows, key }: { vault: string; rows: (Placed & Body)[]; key: string },
): Promise<Sent> {
  const answer = await call(
    route,
    postJson(() => recordsBody(vault, rows), { 'idempotency-key': key }),
  );
  return recordsSent(answer);
}

async function openInput(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (cause) {
    throw new OperatorError(`${path} cannot be read: ${(cause as Error).message}.`, { cause });
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new OperatorError(
    `${path} is not a regular file. Save the input to a file, so that it can be read again.`,
  );
}

/** One pass before the import, so that its keys are those of exactly this content. */
async function digestOf(file: FileHandle) {
  const first = await file.stat();
  const hash = createHash('sha256');
  let totalBytes = 0;
  for await (const piece of piecesOf(file)) {
    hash.update(piece);
    totalBytes += piece.length;
  }
  const isSame = async () => {
    const now = await file.stat();
    return now.size === first.size && now.mtimeMs === first.mtimeMs;
  };
  return { digest: hash.digest('hex'), totalBytes, isSame };
}

async function* piecesOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    // A new one each time: rows may still be parts of the last.
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(pieceBytes), position });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
