/** `holdfast approvals`: the operator's way out of a workspace whose rules ask for a second person that it no longer has. */
import type { Command } from 'commander';
import { readApprovalRules, turnApprovalsOff } from '../access/approvals/approval-rules.ts';
import { findWorkspace, operatorIn } from '../access/workspaces/workspaces.ts';
import { print, withStore } from './command.ts';

export function addApprovalsCommands(program: Command): void {
  const approvals = program
    .command('approvals')
    .description('show for which steps a workspace needs a second person, or turn that off');
  approvals
    .command('rules')
    .description('show for which steps a workspace needs a second person')
    .option('--workspace <workspace>', 'id or slug of the workspace', 'default')
    .option('--json', 'print {eraseContent, transfer, wideKeys, expiresAfterHours}')
    .action((options: { workspace: string; json?: boolean }) =>
      withStore(async ({ store }) => {
        const { db } = store.database;
        const { id } = await findWorkspace(db, options.workspace);
        const rules = await readApprovalRules(db, id);
        const { eraseContent, transfer, wideKeys, expiresAfterHours } = rules;
        const on = [
          ...(eraseContent ? ['erasing content'] : []),
          ...(transfer ? ['transfers'] : []),
          ...(wideKeys ? ['API keys that can do more than read'] : []),
        ];
        const text =
          on.length === 0
            ? `Nothing needs a second person in ${id}.`
            : `A second person is needed in ${id} for ${on.join(', ')}, within ${expiresAfterHours} hours.`;
        print(options, rules, text);
      }),
    );
  approvals
    .command('off')
    .description('turn off all rules of a workspace that ask for a second person; the audit log says so')
    .requiredOption('--workspace <workspace>', 'id or slug of the workspace')
    .option('--json', 'print {turnedOff}')
    .action((options: { workspace: string; json?: boolean }) =>
      withStore(async ({ store }) => {
        const { db } = store.database;
        const { id } = await findWorkspace(db, options.workspace);
        const turnedOff = await turnApprovalsOff(db, operatorIn(id));
        const text =
          turnedOff.length === 0
            ? `Nothing needed a second person in ${id}.`
            : `Nothing needs a second person in ${id} any more (${turnedOff.join(', ')}).`;
        print(options, { turnedOff }, text);
      }),
    );
}
