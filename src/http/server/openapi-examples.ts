/** The examples of an OpenAPI document: one for every JSON body, composed from those of its fields. Pure. */
import { sample } from '../../runtime/schemas.ts';
import { type ErrorExamples, errorExamplesOf, type Refusable, sharedErrors } from './openapi-errors.ts';

/** The parts of a schema that an example is built from. */
interface Schema {
  title?: string;
  type?: string | string[];
  examples?: unknown[];
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  format?: string;
  minimum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
}

interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: ErrorExamples;
}

interface Operation extends Refusable {
  parameters?: { in: string; name: string; required?: boolean; schema?: Schema; example?: unknown }[];
  requestBody?: { content: Record<string, Media> };
  responses?: Record<string, { content?: Record<string, Media> }>;
}

const json = 'application/json';

/** Also removes the examples from the schemas, where they would be duplicates. */
export function withExamples<T extends { paths?: object; components?: object }>(document: T): T {
  const items: Record<string, Operation>[] = Object.values(document.paths ?? {});
  for (const operation of items.flatMap((item) => Object.values(item))) {
    for (const parameter of operation.parameters ?? []) {
      const { schema = {}, required = false } = parameter;
      // Optional parameters get none: clients would fill in every example they find.
      if (required) parameter.example ??= exampleOf(schema);
      else delete parameter.example;
      parameter.schema = withoutExamples(schema);
    }
    const bodies = [operation.requestBody, ...Object.values(operation.responses ?? {})];
    for (const [type, media] of bodies.flatMap((body) => Object.entries(body?.content ?? {}))) {
      if (media.schema && type === json && media.schema.title !== 'Error') {
        media.example = exampleOf(media.schema, media.example);
      }
    }
    for (const [status, { content }] of Object.entries(operation.responses ?? {})) {
      const media = content?.[json];
      if (media?.schema?.title === 'Error') media.examples = errorExamplesOf(operation, status);
    }
    for (const media of bodies.flatMap((body) => Object.values(body?.content ?? {}))) {
      if (media.schema) media.schema = withoutExamples(media.schema);
    }
  }
  return { ...document, components: { ...document.components, examples: sharedErrors } };
}

/** Used when neither an example nor a format is known for a text; a test looks for it. */
export const placeholder = '…';

const formats: Record<string, string> = { 'date-time': sample.at, date: sample.at.slice(0, 10) };

/** `given` is an example of the schema, or a function that makes one; objects in it may lack required members. */
function exampleOf(schema: Schema, given: unknown = schema.examples?.[0]): unknown {
  if (typeof given === 'function') return completed(schema, given());
  if (given !== undefined) return completed(schema, given);
  const types = [schema.type ?? []].flat();
  if (schema.const !== undefined) return schema.const;
  if (types.includes('null') && !schema.properties) return null;
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.anyOf?.[0]) return exampleOf(schema.anyOf[0]);
  switch (types[0]) {
    case 'string':
      return formats[schema.format ?? ''] ?? placeholder;
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    case 'array':
      return schema.items ? [exampleOf(schema.items)] : [];
    default:
      return mapValues(
        pick(schema.properties ?? {}, ({ examples }) => examples?.length !== 0),
        (member) => exampleOf(member),
      );
  }
}

function completed({ items, properties = {}, required = [] }: Schema, given: unknown): unknown {
  if (Array.isArray(given)) return items ? given.map((item) => completed(items, item)) : given;
  if (typeof given !== 'object' || given === null) return given;
  const known = given as Record<string, unknown>;
  const described = Object.entries(properties).filter(([name]) => name in known || required.includes(name));
  const members = described.map(([name, member]) => [name, exampleOf(member, known[name])]);
  return { ...Object.fromEntries(members), ...pick(known, (_, name) => !(name in properties)) };
}

/** A copy, because the original may be used to validate requests. */
function withoutExamples({ examples: _, ...schema }: Schema): Schema {
  const { properties, items, additionalProperties, anyOf } = schema;
  return {
    ...schema,
    ...(properties && { properties: mapValues(properties, withoutExamples) }),
    ...(items && { items: withoutExamples(items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: withoutExamples(additionalProperties),
    }),
    ...(anyOf && { anyOf: anyOf.map(withoutExamples) }),
  };
}

function mapValues<T, R>(object: Record<string, T>, change: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

function pick<T>(
  object: Record<string, T>,
  isWanted: (value: T, name: string) => boolean,
): Record<string, T> {
  return Object.fromEntries(Object.entries(object).filter(([name, value]) => isWanted(value, name)));
}
