/** SQL that names every scope in the keys that had all: so they may also sign on behalf of workers. */
import { scopes } from '../../../src/runtime/caller.ts';

export const nameEveryScope = `
  update api_keys set scopes = array[${scopes.map((scope) => `'${scope}'`).join(', ')}] where cardinality(scopes) = 0`;
