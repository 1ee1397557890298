/** Makes the daily leaf of each audit log's head when it is due. */
import type { Db } from '../../db/database.ts';
import { type Loop, repeating } from '../../runtime/loop.ts';
import { anchorAuditHeads } from './audit-anchors.ts';

const lookEveryMs = 10 * 60 * 1000;

export function auditAnchorsLoop(db: Db): Loop {
  return repeating({ name: 'audit-anchors', restMs: lookEveryMs, step: () => anchorAuditHeads(db) });
}
