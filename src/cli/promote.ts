/** `holdfast promote`: says that a replica of the database was promoted, so that nothing gets a number that is used. */
import type { Command } from 'commander';
import { auditWrite } from '../access/audit/audit.ts';
import { findWorkspace, operatorIn } from '../access/workspaces/workspaces.ts';
import { moveAhead } from '../app/lost-commits.ts';
import type { Db } from '../db/database.ts';
import { insertAll } from '../db/writes.ts';
import { print, withStore } from './command.ts';

export function addPromoteCommand(program: Command): void {
  program
    .command('promote')
    .description('say that a replica of the database was promoted, or its disk set back to a snapshot')
    .option('--json', 'print {sealEpoch}')
    .addHelpText(
      'after',
      `
Seals and events of the old database may be missing in this one. A new epoch of seal numbers begins, so that no vault
uses a number twice, and the event feed goes on behind all positions that readers may have seen. Run it on the promoted database, if possible before a service connects to it; services that run
use the new epoch from their next batch on. It can be repeated, and does no harm if nothing was lost.
"holdfast restore" does the same by itself.`,
    )
    .action((options: { json?: boolean }) =>
      withStore(async ({ store }) => {
        const sealEpoch = await store.database.db.transaction().execute(promote);
        print(
          options,
          { sealEpoch },
          `Epoch ${sealEpoch} of seal numbers has begun: no vault uses a number that it used before. The event feed was moved ahead: readers go on where they are.`,
        );
      }),
    );
}

/** Seals belong to all workspaces; the promotion is recorded in the default one. */
async function promote(db: Db): Promise<number> {
  const sealEpoch = await moveAhead(db);
  const { id } = await findWorkspace(db);
  const change = {
    action: 'database.promote',
    targetId: `seal-epoch-${sealEpoch}`,
    details: { sealEpoch },
  } as const;
  await insertAll(db, [auditWrite(operatorIn(id), change)]);
  return sealEpoch;
}
