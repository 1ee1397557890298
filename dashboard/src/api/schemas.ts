/** What the API answers with, by the names of its document. */
import type { components } from '../../../docs/openapi-types.ts';

export type Schemas = components['schemas'];
