/** Has the head of each audit log anchored when its day has come. */
import type { Db } from '../../db/database.ts';
import { type Loop, repeating } from '../../runtime/loop.ts';
import { anchorAuditHeads } from './audit-anchors.ts';

const lookEveryMs = 10 * 60 * 1000;

export function auditAnchorsLoop(db: Db): Loop {
  return repeating({ name: 'audit-anchors', restMs: lookEveryMs, step: () => anchorAuditHeads(db) });
}
