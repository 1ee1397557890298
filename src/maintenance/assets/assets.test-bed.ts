/** Assets in a database of their own, as the service makes them, and a chain that confirms what it is told to. */
import type { AnchoredLeaf } from '../../anchoring/announcer.ts';
import type { Database } from '../../db/database.ts';
import { createGroupCommit, insertAll } from '../../db/writes.ts';
import type { Vault } from '../../holdings/vaults/vaults.store.ts';
import { transferKind } from '../../proof/history.ts';
import type { Caller } from '../../runtime/caller.ts';
import { createAssetViewers } from '../viewers/asset-viewers.ts';
import { createAssetInstalls } from './asset-installs.ts';
import { confirmAssetTransfers } from './asset-transfer-confirmation.ts';
import { createAssetTransfers } from './asset-transfers.ts';
import { createAssets } from './assets.ts';

export const workspaceId = 'ws_1';
export const caller: Caller = {
  workspaceId,
  actor: { kind: 'api_key', id: 'key_1' },
  scopes: [],
  requestId: null,
};
export const vaultAddresses = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`);

export async function openAssetBed(database: Database) {
  const { db, pool } = database;
  await pool.query("insert into workspaces (id, name, slug) values ('ws_1', 'a', 'a')");
  const vaults = new Map<string, Vault>();
  for (const [place, address] of vaultAddresses.entries()) {
    const id = `vlt_${place + 1}`;
    await pool.query('insert into vaults (workspace_id, id, name, address) values ($1, $2, $2, $3)', [
      workspaceId,
      id,
      address,
    ]);
    const at = new Date();
    vaults.set(address, {
      id,
      name: id,
      description: '',
      address,
      status: 'active',
      createdAt: at,
      updatedAt: at,
    });
  }
  const findVault = { get: async (_: string, address: string) => vaults.get(address) as Vault };
  const noChain = () => Promise.reject(new Error('no chain'));
  const proofs = { make: noChain };
  const historyProofs = { page: noChain };
  return {
    assets: createAssets({ db, commit: createGroupCommit(pool), vaults: findVault, proofs, historyProofs }),
    transfers: createAssetTransfers(db),
    installs: createAssetInstalls(db),
    viewers: createAssetViewers(db),
    /** As the announcer does: what follows from the confirmation, in one commit. */
    confirm: (...leaves: AnchoredLeaf[]) =>
      db.transaction().execute(async (db) => insertAll(db, await confirmAssetTransfers(db, leaves))),
  };
}

export function transferLeaf(subjectId: string, version: number, blockNumber = 7): AnchoredLeaf {
  return {
    workspaceId,
    kind: transferKind,
    subjectId,
    version,
    vaultId: 'vlt_1',
    claims: null,
    transactionHash: '0xab',
    blockNumber,
    anchoredAt: new Date('2026-11-15T08:00:00Z'),
  };
}
