/** What an import of records is told besides its input, and the rows that come of both. */
import type { ColumnRule } from './mapping.ts';
import { mostRecordBytes, type RecordForm, recordRow } from './records.ts';
import { createRowReader, type InputFormat } from './rows.ts';
import type { Row } from './units.ts';

export interface RecordInput extends RecordForm {
  format: InputFormat;
  delimiter: string;
  rules: ColumnRule[];
}

/** By the ending of the name; null: it says nothing. */
export function formatOf(name: string): InputFormat | null {
  if (/\.(csv|tsv|txt)$/i.test(name)) return 'csv';
  return /\.(jsonl|ndjson)$/i.test(name) ? 'jsonl' : null;
}

/** All that determines what is made of the input. The keys of requests follow from this text: its order must not change. */
export function recordsPlan(vault: string, input: RecordInput): string {
  const { format, delimiter, rules, externalId, isData } = input;
  const named = rules.map(({ column, path, type }) => ({ column, path, type }));
  return JSON.stringify({
    ...{ kind: 'records', vault: vault.toLowerCase(), format, delimiter, rules: named, externalId, isData },
  });
}

/** Throws InputError where the input as a whole cannot be used. */
export function createRecordReader(input: RecordInput): { push(piece: Uint8Array): Row[]; end(): Row[] } {
  const reader = createRowReader({ ...input, maxBytes: mostRecordBytes });
  return {
    push: (piece) => reader.push(piece).map((row) => recordRow(row, input)),
    end: () => reader.end().map((row) => recordRow(row, input)),
  };
}
