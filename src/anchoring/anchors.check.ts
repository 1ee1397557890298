/** Checks everything that is anchored: leaves, the batches built from them, and the batches' roots on the chain. */
import type { AsOf } from '../db/rows-pass.ts';
import type { Check } from '../runtime/check.ts';
import { batchesPass } from './batching/batches.check.ts';
import { leavesPass } from './batching/leaves.check.ts';
import { type RootsPassDeps, rootsPass } from './roots.check.ts';

export function anchorsCheck(deps: RootsPassDeps & { asOf?: AsOf }): Check {
  return { name: 'anchors', passes: [leavesPass(deps.db), batchesPass(deps.db, deps.asOf), rootsPass(deps)] };
}
