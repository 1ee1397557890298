/** The part of an actor that keeps assets: puts work on record, and has it signed. */
import type { AssetEntry, MaintenanceRecord, Thing } from './journal.ts';
import { isActive } from './record-load.ts';
import type { MakerDeps } from './thing-load.ts';

export interface MaintenanceMaker {
  /** The vault is active. */
  createAsset(vault: Thing, worker: Thing): Promise<void>;
  /** Does nothing where there is no asset of an active vault. */
  recordWork(): Promise<void>;
  /** Does nothing where nothing is left to sign. */
  sign(): Promise<void>;
}

const path = '/damc/assets/';

export function createMaintenanceMaker({ asking, journal, random, newName }: MakerDeps): MaintenanceMaker {
  const own: AssetEntry[] = [];

  function post(asset: AssetEntry, below: string, { body, key }: { body: object; key: string }) {
    const call = { method: 'POST', path: path + below, body, headers: { 'idempotency-key': key } };
    return asking.expectYes(call, () => {
      asset.lost += 1;
    });
  }

  return {
    async createAsset(vault, worker) {
      const name = newName('asset');
      const asset: AssetEntry = { name, vault, worker, lost: 0, acknowledged: false, entries: [] };
      journal.assets.push(asset);
      const body = { vaultAddress: vault.address, name, assetId: name };
      await post(asset, '', { body, key: name });
      await post(asset, `${name}/workers/`, { body: { workers: [worker.address] }, key: `${name}-workers` });
      asset.acknowledged = true;
      own.push(asset);
    },

    async recordWork() {
      const open = own.filter(({ vault }) => isActive(vault));
      if (open.length === 0) return;
      const asset = random.pick(open);
      const summary = newName('work');
      const entry: MaintenanceRecord = { summary, id: '', signed: false };
      asset.entries.push(entry);
      const body = {
        workerAddress: asset.worker.address,
        type: 'inspection',
        summary,
        performedAt: '2026-01-15T09:30:00Z',
        data: { found: random.between(0, 1e6) },
      };
      const { json } = await post(asset, `${asset.name}/maintenances/`, { body, key: summary });
      entry.id = json?.maintenanceId ?? '';
    },

    async sign() {
      const open = own
        .filter(({ vault }) => isActive(vault))
        .flatMap((asset) => asset.entries.filter(({ signed }) => !signed).map((entry) => ({ asset, entry })));
      if (open.length === 0) return;
      const { asset, entry } = random.pick(open);
      entry.signed = true;
      const body = { workerAddress: asset.worker.address, role: 'performed' };
      const key = `${entry.summary}-performed`;
      await post(asset, `${asset.name}/maintenances/${entry.id}/signoffs/`, { body, key });
    },
  };
}
