/** fast-check with the seed of the run, so that a failure can be had again. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { seed } from './seed.ts';

fc.configureGlobal({ seed: createHash('sha256').update(seed).digest().readInt32BE() });

export { fc };
