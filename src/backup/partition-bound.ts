/**
 * Parses the bounds of a partition, as PostgreSQL prints them, and writes them anew: text from an archive must not
 * become SQL.
 */
import pg from 'pg';
import { damaged } from './format.ts';

const value = String.raw`(?:'(?:[^']|'')*'|-?\d+(?:\.\d+)?|NULL|MINVALUE|MAXVALUE)`;
const values = String.raw`\((${value}(?:, ${value})*)\)`;
const range = new RegExp(`^FOR VALUES FROM ${values} TO ${values}$`);
const list = new RegExp(`^FOR VALUES IN ${values}$`);

export function partitionBound(printed: string): string {
  if (printed === 'DEFAULT') return printed;
  const [, from, to] = range.exec(printed) ?? [];
  if (from !== undefined && to !== undefined)
    return `FOR VALUES FROM (${literals(from)}) TO (${literals(to)})`;
  const [, among] = list.exec(printed) ?? [];
  if (among !== undefined) return `FOR VALUES IN (${literals(among)})`;
  throw damaged(`a partition has the bound ${printed.slice(0, 100)}, which cannot be read`);
}

function literals(text: string): string {
  const found = text.match(new RegExp(value, 'g')) ?? [];
  return found
    .map((one) => (one.startsWith("'") ? pg.escapeLiteral(one.slice(1, -1).replaceAll("''", "'")) : one))
    .join(', ');
}
