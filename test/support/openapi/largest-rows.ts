/**
 * Fills every list of the API with the largest rows that it accepts: one of each by a request, the others as copies of
 * it.
 */
import assert from 'node:assert/strict';
import { mostPasskeys } from '../../../src/access/passkeys/passkeys.ts';
import { mostPeople } from '../../../src/access/people/invitations.ts';
import { mostWorkspaces } from '../../../src/access/workspaces/workspaces.ts';
import { maxIntervals } from '../../../src/maintenance/intervals/asset-intervals.ts';
import { assetFields } from '../../../src/maintenance/published-pages/choices.ts';
import { mostPages } from '../../../src/maintenance/published-pages/published-pages.ts';
import { mostSignoffs } from '../../../src/maintenance/signoffs/signoffs.ts';
import { onBehalf, scopes } from '../../../src/runtime/caller.ts';
import { mostAttempts } from '../../../src/webhooks/deliveries/attempts.ts';
import { portalLinkLimits } from '../../../src/webhooks/portal/portal-links.ts';
import { confirmLeaves } from '../chain/anchored-rows.ts';
import { becomeOwner, type Visitor } from '../clients/browser-session.ts';
import { type MaintenanceFixture, openMaintenanceFixture } from '../fixtures/maintenance-fixture.ts';
import { placeAll } from '../fixtures/placed-events.ts';
import type { Service } from '../service/service.ts';
import { someTarget } from './openapi-operations.ts';
import { tokenOf } from './openapi-things.ts';

/** More than the largest page. */
export const many = 1_050;
/** For rows so large that this many do not fit into a page. */
export const some = 70;

/** Each character takes four bytes in UTF-8. */
export const wide = (length: number) => '\u{1F529}'.repeat(length);

export interface LargestRows {
  fixture: MaintenanceFixture;
  owner: Visitor;
  /** The asset with the maximum of everything. */
  assetId: string;
  fileId: string;
  recordId: string;
  /** With the maximum number of attempts and sign-offs. */
  deliveryId: string;
  maintenanceId: string;
  endpointId: string;
  /** Of a portal link of this endpoint. */
  token: string;
}

export const ownerAccount = { name: 'Ada', email: 'ada@example.com', password: 'the tide waits for nobody' };
const platform = '/api-v1/platform';
const damc = '/api-v1/damc';
const text = (prefix: string) => `'${prefix}' || lpad(n::text, 26, '0')`;
const address = `'0x' || lpad(to_hex(n), 40, '0')`;
const hash = `'\\x' || lpad(to_hex(n), 64, '0')`;

export async function fillLists(service: Service): Promise<LargestRows> {
  const fixture = await openMaintenanceFixture(service);
  const vaultAddress = fixture.vault.address;

  async function send(method: string, path: string, body: object) {
    const answer = await service.call(method, path, { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text.slice(0, 300)}`);
    return answer.json;
  }

  /** Copies the rows that match the condition; `changes` are SQL, in which n counts from 1. */
  async function copy(
    table: string,
    where: string,
    { count = many, ...changes }: Record<string, string | number>,
  ): Promise<void> {
    const members = Object.entries(changes).flatMap(([column, value]) => [`'${column}'`, value]);
    await service.sql(
      `insert into ${table} overriding system value
       select copied.* from (select one as row from ${table} as one where ${where}) as original
       cross join generate_series(1, ${count}) as n
       cross join lateral jsonb_populate_record(original.row, jsonb_build_object(${members.join(', ')})) as copied`,
    );
  }

  async function fillAssets(): Promise<{ assetId: string; maintenanceId: string }> {
    const asset = { vaultAddress, name: wide(200), serialNumber: wide(255), partNumber: wide(255) };
    const metadata = { text: 'x'.repeat(65_000) };
    const { assetId } = await send('POST', `${damc}/assets/`, { ...asset, metadata });
    await send('PUT', `${damc}/assets/${assetId}/`, { metadata: { ...metadata, changed: true } });
    await copy('assets', `asset_id = '${assetId}'`, { asset_id: text('ast_'), count: some });
    const { maintenanceId } = await fixture.made({ summary: wide(10_000), type: 'defect' });
    await copy('maintenances', `id = '${maintenanceId}'`, { id: text('mnt_'), number: 'n + 1', count: some });
    await fillSignoffs(maintenanceId);
    await copy('audit_entries', `action = 'asset.update'`, { id: text('aud_') });
    return { assetId, maintenanceId };
  }

  /** Only for the entry itself, not for its copies. */
  async function fillSignoffs(maintenanceId: string): Promise<void> {
    const signed = await fixture.signOff(maintenanceId, { workerAddress: fixture.worker, role: 'performed' });
    assert.equal(signed.status, 201, signed.text);
    const [licence] = licences();
    await service.sql(
      `update signoffs set document = ((document::jsonb) || $2::jsonb)::text where maintenance_id = $1`,
      [maintenanceId, { workerName: wide(200), licence }],
    );
    await copy('signoffs', `maintenance_id = '${maintenanceId}'`, {
      number: 'n + 1',
      worker_id: text('wrk_'),
      count: mostSignoffs - 1,
    });
  }

  /** Refused ones: of those that sign, a worker has few. */
  async function fillPasskeys(): Promise<void> {
    await service.sql(
      `insert into worker_passkeys (workspace_id, id, worker_id, state, credential_id, public_key, rp_id, counter, made)
       select workspace_id, ${text('psk_')}, id, 'refused', ${hash}::bytea, ${hash}::bytea, $1, 0, $2
       from workers cross join generate_series(1, ${many}) as n where address = $3`,
      ['h'.repeat(253), { attestation: { object: 'a'.repeat(8_000) } }, fixture.worker],
    );
  }

  async function fillSignRequests(maintenanceId: string): Promise<void> {
    await service.sql(
      `insert into sign_requests (workspace_id, id, token_hash, asset_id, maintenance_id, worker_id, worker_address, role, fields,
         requested_by, expires_at)
       select workspace_id, 'sgr_' || id, sha256(id::bytea), '', $1, id, address, 'certified', '{}',
         jsonb_build_object('kind', 'user', 'id', replace(id, 'wrk', 'usr')), '2099-12-31'
       from workers where id like 'wrk_0000%'`,
      [maintenanceId],
    );
  }

  async function fillBelow(assetId: string): Promise<void> {
    const url = `${damc}/assets/${assetId}`;
    const ofAsset = `asset_id = '${assetId}'`;
    for (const half of [0, 1]) {
      const viewers = Array.from({ length: many / 2 }, (_, n) => viewerAddress(2 * n + half));
      await send('POST', `${url}/viewers/`, { viewers, until: '2099-12-31T23:59:59.999Z' });
    }
    await send('POST', `${url}/workers/`, { workers: [fixture.worker] });
    const worker = await send('POST', `${damc}/workers/`, { name: wide(200) });
    await send('PATCH', `${damc}/workers/${worker.address}/`, { licences: licences() });
    await copy('workers', `address = '${worker.address}'`, { id: text('wrk_'), address, count: many });
    await copy('asset_workers', ofAsset, { address, worker_id: text('wrk_') });
    await service.call('GET', `${url}/due/?viewerAddress=${vaultAddress}`);
    await copy('asset_access_log', ofAsset, { id: 'n + 1000000', what: `repeat('w', 40)` });
    const interval = { name: wide(200), every: { days: 1 }, lastDone: { at: '2020-01-31T00:00:00Z' } };
    await send('POST', `${url}/intervals/`, interval);
    await copy('asset_intervals', ofAsset, { id: text('int_'), count: maxIntervals - 1 });
    await send('POST', `${url}/published-pages/`, {
      ...{ until: '2126-01-31T00:00:00Z', show: [...assetFields] },
      entries: { types: Array.from({ length: 20 }, (_, n) => `${n}${'w'.repeat(98)}`), show: ['type'] },
    });
    await copy('published_pages', ofAsset, { id: text('pag_'), token_hash: hash, count: mostPages - 1 });
    const parent = await send('POST', `${damc}/assets/`, {
      vaultAddress,
      name: 'Parent',
      assetId: 'p'.repeat(255),
    });
    const at = '2020-01-31T00:00:00Z';
    await send('POST', `${url}/install/`, { parentAssetId: parent.assetId, at });
    await send('POST', `${url}/remove/`, { parentAssetId: parent.assetId, at });
    await copy('asset_installations', ofAsset, { number: 'n + 1' });
    const other = await fixture.newVault();
    await send('POST', `${url}/transfer/`, { destinationVaultAddress: other.address });
    await copy('transfers', `subject_id = '${assetId}'`, {
      id: text('trf_'),
      number: 'n + 1',
      completed_at: 'now()',
    });
    await copy('asset_versions', `${ofAsset} and version = 2`, { version: 'n + 1000', count: some });
    await confirmAsset(assetId);
  }

  /** Confirms them like the service would, except that the asset stays where it is. */
  async function confirmAsset(assetId: string): Promise<void> {
    const { rows } = await service.sql(
      `select v.workspace_id, v.digest, passed.digest as passed_digest
       from asset_versions v join asset_versions passed using (workspace_id, asset_id)
       where asset_id = $1 and v.version = 2
         and passed.version = (select max(subject_version) from transfers where subject_id = $1)`,
      [assetId],
    );
    const { workspace_id: workspaceId, digest, passed_digest: passed } = rows[0];
    const thing = { workspaceId, subjectId: assetId, vault: fixture.vault };
    const transferId = `trf_${'0'.repeat(26)}`;
    const to = vaultAddress.toLowerCase();
    await confirmLeaves(service, thing, [
      ...Array.from({ length: many }, (_, n) => ({
        ...{ kind: 'transfer' as const, version: n + 2, digest: passed },
        claims: { to, transferId, assetVersion: 2 },
      })),
      ...Array.from({ length: some }, (_, n) => ({
        kind: 'asset' as const,
        version: n + 1001,
        digest,
        claims: {},
      })),
    ]);
  }

  async function confirmFile(fileId: string, contentHash: string, claims: object): Promise<void> {
    const { rows } = await service.sql(`select workspace_id from files where id = $1`, [fileId]);
    const thing = { workspaceId: rows[0].workspace_id, subjectId: fileId, vault: fixture.vault };
    const digest = Buffer.from(contentHash.slice(2), 'hex');
    const next = Array.from({ length: many }, (_, n) => ({
      ...{ kind: 'file' as const, version: n + 2, digest },
      claims: { ...claims },
    }));
    await confirmLeaves(service, thing, next);
  }

  async function fillFiles(): Promise<string> {
    const contentHash = `0x${'ab'.repeat(32)}`;
    const claims = {
      name: 'n'.repeat(255),
      mediaType: `text/${'x'.repeat(122)}`,
      expirationDate: '2099-12-31T23:59:59.999999999Z',
    };
    const { id } = await send('POST', `${platform}/files`, { vaultAddress, contentHash, ...claims });
    await send('POST', `${platform}/files/${id}/validate`, { contentHash });
    await copy('files', `id = '${id}'`, { id: text('fil_') });
    await copy('file_versions', `file_id = '${id}'`, { file_id: text('fil_') });
    await copy('file_versions', `file_id = '${id}'`, { version: 'n + 1', current: 'false' });
    await copy('file_validations', `file_id = '${id}'`, { id: text('val_') });
    await confirmFile(id, contentHash, claims);
    return id;
  }

  async function fillRecords(): Promise<string> {
    const record = { externalId: wide(255), data: {} };
    let recordId = '';
    for (let sent = 0; sent < many; sent += many / 2) {
      const records = Array.from({ length: many / 2 }, () => record);
      recordId = (await send('POST', `${platform}/records/batch`, { vaultAddress, records }))[0].id;
    }
    await copy('anchor_leaves', `subject_id = '${recordId}'`, { id: '1000000 + n', version: 'n + 1' });
    return recordId;
  }

  async function fillWebhooks(): Promise<{ endpointId: string; token: string }> {
    const url = `${someTarget}/${'u'.repeat(2_000 - someTarget.length - 1)}`;
    const envelope = JSON.stringify({
      id: 'evt_n',
      type: 'endpoint.disabled',
      timestamp: new Date().toISOString(),
      workspace_id: `ws_${'0'.repeat(26)}`,
      data: {
        endpoint_id: `whe_${'0'.repeat(26)}`,
        url,
        reason: 'failing',
        disabled_at: new Date().toISOString(),
      },
    });
    await service.sql(
      `insert into events (workspace_id, id, type, envelope)
       select v.workspace_id, ${text('evt_')}, 'endpoint.disabled', replace($1, 'evt_n', ${text('evt_')})
       from vaults v cross join generate_series(1, ${many}) as n where v.address = $2`,
      [envelope, vaultAddress],
    );
    await service.sql(placeAll);
    const licence = { address: `0x${'0'.repeat(40)}`, expires_at: new Date().toISOString() };
    await service.sql(
      `insert into notices (workspace_id, id, type, thing, subject, data, since, raised_at)
       select v.workspace_id, ${text('ntc_')}, 'worker.licence.expiring', n::text, '', $1, now(), now()
       from vaults v cross join generate_series(1, ${many}) as n where v.address = $2`,
      [{ ...licence, worker_id: 'wrk_n', scope: wide(200), number: wide(100) }, vaultAddress],
    );
    const endpoint = await send('POST', `${platform}/webhooks/endpoints`, {
      url,
      description: wide(2_000),
      eventTypes: ['vault.deactivated', 'maintenance.anchor.confirmed'],
      filter: `type == "${'x'.repeat(1_980)}"`,
      headers: Array.from({ length: 20 }, (_, n) => ({ name: `x-${n}-${'x'.repeat(90)}`, value: 'x' })),
    });
    await copy('webhook_endpoints', `id = '${endpoint.id}'`, { id: text('whe_'), count: 499 });
    const links = `${platform}/webhooks/endpoints/${endpoint.id}/portal-links`;
    const portalLink = await send('POST', links, { description: wide(200) });
    await copy('webhook_portal_links', `id = '${portalLink.id}'`, {
      ...{ id: text('ptl_'), token_hash: hash },
      count: portalLinkLimits.perEndpoint - 1,
    });
    await copy('webhook_deliveries', `endpoint_id = '${endpoint.id}'`, { id: text('dlv_') });
    // The longest stored values, of characters that take six bytes in JSON, or two in headers, which allow no others.
    const attempt = {
      ...{ at: new Date().toISOString(), durationMs: 30_000, statusCode: 500, error: 'e'.repeat(500) },
      responseHeaders: Object.fromEntries(
        Array.from({ length: 50 }, (_, n) => [`x-header-${n}`, '"'.repeat(1_000)]),
      ),
      responseBody: '\u0001'.repeat(16_384),
    };
    await service.sql(
      `update webhook_deliveries set first_attempt = null, attempts = (
         select jsonb_agg($1::jsonb || jsonb_build_object('number', n)) from generate_series(1, $2::integer) as n)
       where id = ${text('dlv_').replace('n::text', "'1'")}`,
      [attempt, mostAttempts],
    );
    return { endpointId: endpoint.id, token: tokenOf(portalLink.link) };
  }

  async function fillKeysAndPeople(): Promise<Visitor> {
    const key = await send('POST', `${platform}/api-keys`, {
      name: wide(200),
      scopes: scopes.filter((scope) => scope !== onBehalf),
    });
    await copy('api_keys', `id = '${key.id}'`, { id: text('key_'), secret_hash: hash });
    const owner = await becomeOwner(service, ownerAccount);
    const invited = await owner.call('POST', `${platform}/invitations`, {
      body: { role: 'viewer', email: `${'m'.repeat(242)}@example.com` },
    });
    assert.equal(invited.status, 201, invited.text);
    await copy('invitations', `id = '${invited.json.id}'`, {
      id: text('inv_'),
      token_hash: hash,
      count: mostPeople / 2,
    });
    await copy('users', 'true', {
      id: text('usr_'),
      name: `repeat('\u{1F529}', 200)`,
      email: `lpad(n::text, 242, 'm') || '@example.com'`,
      count: mostPeople / 2 - 2,
    });
    await copy('members', 'true', { user_id: text('usr_'), count: mostPeople / 2 - 2 });
    await copy('workspaces', `slug = 'default'`, {
      id: text('ws_'),
      slug: `lpad(n::text, 100, 's')`,
      name: `repeat('\u{1F529}', 200)`,
      count: mostWorkspaces - 1,
    });
    const ofOwner = `user_id = (select id from users where email = 'ada@example.com')`;
    await copy('members', `${ofOwner} and workspace_id not like 'ws_0000%'`, {
      workspace_id: text('ws_'),
      created_at: `now() + n * interval '1 second'`,
      count: mostWorkspaces - 1,
    });
    await copy('sessions', 'true', {
      id: text('ses_'),
      token: text('tok_'),
      user_agent: `repeat('a', 16000)`,
    });
    await service.sql(
      `insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports)
       select ${text('psk_')}, id, $1, sha256(n::text::bytea), '', 0, '{internal}'
       from users cross join generate_series(1, ${mostPasskeys}) as n where email = $2`,
      [wide(200), ownerAccount.email],
    );
    return owner;
  }

  async function fillErasures(): Promise<void> {
    await service.sql(
      `insert into holds (workspace_id, subject_id, reason)
       select v.workspace_id, ${text('rec_')}, $1
       from vaults v cross join generate_series(1, ${many}) as n where v.address = $2`,
      [wide(500), vaultAddress],
    );
    await service.sql(
      `insert into erasures (workspace_id, kind, subject_id, versions, bytes, by_retention, erased_at, journalled)
       select v.workspace_id, 'record', ${text('rec_')},
         array(select generate_series(1, 20000)), 2 ^ 53 - 1, false, now(), true
       from vaults v cross join generate_series(1, ${many}) as n where v.address = $1`,
      [vaultAddress],
    );
  }

  async function fillVaults(): Promise<void> {
    const vault = await send('POST', `${platform}/vaults`, { name: wide(200), description: wide(2_000) });
    await copy('vaults', `id = '${vault.id}'`, { id: text('vlt_'), address });
    await service.sql(
      `insert into vault_transactions (workspace_id, vault_id, block_number, transaction_index, hash, from_address,
         to_address, value_wei, time_seconds)
       select workspace_id, id, 9000000000000000 - n, 0, (${hash})::bytea, address, address, 2::numeric(78) ^ 256 - 1, 4102444800
       from vaults cross join generate_series(1, ${many}) as n where address = $1`,
      [vaultAddress],
    );
  }

  const { assetId, maintenanceId } = await fillAssets();
  await fillPasskeys();
  await fillBelow(assetId);
  await fillSignRequests(maintenanceId);
  const fileId = await fillFiles();
  const recordId = await fillRecords();
  const ofWebhooks = await fillWebhooks();
  const owner = await fillKeysAndPeople();
  await fillVaults();
  await fillErasures();
  const deliveryId = `dlv_${'1'.padStart(26, '0')}`;
  return { fixture, owner, assetId, fileId, recordId, deliveryId, maintenanceId, ...ofWebhooks };
}

function viewerAddress(n: number): string {
  return `0x${(n + 1).toString(16).padStart(40, '0')}`;
}

function licences(): object[] {
  return Array.from({ length: 30 }, () => ({
    scope: wide(200),
    number: wide(100),
    authority: wide(100),
    expiresAt: '2099-01-01T00:00:00Z',
  }));
}
