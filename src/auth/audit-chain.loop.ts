/** Chains audit entries by hash, in the order of their ids, after they are committed. */
import type { Db } from '../db/database.ts';
import { type Loop, repeating } from '../loop.ts';
import { chainAuditEntries } from './audit.ts';

export function auditChainLoop(db: Db): Loop {
  return repeating({ name: 'audit-chain', restMs: 1_000, step: () => chainAuditEntries(db) });
}
