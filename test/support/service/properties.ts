/** fast-check with the seed of the run, so that a failure can be reproduced. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { seed } from './seed.ts';

fc.configureGlobal({ seed: createHash('sha256').update(seed).digest().readInt32BE() });

export { fc };

/**
 * Any character: like `unit: 'binary'`, for which fast-check would build a table of a million characters at its first
 * use.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));
