/** `holdfast rotate-master-key`: replaces the master key while the service runs. */
import type { Command } from 'commander';
import { auditWrite } from '../access/audit/audit.ts';
import { findWorkspace, operatorIn } from '../access/workspaces/workspaces.ts';
import type { Db } from '../db/database.ts';
import { insertAll } from '../db/writes.ts';
import { refreshMs } from '../keys/keyring.loop.ts';
import { rotateMasterKey } from '../keys/rotation.ts';
import { print, withStore } from './command.ts';

export function addRotateMasterKeyCommand(program: Command): void {
  program
    .command('rotate-master-key')
    .description('create a new master key and rewrap every secret with it; services can keep running')
    .option('--json', 'print {version, rewrapped}')
    .action((options: { json?: boolean }) =>
      withStore(async ({ config, store }) => {
        const { version, rewrapped, retiredFile } = await rotateMasterKey({
          db: store.database.db,
          source: config.masterKey,
          noticeMs: 3 * refreshMs,
          onProgress({ done, total }) {
            if (!options.json) process.stderr.write(`\r${done} of ${total} secrets rewrapped`);
          },
        });
        await noteRotation(store.database.db, version, rewrapped);
        if (!options.json && rewrapped > 0) process.stderr.write('\n');
        const retired =
          retiredFile === null
            ? 'Remove the old version from HOLDFAST_MASTER_KEY at the next restart.'
            : `Backups made before today need the old key, which is now in ${retiredFile}.`;
        print(
          options,
          { version, rewrapped },
          `Master key version ${version} is in use; ${rewrapped} secrets were rewrapped with it. ${retired}`,
        );
      }),
    );
}

/** The master key belongs to no workspace; its rotation is recorded in the default one. */
async function noteRotation(db: Db, version: number, rewrapped: number): Promise<void> {
  const { id } = await findWorkspace(db);
  const change = {
    action: 'master_key.rotate',
    targetId: `master-key-${version}`,
    details: { rewrapped },
  } as const;
  await insertAll(db, [auditWrite(operatorIn(id), change)]);
}
