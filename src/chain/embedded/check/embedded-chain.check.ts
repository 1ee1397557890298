/**
 * Checks that what is stored about the embedded chain's blocks follows from its journal, and that its state is complete.
 * Needs only the database; without an embedded chain there is nothing to check.
 */
import type { Db } from '../../../db/database.ts';
import type { Check } from '../../../runtime/check.ts';
import { blocksPass } from './blocks-pass.ts';
import { statePass } from './state-pass.ts';
import { transactionsPass } from './transactions-pass.ts';

export function embeddedChainCheck(db: Db): Check {
  return { name: 'embedded-chain', passes: [blocksPass(db), transactionsPass(db), statePass(db)] };
}
