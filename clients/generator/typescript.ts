/** Writes what the TypeScript client takes from the OpenAPI document: its operations, error classes and event types. */
import { errorCodesOf, eventsOf, type OpenApiDocument, type Operation, operationsOf } from './operations.ts';

const note = 'Generated from docs/openapi.json by `npm run openapi:accept`; do not edit.';

/** A class name for a code or an event type: `on_hold` is `OnHold`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function typescriptOperations(document: OpenApiDocument): string {
  const operations = operationsOf(document);
  requireDistinctNames(operations);
  return `/** Every operation of the API, and how to call it. ${note} */
import type { Method, Operation } from './operation-types.ts';

export const operationTable = {
${operations.map((operation) => `  ${operation.id}: ${JSON.stringify(rowOf(operation))},`).join('\n')}
} as const satisfies Record<string, Operation>;

export interface Operations {
${operations.map(({ id, summary }) => `  /** ${summary.replace(/\.?$/, '.')} */\n  ${id}: Method<'${id}'>;`).join('\n')}
}
`;
}

export function typescriptErrors(document: OpenApiDocument): string {
  const codes = errorCodesOf(document);
  return `/** A class for each error code of the API. ${note} */
import { HoldfastError } from './holdfast-error.ts';

${codes.map((code) => `export class ${errorName(code)} extends HoldfastError {}`).join('\n')}

/** By \`errorCode\`. */
export const errorClasses = {
${codes.map((code) => `  ${code}: ${errorName(code)},`).join('\n')}
} as const;
`;
}

export function typescriptEvents(document: OpenApiDocument): string {
  const events = eventsOf(document);
  return `/** The events of the feed, the stream and webhooks. ${note} */
import type { components } from './openapi-types.ts';

type Schemas = components['schemas'];

/** By type. The service adds types over time: skip those you do not know. */
export interface Events {
${events.map(({ type, name, about }) => `  /** ${about.replace(/\.?$/, '.')} */\n  '${type}': Schemas['${name}'];`).join('\n')}
}

export type EventType = keyof Events;

/** An event of any known type; \`type\` says which. */
export type Event = Events[EventType];
`;
}

export function errorName(code: string): string {
  return `${pascalCase(code).replace(/Error$/, '')}Error`;
}

function rowOf({ method, path, arguments: all, ...operation }: Operation): object {
  const flags = {
    takesKey: operation.takesKey,
    takesBody: all.some((argument) => argument.in === 'body'),
    isList: operation.isList,
    isRepeatable: operation.isRepeatable,
    isRaw: operation.answer === null && !operation.mayBeEmpty && !operation.isText,
  };
  return {
    method,
    path,
    query: all.filter((argument) => argument.in === 'query').map(({ name }) => name),
    ...Object.fromEntries(Object.entries(flags).filter(([, value]) => value)),
  };
}

/** The clients take the path, the query and the body in one object. */
function requireDistinctNames(operations: Operation[]): void {
  for (const { id, arguments: all } of operations) {
    const names = all.map(({ name }) => name);
    const twice = names.find((name, place) => names.indexOf(name) !== place);
    if (twice !== undefined) throw new Error(`${id} has two arguments with the name ${twice}.`);
  }
}
