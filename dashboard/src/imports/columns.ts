/** What becomes of each column of a CSV, as it is chosen on the page. */
import { type ColumnRule, type ColumnType, planColumns } from '../../../src/bulk/mapping.ts';
import { InputError } from '../../../src/bulk/split-rows.ts';

export interface ColumnChoice {
  column: string;
  /** The name in the data; dots make objects inside each other. */
  target: string;
  type: ColumnType | 'out';
}

export const asTheyAre = (columns: string[]): ColumnChoice[] =>
  columns.map((column) => ({ column, target: column, type: 'string' }));

/** The names from the outside in. A column that keeps its name keeps its dots. */
export function pathOf({ column, target }: ColumnChoice): string[] {
  return target === column || target.trim() === '' ? [column] : target.split('.');
}

/** Only of those columns that do not become a text under their own name, as on the command line. */
export function rulesOf(choices: ColumnChoice[]): ColumnRule[] {
  return choices.flatMap((choice): ColumnRule[] => {
    const { column, type } = choice;
    if (type === 'out') return [{ column, path: [], type: 'string' }];
    const path = pathOf(choice);
    return type === 'string' && path.length === 1 && path[0] === column ? [] : [{ column, path, type }];
  });
}

/** As they were chosen before. */
export function choicesOf(columns: string[], rules: ColumnRule[]): ColumnChoice[] {
  return asTheyAre(columns).map((choice) => {
    const rule = rules.find(({ column }) => column === choice.column);
    if (!rule) return choice;
    if (rule.path.length === 0) return { ...choice, type: 'out' };
    return { ...choice, target: rule.path.join('.'), type: rule.type };
  });
}

/** A sentence; null: they can be used. */
export function findColumnFault(choices: ColumnChoice[]): string | null {
  try {
    planColumns(
      choices.map(({ column }) => column),
      rulesOf(choices),
    );
    return null;
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
}
