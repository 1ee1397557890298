/** Compares two OpenAPI documents: separates changes that break clients of the older one from additions. */
import { isDeepStrictEqual } from 'node:util';

// biome-ignore lint/suspicious/noExplicitAny: documents are plain JSON and are walked as such
export type Json = any;

export interface Comparison {
  /** One sentence per change that can break a client. */
  breaks: string[];
  /** Whether there is any difference, breaking or not. */
  differs: boolean;
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export function compareDocuments(accepted: Json, current: Json): Comparison {
  const differs = !isDeepStrictEqual(comparable(accepted), comparable(current));
  return { breaks: [...documentBreaks(accepted, current)], differs };
}

/** The document without the parts that differ between installations or releases. */
export function comparable(document: Json): Json {
  const { servers: _, ...rest } = structuredClone(document);
  delete rest.info?.version;
  return rest;
}

function* documentBreaks(accepted: Json, current: Json): Generator<string> {
  const documents = { accepted, current };
  for (const name of Object.keys(accepted.components?.schemas ?? {})) {
    if (!current.components?.schemas?.[name]) yield `the schema ${name} is gone`;
  }
  for (const [path, item] of Object.entries<Json>(accepted.paths ?? {})) {
    const now = current.paths?.[path];
    if (!now) {
      yield `${path} is gone`;
      continue;
    }
    for (const method of methods.filter((one) => item[one])) {
      const name = `${method.toUpperCase()} ${path}`;
      if (!now[method]) yield `${name} is gone`;
      else yield* operationBreaks(name, item[method], now[method], documents);
    }
  }
}

interface Documents {
  accepted: Json;
  current: Json;
}

function* operationBreaks(name: string, was: Json, is: Json, documents: Documents): Generator<string> {
  const isOpen = ({ security }: Json) => !security || security.length === 0;
  if (isOpen(was) && !isOpen(is)) yield `${name} now needs a key`;
  if (was.operationId !== undefined && was.operationId !== is.operationId) {
    yield `${name} is no longer called ${was.operationId}`;
  }
  yield* parameterBreaks(name, was.parameters ?? [], is.parameters ?? [], documents);
  yield* bodyBreaks(name, was.requestBody, is.requestBody, documents);
  for (const [status, response] of Object.entries<Json>(was.responses ?? {})) {
    const now = is.responses?.[status];
    const where = `${name} ${status}`;
    if (!now) yield `${where} is gone`;
    else yield* contentBreaks(where, response.content, now.content, { ...documents, direction: 'response' });
    for (const header of Object.keys(response.headers ?? {})) {
      if (now && !now.headers?.[header]) yield `${where}: header ${header} is gone`;
    }
  }
}

function* parameterBreaks(name: string, was: Json[], is: Json[], documents: Documents): Generator<string> {
  const find = (list: Json[], { in: place, name }: Json) =>
    list.find((other) => other.in === place && other.name === name);
  for (const parameter of was) {
    const now = find(is, parameter);
    const where = `${name}: ${parameter.in} parameter ${parameter.name}`;
    if (!now) yield `${where} is gone`;
    else {
      if (now.required && !parameter.required) yield `${where} is now required`;
      yield* schemaBreaks(where, parameter.schema, now.schema, { ...documents, direction: 'request' });
    }
  }
  for (const parameter of is.filter((one) => one.required && !find(was, one))) {
    yield `${name}: ${parameter.in} parameter ${parameter.name} is new and required`;
  }
}

function* bodyBreaks(name: string, was: Json, is: Json, documents: Documents): Generator<string> {
  if (is?.required && !was?.required) yield `${name}: the body is now required`;
  if (was && !is) yield `${name}: the body is gone`;
  if (was && is)
    yield* contentBreaks(`${name} body`, was.content, is.content, { ...documents, direction: 'request' });
}

interface Context extends Documents {
  /** Requests may accept more than before, responses may return more; neither may do less. */
  direction: 'request' | 'response';
  /** Pairs of schemas already being compared, for recursive schemas. */
  seen?: Set<string>;
}

function* contentBreaks(where: string, was: Json, is: Json, context: Context): Generator<string> {
  for (const [type, { schema }] of Object.entries<Json>(was ?? {})) {
    const now = is?.[type];
    if (!now) yield `${where}: ${type} is gone`;
    else if (schema) yield* schemaBreaks(where, schema, now.schema, context);
  }
}

function* schemaBreaks(where: string, before: Json, after: Json, context: Context): Generator<string> {
  const pair = JSON.stringify([before?.$ref ?? before, after?.$ref ?? after]);
  if (context.seen?.has(pair)) return;
  const inner = { ...context, seen: new Set(context.seen).add(pair) };
  const was = resolved(before, context.accepted);
  const is = resolved(after, context.current);
  yield* typeBreaks(where, was, is, context.direction);
  yield* choiceBreaks(where, was, is, inner);
  if (context.direction === 'request') yield* limitBreaks(where, was, is);
  yield* memberBreaks(where, was, is, inner);
  if (was.items) yield* schemaBreaks(`${where}[]`, was.items, is.items ?? {}, inner);
}

/** Resolves references; `true` and a missing schema allow everything. */
function resolved(schema: Json, document: Json): Json {
  if (typeof schema !== 'object' || schema === null) return {};
  if (!schema.$ref) return schema;
  const steps: string[] = schema.$ref.replace(/^#\//, '').split('/');
  return resolved(
    steps.reduce((value: Json, step) => value?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], document),
    document,
  );
}

function* typeBreaks(where: string, was: Json, is: Json, direction: Context['direction']): Generator<string> {
  const [wider, narrower] = direction === 'request' ? [is, was] : [was, is];
  const allowed = types(wider);
  const given = types(narrower);
  const fits = (type: string) => allowed.includes(type) || (type === 'integer' && allowed.includes('number'));
  if (allowed.length > 0 && (given.length === 0 || !given.every(fits))) {
    yield `${where}: the type was ${types(was).join('|') || 'any'} and is ${types(is).join('|') || 'any'}`;
  }
  if (was.format !== is.format && (direction === 'request' ? is.format : was.format)) {
    yield `${where}: the format was ${was.format ?? 'none'} and is ${is.format ?? 'none'}`;
  }
}

function types(schema: Json): string[] {
  return schema.type === undefined ? [] : [schema.type].flat();
}

/** A response may get new enum values, because clients are told to expect them; a request may not lose any. */
function* choiceBreaks(where: string, was: Json, is: Json, context: Context): Generator<string> {
  if (context.direction === 'request' && values(is)) {
    const gone = (values(was) ?? ['anything']).filter((value: Json) => !values(is)?.includes(value));
    if (gone.length > 0) yield `${where}: no longer takes ${gone.join(', ')}`;
  }
  for (const keyword of ['oneOf', 'anyOf', 'allOf']) {
    if (!was[keyword] && !is[keyword]) continue;
    const [from, to] = context.direction === 'request' ? [was, is] : [is, was];
    const fits = (one: Json) =>
      (to[keyword] ?? []).some((other: Json) => {
        const [before, after] = context.direction === 'request' ? [one, other] : [other, one];
        return schemaBreaks(where, before, after, context).next().done;
      });
    if (!(from[keyword] ?? [{}]).every(fits)) yield `${where}: the choices in ${keyword} changed`;
  }
}

function values(schema: Json): Json[] | undefined {
  return schema.const === undefined ? schema.enum : [schema.const];
}

const upperLimits = ['maxLength', 'maximum', 'exclusiveMaximum', 'maxItems', 'maxProperties'];
const lowerLimits = ['minLength', 'minimum', 'exclusiveMinimum', 'minItems', 'minProperties'];

function* limitBreaks(where: string, was: Json, is: Json): Generator<string> {
  for (const limit of upperLimits) {
    if (is[limit] !== undefined && is[limit] < (was[limit] ?? Infinity))
      yield `${where}: ${limit} is now ${is[limit]}`;
  }
  for (const limit of lowerLimits) {
    const least = limit.includes('imum') ? -Infinity : 0;
    if (is[limit] !== undefined && is[limit] > (was[limit] ?? least))
      yield `${where}: ${limit} is now ${is[limit]}`;
  }
  if (is.pattern !== undefined && is.pattern !== was.pattern)
    yield `${where}: the pattern is now ${is.pattern}`;
  if (is.uniqueItems && !was.uniqueItems) yield `${where}: items must now be unique`;
  if (
    is.additionalProperties === false &&
    was.additionalProperties !== false &&
    types(was).includes('object')
  )
    yield `${where}: unknown members are now refused`;
}

function* memberBreaks(where: string, was: Json, is: Json, context: Context): Generator<string> {
  const required = (schema: Json): string[] => schema.required ?? [];
  for (const [name, member] of Object.entries<Json>(was.properties ?? {})) {
    const now = is.properties?.[name];
    if (now === undefined) yield `${where}: ${name} is gone`;
    else yield* schemaBreaks(`${where}.${name}`, member, now, context);
  }
  if (context.direction === 'request') {
    for (const name of required(is).filter((one) => !required(was).includes(one)))
      yield `${where}: ${name} is now required`;
  } else {
    for (const name of required(was).filter((one) => !required(is).includes(one) && is.properties?.[one]))
      yield `${where}: ${name} is no longer always there`;
  }
  if (typeof was.additionalProperties === 'object')
    yield* schemaBreaks(`${where}.*`, was.additionalProperties, is.additionalProperties, context);
}
