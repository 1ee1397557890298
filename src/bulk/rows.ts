/** The rows of an import: JSON objects from CSV or JSON Lines, each with its line, and what is wrong with the others. */
import { JsonTextError, parseJsonText } from '../runtime/json-text.ts';
import { csvFields } from './csv-fields.ts';
import { type ColumnRule, type Mapping, objectOf, planColumns } from './mapping.ts';
import { createRowSplitter, InputError, type RawRow } from './split-rows.ts';

export const inputFormats = ['csv', 'jsonl'] as const;
export type InputFormat = (typeof inputFormats)[number];

export interface InputForm {
  format: InputFormat;
  /** Of CSV: one ASCII character. */
  delimiter: string;
  rules: ColumnRule[];
  maxBytes: number;
}

export type ObjectRow = { line: number; end: number } & (
  | { object: Record<string, unknown> }
  | { fault: string }
);

/** Also told what a row of CSV said before the mapping: for a preview. */
export interface RowReader {
  push(piece: Uint8Array): ObjectRow[];
  end(): ObjectRow[];
}

/** Throws InputError where the input as a whole cannot be used. Blank lines are no rows. */
export function createRowReader({ format, delimiter, rules, maxBytes }: InputForm): RowReader {
  const isCsv = format === 'csv';
  const splitter = createRowSplitter({ maxBytes, delimiter: isCsv ? delimiter : null });
  let mapping: Mapping | null = null;

  function headed(row: RawRow): null {
    if ('fault' in row) throw new InputError(`The first row cannot be read: ${row.fault}`);
    const header = csvFields(row.text, delimiter);
    if (typeof header === 'string') throw new InputError(`The first row cannot be read: ${header}`);
    mapping = planColumns(header, rules);
    return null;
  }

  function read(row: RawRow): ObjectRow | null {
    if (
      'text' in row &&
      row.text.trim() === '' &&
      (!isCsv || mapping === null || mapping.width === 1 || row.text === '')
    )
      return null;
    if (isCsv && mapping === null) return headed(row);
    const { line, end } = row;
    if ('fault' in row) return { line, end, fault: row.fault };
    const object = mapping === null ? objectIn(row.text) : objectInCsv(row.text, mapping);
    return typeof object === 'string' ? { line, end, fault: object } : { line, end, object };
  }

  function objectInCsv(text: string, columns: Mapping): Record<string, unknown> | string {
    const fields = csvFields(text, delimiter);
    return typeof fields === 'string' ? fields : objectOf(fields, columns);
  }

  return {
    push: (piece) => splitter.push(piece).flatMap((row) => read(row) ?? []),
    end() {
      const rows = splitter.end().flatMap((row) => read(row) ?? []);
      if (isCsv && mapping === null)
        throw new InputError('The input is empty: its first row names the columns.');
      return rows;
    },
  };
}

function objectIn(text: string): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch (error) {
    if (error instanceof JsonTextError) return error.message;
    return `The line is not valid JSON: ${(error as Error).message}.`;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'The line is not a JSON object.';
  return value as Record<string, unknown>;
}
