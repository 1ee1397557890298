/** Chains audit entries by hash, in the order of their ids, after they are committed. */
import type { Db } from '../../db/database.ts';
import { type Changes, type Loop, repeating } from '../../runtime/loop.ts';
import { chainAuditEntries } from './audit-chain.ts';

export function auditChainLoop(db: Db, changes: Changes): Loop {
  return repeating({
    name: 'audit-chain',
    restMs: 1_000,
    changes,
    step: () => chainAuditEntries(db),
  });
}
