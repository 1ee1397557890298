/** Deactivates and reactivates vaults; changes asked for at the same time share a commit. */
import { sql } from 'kysely';
import { auditWrite } from '../auth/audit.ts';
import type { Caller } from '../caller.ts';
import type { Db } from '../db/database.ts';
import { isStatementFault } from '../db/faults.ts';
import { gather } from '../db/gather.ts';
import { insertAll, type Write } from '../db/writes.ts';
import { AppError } from '../errors.ts';
import { eventWrite } from '../webhooks/events.ts';
import { keyOf, lockVaults, type Vault, type VaultStatus } from './vaults.store.ts';

export interface StatusChange {
  caller: Caller;
  address: string;
  status: VaultStatus;
}

/**
 * The vault as it is then, or null when there is none. What has the status already is left as it is, and a vault that
 * something is on its way to is not deactivated: it would arrive all the same, where nothing new is taken.
 */
export function createStatusChanger(db: Db): (change: StatusChange) => Promise<Vault | AppError | null> {
  return gather<StatusChange, Vault | AppError | null>({
    maxInFlight: 1,
    maxItems: 200,
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
        const arriving = await findArriving(
          db,
          keyed.flatMap(({ key, status }) => {
            const id = status === 'inactive' ? vaults.get(keyOf(key))?.id : undefined;
            return id === undefined ? [] : [{ workspaceId: key.workspaceId, id }];
          }),
        );
        const changed = new Map<string, { workspace_id: string; id: string; status: string; at: Date }>();
        const writes: Write[] = [];
        const results = keyed.map(({ caller, key, status }) => {
          const vault = vaults.get(keyOf(key));
          if (!vault || vault.status === status) return vault ?? null;
          const transfer = arriving.get(vault.id);
          if (status === 'inactive' && transfer !== undefined) return awaits(vault, transfer);
          const at = new Date();
          const now = { ...vault, status, updatedAt: at };
          // One that comes twice in a group is changed twice, in order.
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

/** For each vault a transfer that is on its way to it. */
async function findArriving(
  db: Db,
  vaults: { workspaceId: string; id: string }[],
): Promise<Map<string, string>> {
  if (vaults.length === 0) return new Map();
  const { rows } = await sql<{ vault_id: string; id: string }>`
    select v.id as vault_id, t.id
    from unnest(${vaults.map(({ workspaceId }) => workspaceId)}::text[], ${vaults.map(({ id }) => id)}::text[])
      as v (workspace_id, id)
    cross join lateral (
      (select id from file_transfers
       where workspace_id = v.workspace_id and to_vault_id = v.id and completed_at is null limit 1)
      union all
      (select id from asset_transfers
       where workspace_id = v.workspace_id and to_vault_id = v.id and completed_at is null limit 1)
      limit 1
    ) as t`.execute(db);
  return new Map(rows.map((row) => [row.vault_id, row.id]));
}

function awaits({ address }: Vault, transferId: string): AppError {
  return new AppError(
    'conflict',
    `The transfer ${transferId} is on its way to the vault ${address}. Deactivate the vault once it is confirmed.`,
  );
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
