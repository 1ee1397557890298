/** A file of records that was chosen, and how it is to be read. */
import type { RecordInput } from '../../../src/bulk/record-input.ts';
import { formatOf } from '../../../src/bulk/record-input.ts';
import type { InputFormat } from '../../../src/bulk/rows.ts';
import { InputError } from '../../../src/bulk/split-rows.ts';
import { asTheyAre, type ColumnChoice, choicesOf, findColumnFault, pathOf, rulesOf } from './columns.ts';
import { guessDelimiter, headOf, isDataOnly, readSample, type Sample } from './sample.ts';

export interface RecordDraft {
  file: File;
  sample: Sample;
  format: InputFormat;
  delimiter: string;
  columns: ColumnChoice[];
  /** The first values of the columns. */
  values: string[];
  /** Why the first row names no columns. */
  headFault: string | null;
  /** The column whose value is also the external id; of JSON Lines, the path in the data. Empty: none. */
  externalId: string;
  /** Of JSON Lines: each line is the data itself. */
  isData: boolean;
}

/** `before`: how it was read when it was imported before. */
export async function draftOf(file: File, before: RecordInput | null): Promise<RecordDraft> {
  const sample = await readSample(file);
  const format = before?.format ?? formatOf(file.name) ?? 'csv';
  const delimiter = before?.delimiter ?? guessDelimiter(sample);
  const empty = { columns: [], values: [], headFault: null, externalId: '' };
  const isData = before?.isData ?? isDataOnly(sample);
  const draft = withHead({ file, sample, format, delimiter, isData, ...empty });
  if (before === null) return draft;
  const columns = choicesOf(
    draft.columns.map(({ column }) => column),
    before.rules,
  );
  const path = JSON.stringify(before.externalId);
  const external = columns.find((choice) => JSON.stringify(pathOf(choice)) === path);
  const externalId = format === 'csv' ? external?.column : before.externalId?.join('.');
  return { ...draft, columns, externalId: externalId ?? '' };
}

export function withFormat(draft: RecordDraft, format: InputFormat): RecordDraft {
  return withHead({ ...draft, format, externalId: '' });
}

export function withDelimiter(draft: RecordDraft, delimiter: string): RecordDraft {
  return withHead({ ...draft, delimiter, externalId: '' });
}

function withHead(draft: RecordDraft): RecordDraft {
  if (draft.format !== 'csv') return { ...draft, columns: [], values: [], headFault: null };
  try {
    const { columns, values } = headOf(draft.sample, draft.delimiter);
    return { ...draft, columns: asTheyAre(columns), values, headFault: null };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { ...draft, columns: [], values: [], headFault: error.message };
  }
}

export function inputOf({ format, delimiter, columns, externalId, isData }: RecordDraft): RecordInput {
  if (format === 'csv') {
    const external = columns.find(({ column, type }) => column === externalId && type !== 'out');
    const path = external ? pathOf(external) : null;
    return { format, delimiter, rules: rulesOf(columns), externalId: path, isData: true };
  }
  const path = isData && externalId !== '' ? externalId.split('.') : null;
  // As on the command line, where nobody names a delimiter for JSON Lines.
  return { format, delimiter: ',', rules: [], externalId: path, isData };
}

export function draftFault({ format, columns, headFault }: RecordDraft): string | null {
  return headFault ?? (format === 'csv' ? findColumnFault(columns) : null);
}
