/** A client made from the types of the OpenAPI document, like a third party would make one. */
import createClient from 'openapi-fetch';
import type { paths } from '../../../clients/typescript/src/openapi-types.ts';

export function createTypedClient(baseUrl: string, key: string) {
  return createClient<paths>({ baseUrl, headers: { 'x-api-key': key } });
}
