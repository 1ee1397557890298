/** Every generated file of the clients, as it should be. */
import { typesOf } from './openapi-types.ts';
import type { OpenApiDocument } from './operations.ts';
import { pythonErrors, pythonEvents, pythonOperations } from './python.ts';
import { typescriptErrors, typescriptEvents, typescriptOperations } from './typescript.ts';

/** Paths are from the root of the repository. */
export async function clientFiles(document: object): Promise<Record<string, string>> {
  const read = document as OpenApiDocument;
  const python = pythonOperations(read);
  return {
    'clients/typescript/src/openapi-types.ts': await typesOf(document),
    'clients/typescript/src/operations.ts': typescriptOperations(read),
    'clients/typescript/src/error-classes.ts': typescriptErrors(read),
    'clients/typescript/src/event-types.ts': typescriptEvents(read),
    'clients/python/holdfast_client/schemas.py': python.schemas,
    'clients/python/holdfast_client/operations.py': python.operations,
    'clients/python/holdfast_client/error_classes.py': pythonErrors(read),
    'clients/python/holdfast_client/event_types.py': pythonEvents(read),
  };
}
