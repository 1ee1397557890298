/** An OpenAPI document with every named schema inlined where it is used, for tests that walk schemas. */

// biome-ignore lint/suspicious/noExplicitAny: documents are plain JSON and are walked as such
type Json = any;

/** The same name gives the same object, so that a schema compiler compiles it once. */
export function withoutReferences(document: Json): Json {
  const found = new Map<string, Json>();
  const written = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(written);
    if (typeof value !== 'object' || value === null) return value;
    const name = /^#\/components\/schemas\/(\w+)$/.exec(value.$ref)?.[1];
    if (name === undefined) {
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, written(member)]));
    }
    const schema = found.get(name) ?? written(document.components.schemas[name]);
    found.set(name, schema);
    return schema;
  };
  return { ...document, paths: written(document.paths) };
}
