/** An asset with an owner, workers and viewers, and short ways to work on it, for tests of maintenance. */
import assert from 'node:assert/strict';
import type { Answer, CallOptions, Service } from './service.ts';

export interface StageVault {
  id: string;
  address: string;
}

export interface MaintenanceStage {
  vault: StageVault;
  assetId: string;
  /** Assigned to the asset, without a licence. */
  worker: string;
  sql: Service['sql'];
  /** Path below the asset. */
  url(path?: string): string;
  /** Path of a look by the owner, or by another viewer. */
  view(path: string, viewer?: string): string;
  newVault(): Promise<StageVault>;
  newAsset(options?: { vault?: StageVault; workers?: string[]; assetId?: string }): Promise<string>;
  /** Assigned to the asset unless told otherwise. */
  newWorker(options?: {
    name?: string;
    address?: string;
    licences?: object[];
    assign?: boolean;
  }): Promise<string>;
  assign(assetId: string, worker: string): Promise<void>;
  grant(viewer: string, until: Date | null): Promise<void>;
  post(body?: object, options?: CallOptions & { assetId?: string }): Promise<Answer>;
  /** Refuses to be refused. */
  made(body?: object, assetId?: string): Promise<{ maintenanceId: string; maintenanceHash: string }>;
  signOff(maintenanceId: string, body: object, options?: CallOptions): Promise<Answer>;
}

const vaults = '/api-v1/platform/vaults';
const workers = '/api-v1/damc/workers/';
let assets = 0;

export async function openMaintenanceStage(service: Service): Promise<MaintenanceStage> {
  const { sql } = service;

  async function made(path: string, body: object) {
    const answer = await service.call('POST', path, { body });
    assert.ok(answer.status < 300, answer.text);
    return answer.json;
  }

  const newVault = async () => (await made(vaults, { name: 'Line maintenance' })) as StageVault;
  const vault = await newVault();

  async function assign(assetId: string, worker: string): Promise<void> {
    await sql(
      `insert into asset_workers (workspace_id, asset_id, address, worker_id)
       select workspace_id, $1, lower(address), id from workers where address = $2`,
      [assetId, worker],
    );
  }

  async function newAsset({
    vault: owner = vault,
    workers = [],
    assetId = `pump ${++assets}`,
  }: Parameters<MaintenanceStage['newAsset']>[0] = {}): Promise<string> {
    await sql(
      `insert into assets (workspace_id, asset_id, vault_id, name, last_leaf)
       select workspace_id, $1, id, 'Hydraulic pump', '\\x${'00'.repeat(32)}' from vaults where id = $2`,
      [assetId, owner.id],
    );
    for (const worker of workers) await assign(assetId, worker);
    return assetId;
  }

  const { address: worker } = await made(workers, { name: 'Mia Berg' });
  const assetId = await newAsset({ workers: [worker] });
  const pathOf = (asset: string, path: string) =>
    `/api-v1/damc/assets/${encodeURIComponent(asset)}/maintenances/${path}`;

  const stage: MaintenanceStage = {
    vault,
    assetId,
    worker,
    sql,
    newVault,
    newAsset,
    assign,
    url: (path = '') => pathOf(assetId, path),
    view: (path, viewer = vault.address) =>
      `${pathOf(assetId, path)}${path.includes('?') ? '&' : '?'}viewerAddress=${viewer}`,
    async newWorker({ name = 'A worker', address, licences, assign: assigned = true } = {}) {
      const made = await service.call('POST', workers, { body: { name, ...(address && { address }) } });
      assert.equal(made.status, 201, made.text);
      if (licences) {
        const answer = await service.call('PATCH', `${workers}${made.json.address}/`, { body: { licences } });
        assert.equal(answer.status, 200, answer.text);
      }
      if (assigned) await assign(assetId, made.json.address);
      return made.json.address;
    },
    async grant(viewer, until) {
      await sql(
        `insert into asset_viewers (workspace_id, asset_id, address, until)
         select workspace_id, asset_id, $2, $3 from assets where asset_id = $1`,
        [assetId, viewer.toLowerCase(), until],
      );
    },
    post: (body = {}, { assetId: asset = assetId, ...options } = {}) =>
      service.call('POST', pathOf(asset, ''), {
        body: {
          workerAddress: worker,
          type: 'repair',
          summary: 'Seal replaced',
          performedAt: '2026-01-15T09:30:00Z',
          ...body,
        },
        ...options,
      }),
    async made(body = {}, asset = assetId) {
      const answer = await stage.post(body, { assetId: asset });
      assert.equal(answer.status, 202, answer.text);
      return answer.json;
    },
    signOff: (maintenanceId, body, options = {}) =>
      service.call('POST', pathOf(assetId, `${maintenanceId}/signoffs/`), { body, ...options }),
  };
  return stage;
}

/** A licence without end, or one that ended. */
export function licence(scope: string, number: string, expiresAt: string | null = null): object {
  return { scope, number, authority: 'EASA', expiresAt };
}
