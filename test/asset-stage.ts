/** What the tests of assets start from: vaults, workers and assets over HTTP, and a look into the database. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { QueryResult } from 'pg';
import { checksummed } from '../src/runtime/address.ts';
import type { ErrorCode } from '../src/runtime/errors.ts';
import { withClient } from './database.ts';
import { assertError } from './openapi-answers.ts';
import type { Answer, CallOptions, Service } from './service.ts';

const assets = '/api-v1/damc/assets/';
const vaults = '/api-v1/platform/vaults';

export interface MadeVault {
  id: string;
  address: string;
}

export interface AssetStage {
  newVault(): Promise<MadeVault>;
  setStatus(vault: MadeVault, status: 'deactivate' | 'reactivate'): Promise<void>;
  /** The address of a new worker. */
  newWorker(): Promise<string>;
  /** The id of a new asset, of a new vault unless one is given. */
  newAsset(more?: object): Promise<string>;
  /** `path` is below the asset. */
  call(method: string, assetId: string, path?: string, options?: CallOptions): Promise<Answer>;
  /** Expects the error, and that nothing was stored. */
  refused(request: () => Promise<Answer>, code: ErrorCode, message: RegExp): Promise<void>;
  sql(text: string, values?: unknown[]): Promise<QueryResult>;
}

export const randomAddress = () => checksummed(`0x${randomBytes(20).toString('hex')}`);

/** So many milliseconds from now, or before it. */
export const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString();

export function pathOf(assetId: string, path = ''): string {
  return `${assets}${encodeURIComponent(assetId)}/${path}`;
}

export function openAssetStage(service: Service): AssetStage {
  const sql = (text: string, values: unknown[] = []) =>
    withClient({ connectionString: service.databaseUrl }, (client) => client.query(text, values));

  async function make(path: string, body: object) {
    const answer = await service.call('POST', path, { body });
    assert.ok(answer.status < 300, answer.text);
    return answer.json;
  }

  /** Rows of everything that a refused request could leave behind. */
  async function stored(): Promise<object> {
    const { rows } = await sql(`
      select (select md5(coalesce(string_agg(a::text, '' order by a::text), '')) from assets a) as assets,
        (select md5(coalesce(string_agg(i::text, '' order by i::text), '')) from asset_installations i) as installations,
        (select md5(coalesce(string_agg(v::text, '' order by v::text), '')) from asset_viewers v) as viewers,
        (select md5(coalesce(string_agg(n::text, '' order by n::text), '')) from asset_intervals n) as intervals,
        (select count(*) from asset_versions) as versions, (select count(*) from asset_workers) as workers,
        (select count(*) from asset_transfers) as transfers, (select count(*) from anchor_leaves) as leaves,
        (select count(*) from audit_entries) as audited, (select count(*) from idempotent_answers) as answers`);
    return rows[0];
  }

  const stage: AssetStage = {
    sql,
    newVault: () => make(vaults, { name: 'Fleet' }),
    async setStatus({ address }, status) {
      const { status: code } = await service.call('PATCH', `${vaults}/${address}/${status}`);
      assert.equal(code, 200);
    },
    newWorker: async () => (await make('/api-v1/damc/workers/', { name: 'Ada' })).address,
    async newAsset(more = {}) {
      const vaultAddress = 'vaultAddress' in more ? undefined : (await stage.newVault()).address;
      const body = { vaultAddress, name: 'Pump', assetId: `Pump ${randomUUID()}`, ...more };
      return (await make(assets, body)).assetId;
    },
    call: (method, assetId, path, options) => service.call(method, pathOf(assetId, path), options),
    async refused(request, code, message) {
      const before = await stored();
      assertError(await request(), code, message);
      assert.deepEqual(await stored(), before);
    },
  };
  return stage;
}
