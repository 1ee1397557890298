/** Checks everything that is anchored: leaves, the batches built from them, and the batches' roots on the chain. */
import type { Check } from '../runtime/check.ts';
import { type AnchoredPassDeps, anchoredPass } from './anchored.check.ts';
import { batchesPass } from './batching/batches.check.ts';
import { leavesPass } from './batching/leaves.check.ts';

export function anchorsCheck(deps: AnchoredPassDeps): Check {
  return { name: 'anchors', passes: [leavesPass(deps.db), batchesPass(deps.db), anchoredPass(deps)] };
}
