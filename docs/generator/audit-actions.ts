/** The table of the actions of the audit log. */
import { auditActions } from '../../src/access/audit/actions.ts';
import { table } from './markdown.ts';

export function auditActionsTable(): string {
  return table(
    ['action', 'details'],
    Object.entries(auditActions).map(([action, details]) => [`\`${action}\``, details]),
  );
}
