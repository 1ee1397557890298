/** Compares the retention of vaults, for what moves from one to the other. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

/** Whether the retention of one vault erases files sooner than that of another. */
export async function erasesFilesSooner(
  db: Db,
  { workspaceId, vaultId, thanVaultId }: { workspaceId: string; vaultId: string; thanVaultId: string },
): Promise<boolean> {
  const { rows } = await sql<{ vault_id: string; days: number }>`
    select vault_id, days from retention_rules
    where workspace_id = ${workspaceId} and vault_id in (${vaultId}, ${thanVaultId}) and kind = 'file'`.execute(
    db,
  );
  const daysOf = (id: string) =>
    rows.find(({ vault_id }) => vault_id === id)?.days ?? Number.POSITIVE_INFINITY;
  return daysOf(vaultId) < daysOf(thanVaultId);
}
