/**
 * Compiles filters to paths of SQL/JSON, which the database evaluates where it makes the deliveries of an event, in the
 * commit of the event: so what is filtered makes no delivery, and nothing that passes can be lost.
 */
import { AppError } from '../../runtime/errors.ts';
import { type Comparison, FilterError, type FilterNode, type Literal, parseFilter } from './filter-syntax.ts';

/** Throws an error for the caller, with the column. */
export function compileFilter(source: string): string {
  try {
    return toPath(parseFilter(source), true);
  } catch (error) {
    if (error instanceof FilterError) throw new AppError('invalid_request', `filter: ${error.message}`);
    throw error;
  }
}

/**
 * `wanted` false: the opposite. Every test is true or false for every event: a comparison with a field that the event lacks
 * is false, and its opposite true. In SQL/JSON a comparison of different types is neither, and so is its opposite, so
 * negations are pushed down to the tests.
 */
function toPath(node: FilterNode, wanted: boolean): string {
  switch (node.kind) {
    case 'and':
    case 'or': {
      const operator = (node.kind === 'and') === wanted ? ' && ' : ' || ';
      return `(${node.parts.map((part) => toPath(part, wanted)).join(operator)})`;
    }
    case 'not':
      return toPath(node.part, !wanted);
    case 'exists':
      return test(`exists(${pathTo(node.path)})`, wanted);
    case 'startsWith':
      return test(`${pathTo(node.path)} starts with ${write(node.prefix)}`, wanted);
    case 'in': {
      const path = pathTo(node.path);
      return test(node.values.map((value) => `${path} == ${write(value)}`).join(' || '), wanted);
    }
    case 'compare':
      return node.operator === '!=' ? compare({ ...node, operator: '==' }, !wanted) : compare(node, wanted);
  }
}

function compare(
  { path, operator, value }: { path: string[]; operator: Comparison; value: Literal },
  wanted: boolean,
): string {
  return test(`${pathTo(path)} ${operator} ${write(value)}`, wanted);
}

function test(predicate: string, wanted: boolean): string {
  return wanted ? `(${predicate})` : `(!(${predicate}) || ((${predicate}) is unknown))`;
}

function pathTo(path: string[]): string {
  return `$.${path.map((name) => JSON.stringify(name)).join('.')}`;
}

/** Literals of SQL/JSON paths are those of JSON, but for the slash, which they do not escape. */
function write(value: Literal): string {
  return typeof value === 'number' && value < 0 ? `(${value})` : JSON.stringify(value);
}
