/** The arguments with which a generated client calls an operation, for tests that walk every one of them. */
import { type Operation, type PathValues, smallestRequest } from './openapi-operations.ts';

/** Path, query and body of the smallest request together, as the clients take them. */
export function smallestArguments(operation: Operation, values: PathValues): Record<string, unknown> {
  const [, path, { body }] = smallestRequest(operation, values);
  const search = new URL(path, 'http://service').searchParams;
  const inPath = Array.from(operation.path.matchAll(/\{(\w+)\}/g), ([, name = '']) => [name, values[name]]);
  return { ...Object.fromEntries(inPath), ...Object.fromEntries(search), ...(body as object) };
}
