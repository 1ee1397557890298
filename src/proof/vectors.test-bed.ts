/** Reads the frozen proofs of test/vectors. Nothing writes them: what they say must verify for ever. */
import { readFileSync } from 'node:fs';
import type { Hex } from 'viem';
import type { Registry } from './chain-reader.ts';
import type { ChainFacts } from './proof.test-bed.ts';
import type { Proof } from './proof.ts';

export const vectorNames = [
  'file-raw',
  'record-jcs',
  'file-hmac',
  'second-vault',
  'second-version',
  'single-leaf',
] as const;

export interface Vector {
  about: string;
  /** UTF-8. */
  content: string;
  leaf: Hex;
  sealDigest: Hex;
  registry: Registry;
  chain: ChainFacts;
  proof: Proof;
}

/** Each call gives a copy of its own. */
export function readVector(name: string): Vector {
  return JSON.parse(readFileSync(new URL(`../../test/vectors/${name}.json`, import.meta.url), 'utf8'));
}
