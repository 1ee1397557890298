/** Locks the vault that owns something or will own it, so that it stays active until the commit. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { AppError } from '../../runtime/errors.ts';
import { vaultDeactivated } from './refused-seal.ts';
import type { VaultStatus } from './vaults.store.ts';

export interface OwningVault {
  id: string;
  address: string;
}

/**
 * Locks the vault until the transaction ends, so that nobody can deactivate it meanwhile. A transaction locks only one
 * vault, so no lock order is needed.
 */
export async function holdActiveVault(
  db: Db,
  { workspaceId, address }: { workspaceId: string; address: string },
): Promise<OwningVault> {
  const { rows } = await sql<OwningVault & { status: VaultStatus }>`
    select id, address, status from vaults
    where workspace_id = ${workspaceId} and lower(address) = ${address.toLowerCase()} for share`.execute(db);
  const [vault] = rows;
  if (!vault) throw new AppError('resource_not_found', `There is no vault ${address}.`);
  if (vault.status !== 'active') throw vaultDeactivated(vault.address);
  return vault;
}

/** Active or not; nobody else changes its settings until the transaction ends. */
export async function holdVault(
  db: Db,
  { workspaceId, address }: { workspaceId: string; address: string },
): Promise<OwningVault> {
  const { rows } = await sql<OwningVault>`
    select id, address from vaults
    where workspace_id = ${workspaceId} and lower(address) = ${address.toLowerCase()} for no key update`.execute(
    db,
  );
  const [vault] = rows;
  if (!vault) throw new AppError('resource_not_found', `There is no vault ${address}.`);
  return vault;
}
