/** Deactivates and reactivates vaults; concurrent changes share a commit. */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { gatherWrites } from '../../db/fault-lanes.ts';
import { isStatementFault } from '../../db/faults.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import type { Caller } from '../../runtime/caller.ts';
import { keyOf, lockVaults, type Vault, type VaultStatus } from './vaults.store.ts';

export interface StatusChange {
  caller: Caller;
  address: string;
  status: VaultStatus;
}

/**
 * Returns the vault after the change, or null when it does not exist. A vault that already has the status is not changed. A
 * transfer that was accepted before still completes: nobody can prevent the deactivation of a vault by sending it something.
 */
export function createStatusChanger(db: Db): (change: StatusChange) => Promise<Vault | null> {
  return gatherWrites<StatusChange, Vault | null>({
    maxInFlight: 1,
    maxItems: 200,
    workspaceOf: ({ caller }) => caller.workspaceId,
    isItemFault: isStatementFault,
    run: (changes) =>
      db.transaction().execute(async (db) => {
        const keyed = changes.map((change) => ({
          ...change,
          key: { workspaceId: change.caller.workspaceId, address: change.address },
        }));
        const vaults = await lockVaults(
          db,
          keyed.map(({ key }) => key),
        );
        const changed = new Map<string, { workspace_id: string; id: string; status: string; at: Date }>();
        const writes: Write[] = [];
        const results = keyed.map(({ caller, key, status }) => {
          const vault = vaults.get(keyOf(key));
          if (!vault || vault.status === status) return vault ?? null;
          const at = new Date();
          const now = { ...vault, status, updatedAt: at };
          // A vault that occurs twice in a group is changed twice, in order.
          vaults.set(keyOf(key), now);
          changed.set(vault.id, { workspace_id: key.workspaceId, id: vault.id, status, at });
          const verb = status === 'active' ? 'reactivate' : 'deactivate';
          writes.push(
            statusEvent(key.workspaceId, now),
            auditWrite(caller, { action: `vault.${verb}`, targetId: vault.id }),
          );
          return now;
        });
        if (changed.size > 0) {
          await sql`
            update vaults v set status = c.status, updated_at = c.at
            from json_to_recordset(${JSON.stringify([...changed.values()])})
              as c (workspace_id text, id text, status text, at timestamptz)
            where v.workspace_id = c.workspace_id and v.id = c.id`.execute(db);
          await insertAll(db, writes);
        }
        return results;
      }),
  });
}

function statusEvent(workspaceId: string, { id, address, status, updatedAt: at }: Vault): Write {
  const subject = { vault_id: id, address };
  return status === 'active'
    ? eventWrite({
        workspaceId,
        type: 'vault.reactivated',
        at,
        data: { ...subject, reactivated_at: at.toISOString() },
      })
    : eventWrite({
        workspaceId,
        type: 'vault.deactivated',
        at,
        data: { ...subject, deactivated_at: at.toISOString() },
      });
}
