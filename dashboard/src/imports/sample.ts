/** The beginning of an input: its columns, its first values, and what its first rows will be. */
import { csvFields } from '../../../src/bulk/csv-fields.ts';
import { createRecordReader, type RecordInput } from '../../../src/bulk/record-input.ts';
import { mostRecordBytes } from '../../../src/bulk/records.ts';
import { createRowSplitter, InputError, type RawRow } from '../../../src/bulk/split-rows.ts';
import type { Row } from '../../../src/bulk/units.ts';

export interface Sample {
  bytes: Uint8Array;
  /** Nothing follows. */
  isWhole: boolean;
}

export interface Head {
  columns: string[];
  /** Of the first row that has them. */
  values: string[];
}

/** Any row that is not too long is in it, and one more. */
const sampleBytes = 2 * mostRecordBytes;
const previewed = 3;

export const delimiters = [',', ';', '\t', '|'];

export async function readSample(file: File): Promise<Sample> {
  try {
    const bytes = new Uint8Array(await file.slice(0, sampleBytes).arrayBuffer());
    return { bytes, isWhole: file.size <= sampleBytes };
  } catch {
    throw new Error('The file could not be read. It may have been changed or moved: choose it again.');
  }
}

/** The first rows with text in them. */
function firstRows({ bytes, isWhole }: Sample, delimiter: string | null, most: number): RawRow[] {
  const splitter = createRowSplitter({ maxBytes: mostRecordBytes, delimiter });
  const rows: RawRow[] = [];
  for (let at = 0; at < bytes.length && rows.length < most; at += 65_536)
    rows.push(...splitter.push(bytes.subarray(at, at + 65_536)).filter(isContent));
  if (isWhole && rows.length < most) rows.push(...splitter.end().filter(isContent));
  return rows.slice(0, most);
}

const isContent = (row: RawRow) => 'fault' in row || row.text.trim() !== '';

/** Throws InputError where the first row does not name columns. */
export function headOf(sample: Sample, delimiter: string): Head {
  const [head, ...rows] = firstRows(sample, delimiter, 5);
  if (!head && !sample.isWhole) throw new InputError('The first row is too long to name columns.');
  if (!head) throw new InputError('The file is empty: its first row has to name the columns.');
  if ('fault' in head) throw new InputError(`The first row cannot be read: ${head.fault}`);
  const columns = csvFields(head.text, delimiter);
  if (typeof columns === 'string') throw new InputError(`The first row cannot be read: ${columns}`);
  for (const row of rows) {
    const values = 'text' in row ? csvFields(row.text, delimiter) : '';
    if (values.length === columns.length && typeof values !== 'string') return { columns, values };
  }
  return { columns, values: [] };
}

/** The one that gives most columns. */
export function guessDelimiter(sample: Sample): string {
  let best = { delimiter: ',', width: 0 };
  for (const delimiter of delimiters) {
    const width = widthBy(sample, delimiter);
    if (width > best.width) best = { delimiter, width };
  }
  return best.delimiter;
}

function widthBy(sample: Sample, delimiter: string): number {
  try {
    return headOf(sample, delimiter).columns.length;
  } catch {
    return 0;
  }
}

/** Whether a line of JSON Lines is the data itself. */
export function isDataOnly(sample: Sample): boolean {
  try {
    const [first] = firstRows(sample, null, 1);
    const { data } = JSON.parse(first && 'text' in first ? first.text : '');
    return typeof data !== 'object' || data === null;
  } catch {
    return false;
  }
}

/** What the first rows will be. Throws InputError where the input as a whole cannot be used. */
export function preview({ bytes, isWhole }: Sample, input: RecordInput): Row[] {
  const isCsv = input.format === 'csv';
  const raw = firstRows({ bytes, isWhole }, isCsv ? input.delimiter : null, previewed + (isCsv ? 1 : 0));
  const end = raw.at(-1)?.end ?? bytes.length;
  const reader = createRecordReader(input);
  const rows = reader.push(bytes.subarray(0, end));
  if (isWhole && end === bytes.length) rows.push(...reader.end());
  return rows.slice(0, previewed);
}
