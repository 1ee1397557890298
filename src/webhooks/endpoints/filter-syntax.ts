/**
 * The language of filters: comparisons of an event's fields, combined with and, or and not. Parses an expression into a
 * tree, checks it against the catalogue of events, and says in which column it is wrong.
 */
import { eventCatalogue } from '../../events/catalogue.ts';

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type Literal = string | number | boolean;

export type FilterNode =
  | { kind: 'and' | 'or'; parts: FilterNode[] }
  | { kind: 'not'; part: FilterNode }
  | { kind: 'exists'; path: string[] }
  | { kind: 'startsWith'; path: string[]; prefix: string }
  | { kind: 'in'; path: string[]; values: Literal[] }
  | { kind: 'compare'; path: string[]; operator: Comparison; value: Literal };

export const filterLimits = { length: 2000, depth: 16, values: 100 };

export class FilterError extends Error {
  readonly column: number;

  /** `column` counts from 1. */
  constructor(message: string, column: number) {
    super(`column ${column}: ${message}`);
    this.column = column;
  }
}

interface Token {
  kind: 'word' | 'string' | 'number' | 'sign' | 'end';
  text: string;
  column: number;
}

type FieldType = 'string' | 'integer' | 'boolean';

/** Every field that any event has, by its path. */
const fields = new Map<string, FieldType>([
  ['id', 'string'],
  ['type', 'string'],
  ['timestamp', 'string'],
  ['workspace_id', 'string'],
  ...Object.values(eventCatalogue).flatMap(({ data }) =>
    Object.entries(data).map(([name, { type }]) => [`data.${name}`, type] as [string, FieldType]),
  ),
]);

const tokenPattern =
  /\s*(?:(?<word>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?<string>"(?:[^"\\]|\\.)*")|(?<number>-?\d+(?:\.\d+)?)|(?<sign>==|!=|<=|>=|[<>()[\],]))/uy;

const comparisons = new Set<string>(['==', '!=', '<', '<=', '>', '>=']);

export function parseFilter(source: string): FilterNode {
  if (source.length > filterLimits.length)
    throw new FilterError(`A filter has at most ${filterLimits.length} characters.`, filterLimits.length + 1);
  const tokens = tokensOf(source);
  let next = 0;
  let depth = 0;

  const peek = () => tokens[next] as Token;
  const take = () => tokens[next++] as Token;
  const isNext = (text: string) => peek().text === text && (peek().kind === 'word' || peek().kind === 'sign');

  function expect(text: string): void {
    if (!isNext(text)) throw unexpected(peek(), `"${text}"`);
    next += 1;
  }

  function chain(kind: 'and' | 'or', part: () => FilterNode): FilterNode {
    const parts = [part()];
    while (isNext(kind)) {
      next += 1;
      parts.push(part());
    }
    return parts.length === 1 ? (parts[0] as FilterNode) : { kind, parts };
  }

  const parseOr = () => chain('or', () => chain('and', parseNot));

  function parseNot(): FilterNode {
    depth += 1;
    if (depth > filterLimits.depth)
      throw new FilterError(`A filter is nested at most ${filterLimits.depth} levels deep.`, peek().column);
    const node = parseTest();
    depth -= 1;
    return node;
  }

  function parseTest(): FilterNode {
    if (isNext('not')) {
      next += 1;
      return { kind: 'not', part: parseNot() };
    }
    if (isNext('(')) {
      next += 1;
      const inner = parseOr();
      expect(')');
      return inner;
    }
    if (tokens[next + 1]?.text === '(' && (isNext('exists') || isNext('startsWith'))) return parseCall();
    const field = take();
    const { path, type } = fieldOf(field);
    if (isNext('in')) {
      next += 1;
      return { kind: 'in', path, values: parseValues(type) };
    }
    const operator = take();
    if (operator.kind !== 'sign' || !comparisons.has(operator.text))
      throw unexpected(operator, 'a comparison such as ==, or in');
    if (type === 'boolean' && operator.text !== '==' && operator.text !== '!=')
      throw new FilterError(`${field.text} is true or false: compare it with == or !=.`, operator.column);
    return { kind: 'compare', path, operator: operator.text as Comparison, value: parseValue(type) };
  }

  function parseCall(): FilterNode {
    const name = take();
    expect('(');
    const field = take();
    const { path, type } = fieldOf(field);
    if (name.text === 'exists') {
      expect(')');
      return { kind: 'exists', path };
    }
    if (type !== 'string') throw new FilterError(`${field.text} is no text.`, field.column);
    expect(',');
    const prefix = parseValue('string') as string;
    expect(')');
    return { kind: 'startsWith', path, prefix };
  }

  function parseValues(type: FieldType): Literal[] {
    expect('[');
    const values = [parseValue(type)];
    while (isNext(',')) {
      next += 1;
      if (values.length === filterLimits.values)
        throw new FilterError(`A list has at most ${filterLimits.values} values.`, peek().column);
      values.push(parseValue(type));
    }
    expect(']');
    return values;
  }

  function parseValue(type: FieldType): Literal {
    const token = take();
    const value = literalOf(token);
    if (value === undefined) throw unexpected(token, valueNames[type]);
    if (typeof value !== (type === 'integer' ? 'number' : type))
      throw new FilterError(`This must be ${valueNames[type]}, as the field is.`, token.column);
    return value;
  }

  const root = parseOr();
  if (peek().kind !== 'end') throw unexpected(peek(), 'and, or, or the end');
  return root;
}

const valueNames = { string: 'a text in double quotes', integer: 'a number', boolean: 'true or false' };

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  const end = source.trimEnd().length;
  let at = 0;
  while (at < end) {
    tokenPattern.lastIndex = at;
    const groups = tokenPattern.exec(source)?.groups;
    const found = Object.entries(groups ?? {}).find(([, text]) => text !== undefined) as
      | [Token['kind'], string]
      | undefined;
    if (!found) {
      const column = at + (source.slice(at).match(/^\s*/)?.[0].length ?? 0) + 1;
      const sign = String.fromCodePoint(source.codePointAt(column - 1) ?? 0);
      throw new FilterError(
        sign === '"' ? 'The text is not closed.' : `${JSON.stringify(sign)} has no meaning here.`,
        column,
      );
    }
    at = tokenPattern.lastIndex;
    tokens.push({ kind: found[0], text: found[1], column: at - found[1].length + 1 });
  }
  tokens.push({ kind: 'end', text: '', column: end + 1 });
  return tokens;
}

function fieldOf(token: Token): { path: string[]; type: FieldType } {
  if (token.kind !== 'word') throw unexpected(token, 'a field');
  const type = fields.get(token.text);
  if (!type) throw new FilterError(`No event has the field ${token.text}.`, token.column);
  return { path: token.text.split('.'), type };
}

/** Undefined: the token is no value. */
function literalOf({ kind, text, column }: Token): Literal | undefined {
  if (kind === 'word' && (text === 'true' || text === 'false')) return text === 'true';
  if (kind === 'number') {
    if (text.length > 17) throw new FilterError('The number is too long.', column);
    return Number(text);
  }
  if (kind !== 'string') return undefined;
  try {
    const value = JSON.parse(text) as string;
    // PostgreSQL can store neither.
    if (value.isWellFormed() && !value.includes('\0')) return value;
  } catch {}
  throw new FilterError('The text is not valid: it is written as in JSON.', column);
}

function unexpected({ kind, text, column }: Token, expected: string): FilterError {
  return new FilterError(`Expected ${expected}, found ${kind === 'end' ? 'the end' : text}.`, column);
}
