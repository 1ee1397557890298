/** Moves named schemas to the components of an OpenAPI document, and replaces their uses by references. */
import { isDeepStrictEqual } from 'node:util';

type Json = Record<string, unknown>;

/** A schema is named by its title. */
export function withComponents<T extends { paths?: object; webhooks?: object; components?: object }>(
  document: T,
): T {
  const schemas: Record<string, unknown> = {};
  const [paths, webhooks] = [document.paths, document.webhooks].map((part) => replaced(part, schemas));
  const sorted = Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { ...document, paths, webhooks, components: { ...document.components, schemas: sorted } };
}

function replaced(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const copy: Json = Object.fromEntries(
    // The content of an example is not a schema, whatever it looks like.
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'example' && 'schema' in value ? member : replaced(member, schemas),
    ]),
  );
  if (!isNamed(copy)) return copy;
  const { title, ...schema } = copy;
  if (title in schemas && !isDeepStrictEqual(schemas[title], schema)) {
    throw new Error(`Two schemas are named ${title}.`);
  }
  schemas[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
}

/** A property may also be called title; its value is a schema, not a text. */
function isNamed(value: Json): value is Json & { title: string } {
  return typeof value.title === 'string' && typeof value.type === 'string';
}
