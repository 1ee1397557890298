/** Response types of the API, by the names in its document. */
import type { components } from '../../../clients/typescript/src/openapi-types.ts';

export type Schemas = components['schemas'];
