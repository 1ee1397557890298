/** Imports records: a file of CSV or JSON Lines, a thousand rows in a request. */
import { importKey, lineRange } from '../../../src/bulk/keys.ts';
import { createRecordReader, type RecordInput, recordsPlan } from '../../../src/bulk/record-input.ts';
import { recordsBody, recordsSent } from '../../../src/bulk/records.ts';
import { type Row, recordUnits, unitsOf } from '../../../src/bulk/units.ts';
import { call } from '../api/call.ts';
import { recordsPath } from '../records/record.ts';
import type { KeptImport } from './journal.ts';
import { contentOf, type KnownContent, piecesOf } from './pieces.ts';
import type { Job } from './run.ts';

export interface RecordImport {
  file: File;
  vaultAddress: string;
  workspaceId: string;
  input: RecordInput;
}

/** As long as the command line waits for an answer. */
const timeoutMs = 120_000;

export function recordJob(
  { file, vaultAddress, workspaceId, input }: RecordImport,
  { dryRun }: { dryRun: boolean },
): Job {
  const plan = recordsPlan(vaultAddress, input);
  const keptOf = ({ digest }: KnownContent): KeptImport => ({
    id: importKey({ digest, plan, part: workspaceId }),
    ...{ workspaceId, vaultAddress, input, name: file.name, totalBytes: file.size, hashOnly: false },
    ...{ begunAt: 0, rows: 0, complete: false },
  });
  async function* rowsOf(known: KnownContent | null): AsyncGenerator<Row[]> {
    const reader = createRecordReader(input);
    for await (const piece of piecesOf(file, known)) yield reader.push(piece);
    yield reader.end();
  }
  return {
    ...{
      name: file.name,
      noun: 'records',
      vaultAddress,
      totalBytes: file.size,
      dryRun,
      resendUnknown: false,
      again: false,
    },
    async begin(step, { run }) {
      const known = dryRun ? null : await contentOf(file, step);
      return run({
        kept: known && keptOf(known),
        units: () => unitsOf(rowsOf(known), recordUnits),
        keyOf: (rows) => importKey({ digest: known?.digest ?? '', plan, part: lineRange(rows) }),
        async send(rows, key, { ask }) {
          const body = new Blob([recordsBody(vaultAddress, rows)], { type: 'application/json' });
          const headers = { 'idempotency-key': key };
          const post = () =>
            call('POST', `${recordsPath}/batch`, { body, headers, signal: AbortSignal.timeout(timeoutMs) });
          return recordsSent(await ask(post));
        },
      });
    },
  };
}
