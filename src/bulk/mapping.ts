/** Which column of a CSV becomes which member of a JSON object, and of which type. */
import { JsonTextError, parseJsonText } from '../runtime/json-text.ts';
import { InputError } from './split-rows.ts';

export const columnTypes = ['string', 'number', 'boolean', 'json'] as const;
export type ColumnType = (typeof columnTypes)[number];

export interface ColumnRule {
  column: string;
  /** Names from the outside in; empty: the column is left out. */
  path: string[];
  type: ColumnType;
}

interface Cell {
  at: number;
  column: string;
  path: string[];
  type: ColumnType;
}

/** What becomes of each column. */
export interface Mapping {
  width: number;
  cells: Cell[];
}

/**
 * `column=path`, `column=path:type`, `column=:type` (the name stays) or `column=` (left out). A path of several names makes
 * objects inside each other: `load.pallets`. Throws InputError.
 */
export function parseColumnRule(text: string): ColumnRule {
  const mark = text.lastIndexOf('=');
  if (mark < 1)
    throw new InputError(`"${text}" is not of the form column=path, column=path:type or column=.`);
  const column = text.slice(0, mark);
  const target = text.slice(mark + 1);
  if (target === '') return { column, path: [], type: 'string' };
  const colon = target.lastIndexOf(':');
  const named = colon < 0 ? 'string' : target.slice(colon + 1);
  const type = columnTypes.find((one) => one === named);
  if (type === undefined)
    throw new InputError(`"${text}": the type "${named}" is none of ${columnTypes.join(', ')}.`);
  const path = colon < 0 ? target : target.slice(0, colon);
  return { column, path: path === '' ? [column] : path.split('.'), type };
}

/** Every column becomes a text under its own name, unless a rule says otherwise. Throws InputError. */
export function planColumns(header: string[], rules: ColumnRule[]): Mapping {
  const byColumn = new Map(rules.map((rule) => [rule.column, rule]));
  if (byColumn.size < rules.length) throw new InputError('A column has two mappings.');
  for (const { column } of rules) if (!header.includes(column)) throw noColumn(column, header);
  const seen = new Set<string>();
  const cells: Cell[] = [];
  header.forEach((column, at) => {
    if (column.trim() === '') throw new InputError(`Column ${at + 1} has no name in the first row.`);
    if (seen.has(column)) throw new InputError(`Two columns are called "${shown(column)}".`);
    seen.add(column);
    const { path, type } = byColumn.get(column) ?? { path: [column], type: 'string' as const };
    if (path.length > 0) cells.push({ at, column, path, type });
  });
  refuseOverlaps(cells);
  return { width: header.length, cells };
}

export function noColumn(column: string, header: string[]): InputError {
  const names = header.map((name) => `"${shown(name)}"`).join(', ');
  const hint =
    header.length === 1 && /[,;\t|]/.test(header[0] ?? '')
      ? ' Is the delimiter another one than the comma?'
      : '';
  return new InputError(
    `There is no column "${shown(column)}". The columns are: ${names.slice(0, 1_000)}.${hint}`,
  );
}

/** The object that a row describes, or a sentence about what is wrong with it. */
export function objectOf(fields: string[], { width, cells }: Mapping): Record<string, unknown> | string {
  if (fields.length !== width) {
    const many = fields.length === 1 ? '1 column' : `${fields.length} columns`;
    return `The row has ${many} instead of the ${width} of the first row.`;
  }
  const made: Record<string, unknown> = {};
  for (const { at, column, path, type } of cells) {
    const text = fields[at] ?? '';
    if (type === 'string') put(made, path, text);
    else if (text.trim() !== '') {
      const read = typedValue(text.trim(), type);
      if ('fault' in read) return `Column "${shown(column)}": ${read.fault}`;
      put(made, path, read.value);
    }
  }
  return made;
}

function typedValue(
  text: string,
  type: Exclude<ColumnType, 'string'>,
): { value: unknown } | { fault: string } {
  if (type === 'boolean') {
    if (/^true$/i.test(text)) return { value: true };
    return /^false$/i.test(text) ? { value: false } : { fault: `"${shown(text)}" is not true or false.` };
  }
  try {
    if (type === 'number' && !/^-?\d/.test(text)) throw new SyntaxError();
    return { value: parseJsonText(text) };
  } catch (error) {
    if (error instanceof JsonTextError) return { fault: error.message };
    return {
      fault: `"${shown(text)}" is not ${type === 'number' ? 'a number such as 12.5' : 'valid JSON'}.`,
    };
  }
}

function put(object: Record<string, unknown>, path: string[], value: unknown): void {
  let inside = object;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(inside, name)) inside[name] = {};
    inside = inside[name] as Record<string, unknown>;
  }
  inside[path.at(-1) ?? ''] = value;
}

/** No name may be given twice, and none may be both a value and an object. */
function refuseOverlaps(cells: Cell[]): void {
  const taken = new Map<string, 'value' | 'object'>();
  for (const { column, path } of cells) {
    if (path.some((name) => name === '' || name === '__proto__'))
      throw new InputError(`Column "${shown(column)}" has an empty or forbidden name in its path.`);
    path.forEach((_, depth) => {
      const key = JSON.stringify(path.slice(0, depth + 1));
      const kind = depth === path.length - 1 ? 'value' : 'object';
      const before = taken.get(key);
      if (before !== undefined && (before === 'value' || kind === 'value'))
        throw new InputError(`Two columns lead to "${shown(path.slice(0, depth + 1).join('.'))}".`);
      taken.set(key, kind);
    });
  }
}

export const shown = (text: string) => text.slice(0, 100).replace(/\p{Cc}/gu, '\uFFFD');
