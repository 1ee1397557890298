/** The seal of a dossier: who gets it and when, and what it shows that nothing else can show. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { dossierPaths } from '../../src/maintenance/dossier-check/dossier-format.ts';
import { recordDigest } from '../../src/proof/content.ts';
import { fromHex } from '../../src/proof/hex.ts';
import { parseProof } from '../../src/proof/verify/proof.ts';
import { check, download, openDossier, type ReadDossier } from '../support/clients/dossier-reader.ts';
import { pathOf, randomAddress } from '../support/fixtures/asset-fixture.ts';
import {
  assetId,
  type DossierFixture,
  dossierPath,
  openDossierFixture,
} from '../support/fixtures/dossier-fixture.ts';
import { createForger, type DossierForger, part, unsealed } from '../support/fixtures/dossier-forger.ts';
import { openMaintenanceFixture } from '../support/fixtures/maintenance-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let fixture: DossierFixture;
let service: Service;
let made: ReadDossier;
let forger: DossierForger;
let owner: string;

before(async () => {
  fixture = await openDossierFixture();
  ({ service, made } = fixture);
  owner = fixture.owner.address;
  forger = createForger(made);
});
after(() => fixture?.close());

const proofPath = (dossierId: string, viewer = owner) =>
  pathOf(assetId, `dossiers/${dossierId}/proof/?viewerAddress=${viewer}`);

const atTheEnd = /That nothing was left out at the end/;
const printed = /The logbook and the release certificates/;

test('what only the seal shows fails with it, and is named as not checked without it', async () => {
  const certificates = [...made.files.keys()].filter((name) => name.startsWith(dossierPaths.certificates));
  const [one = '', other = ''] = certificates;
  const contentOf = (path: string) => made.files.get(path) ?? assert.fail();
  const swapped = forger.relisted(one, contentOf(other), forger.relisted(other, contentOf(one)));
  const cases: [string, Map<string, Buffer>, RegExp, Partial<ReadDossier['verdict']['facts']>][] = [
    [
      'the newest entry left out',
      await forger.entries((lines) =>
        lines.filter(({ number }) => number !== 3).map((line) => ({ ...line, supersededBy: null })),
      ),
      atTheEnd,
      { entries: 2, certified: 1, usage: { hours: 0, cycles: 0 } },
    ],
    [
      'the certification left out',
      await forger.changed(1, (line) => line.signoffs.pop()),
      atTheEnd,
      { entries: 3, signoffs: 3, certified: 1 },
    ],
    [
      'all sign-offs left out',
      await forger.changed(1, (line) => (line.signoffs = [])),
      atTheEnd,
      { entries: 3, signoffs: 2, certified: 1 },
    ],
    ['another logbook', forger.relisted(dossierPaths.logbook, '%PDF-1.7 all is well'), printed, {}],
    ['swapped certificates', swapped, printed, {}],
  ];
  for (const [what, files, gap, facts] of cases) {
    const sealed = await check(files);
    assert.deepEqual([sealed.verdict, sealed.seal], ['fail', 'invalid'], what);
    const without = await check(unsealed(files));
    assert.deepEqual(without.faults, [], what);
    assert.deepEqual([without.verdict, without.seal], ['incomplete', 'missing'], what);
    assert.match([...without.gaps.keys()].join('\n'), gap, what);
    assert.deepEqual({ ...without.facts, ...facts }, without.facts, what);
  }
});

test('takes nothing from versions that no proof is about', async () => {
  const lines = String(made.files.get(dossierPaths.versions)).trimEnd().split('\n');
  const newest = JSON.parse(lines.at(-1) ?? '');
  const forgedLine = (version: number, change: object) => {
    const document = { ...newest.document, ...change };
    return JSON.stringify({
      ...newest,
      version,
      document,
      digest: recordDigest(fromHex(newest.salt), document),
    });
  };
  const withVersions = (...all: (string | undefined)[]) =>
    forger.relisted(dossierPaths.versions, `${all.join('\n')}\n`);
  const history = JSON.parse(String(made.files.get(dossierPaths.history)));
  // Without its salt, a proof does not say what its digest is of.
  for (const { content } of history.proofs) content.salt = null;
  const replaced = forger.summary(
    ({ asset }) => (asset.serialNumber = 'S-2'),
    forger.relisted(
      dossierPaths.history,
      JSON.stringify(history),
      withVersions(lines[0], forgedLine(2, { serialNumber: 'S-2' })),
    ),
  );
  const { verdict, faults } = await check(unsealed(replaced));
  assert.equal(verdict, 'fail');
  assert.match(JSON.stringify(faults), /Version 2 of the asset.*is not what its proof is about/);

  const usage = { hours: 9_999, cycles: 0 };
  const more = withVersions(...lines, forgedLine(3, { serialNumber: 'S-3', usage }));
  const stated = forger.summary(({ asset, counts }) => {
    Object.assign(asset, { version: 3, serialNumber: 'S-3', usage });
    counts.versions = 3;
  }, more);
  const { facts, gaps, faults: none } = await check(unsealed(stated));
  assert.deepEqual(none, []);
  assert.deepEqual([facts?.asset?.serialNumber, facts?.usage.hours], ['S-1', 120]);
  assert.match([...gaps.keys()].join('\n'), /newest versions of the asset/);

  const shorter = forger.summary(({ asset, counts }) => {
    Object.assign(asset, { version: 1, parentAssetId: null });
    counts.versions = 1;
  }, withVersions(lines[0]));
  assert.match(
    JSON.stringify((await check(unsealed(shorter))).faults),
    /lacks version 2, which its proofs name/,
  );
});

test('does not take a dossier for one of the owner without the proofs of the asset', async () => {
  const files = forger.relisted(dossierPaths.history, null);
  const { verdict, faults, facts } = await check(unsealed(files));
  assert.equal(verdict, 'fail');
  assert.match(JSON.stringify(faults), /asset\/history\.json.*does not prove the asset/);
  assert.deepEqual([facts?.asset, facts?.owners], [null, []]);
  // The seal itself holds, and says nothing.
  const listed = new Map([...made.files].filter(([name]) => name !== dossierPaths.history));
  assert.equal((await check(listed)).seal, 'unowned');
});

test('takes development evidence from the proofs, and no time from a chain that nobody asked', async () => {
  const claimed = (text: string) =>
    text.replaceAll(`"chainId":${made.lines[0]?.anchor?.chainId}`, '"chainId":1');
  const entries = forger.relisted(part, claimed(String(made.files.get(part))));
  const history = claimed(String(made.files.get(dossierPaths.history)));
  const both = forger.relisted(dossierPaths.history, history, entries);
  const files = forger.summary((dossier) => (dossier.developmentEvidence = false), both);
  const { verdict, times } = await check(unsealed(files));
  assert.deepEqual([verdict, times], ['incomplete', 'unproven']);
});

test('an archive that does not wait has no proof, which the service has once it is confirmed', async () => {
  const zip = join(fixture.folder, 'unsealed.zip');
  const answer = await download(service, dossierPath(owner, '&wait=0'), zip);
  const { dossier, files, verdict } = await openDossier(zip);
  assert.equal(answer.headers.get('x-dossier-id'), dossier.dossierId);
  assert.equal(files.has(dossierPaths.seal), false);
  assert.deepEqual([verdict.seal, verdict.faultCount], ['missing', 0]);
  assert.match(
    [...verdict.gaps.keys()].join('\n'),
    new RegExp(`proof of dossier.json, ${dossier.dossierId}`),
  );
  await waitUntil(
    async () => (await service.call('GET', proofPath(dossier.dossierId))).status === 200,
    30_000,
  );
  const { json, text } = await service.call('GET', proofPath(dossier.dossierId));
  assert.deepEqual(parseProof(json).faults, []);
  assert.deepEqual(
    [json.kind, json.subject.id, json.claims.assetId],
    ['dossier', dossier.dossierId, assetId],
  );
  const given = await check(files, undefined, text);
  assert.deepEqual([given.seal, given.faultCount], ['valid', 0]);
  // The proof of another dossier of the same asset.
  const wrong = await check(made.files, undefined, text);
  assert.deepEqual([wrong.seal, wrong.verdict], ['invalid', 'fail']);
});

test('only those who may see the asset get the proof, and every access is logged', async () => {
  const { dossierId } = made.dossier;
  assertError(await service.call('GET', proofPath(dossierId, randomAddress())), 'viewer_not_allowed');
  assertError(
    await service.call('GET', proofPath('dos_unknown')),
    'resource_not_found',
    /no dossier dos_unk/,
  );
  const other = pathOf('Impeller 9', `dossiers/${dossierId}/proof/?viewerAddress=${owner}`);
  assertError(await service.call('GET', other), 'viewer_not_allowed');
  const stranger = await service.makeKey({ newWorkspace: true });
  assertError(await service.call('GET', proofPath(dossierId), { key: stranger }), 'resource_not_found');
  const key = await service.makeKey({ scopes: ['files:read'] });
  assertError(await service.call('GET', proofPath(dossierId), { key }), 'forbidden');
  assert.equal((await service.call('GET', proofPath(dossierId))).status, 200);
  const { json: log } = await fixture.assets.call('GET', assetId, 'access-log/?limit=1');
  assert.deepEqual([log[0].what, log[0].targetId, log[0].viewerAddress], ['dossier proof', dossierId, owner]);
});

test('counts as an anchor of the workspace, and only when it was downloaded', async () => {
  const stored = async () => {
    const { rows } = await fixture.assets.sql(
      "select (select count(*) from dossiers)::int as dossiers, (select count(*) from audit_entries where action = 'asset.seal_dossier')::int as audited",
    );
    return Object.values(rows[0]) as [number, number];
  };
  const [before] = await stored();
  assert.equal((await service.call('HEAD', dossierPath(owner))).status, 200);
  assertError(await service.call('GET', dossierPath(owner, '&wait=61')), 'invalid_request');
  const limit = (limits: object) =>
    fixture.assets.sql('update workspaces set limits = $1', [JSON.stringify(limits)]);
  let downloaded = 0;
  /** Whether it is refused; a node learns of new limits after a moment. */
  const isRefused = async () => {
    const { status, headers } = await service.call('GET', dossierPath(owner, '&wait=0'));
    if (status === 200) downloaded += 1;
    else assert.equal(headers.get('x-budget'), 'anchors_per_day');
    return status !== 200;
  };
  await limit({ anchors_per_day: 1 });
  await waitUntil(isRefused);
  await limit({});
  await waitUntil(async () => !(await isRefused()));
  assert.deepEqual(await stored(), [before + downloaded, before + downloaded]);
});

test('entries that are not anchored yet follow each other, too, and one left out is found', async () => {
  const quiet = await startService({ runLoops: false });
  try {
    const maintenance = await openMaintenanceFixture(quiet);
    const body = { assetId: 'Quiet pump', vaultAddress: maintenance.vault.address, name: 'Pump' };
    assert.equal((await quiet.call('POST', '/api-v1/damc/assets/', { body })).status, 201);
    await maintenance.assign('Quiet pump', maintenance.worker);
    for (const summary of ['one', 'two', 'three']) await maintenance.made({ summary }, 'Quiet pump');
    // A dossier is no new thing: a vault that is deactivated still seals it.
    await quiet.call('PATCH', `/api-v1/platform/vaults/${maintenance.vault.address}/deactivate`);
    const zip = join(fixture.folder, 'quiet.zip');
    const path = pathOf('Quiet pump', `dossier/?viewerAddress=${maintenance.vault.address}&wait=0`);
    assert.equal((await download(quiet, path, zip)).status, 200);
    const read = await openDossier(zip);
    assert.deepEqual(read.verdict.faults, []);
    assert.deepEqual([read.verdict.verdict, read.verdict.facts?.entries], ['incomplete', 0]);
    const forged = await createForger(read).entries((lines) => lines.filter(({ number }) => number !== 2));
    const { faults } = await check(forged);
    assert.deepEqual(faults, [{ place: 'Entry number 2', message: 'is missing' }]);
    const proof = pathOf('Quiet pump', `dossiers/${read.dossier.dossierId}/proof/`);
    assertError(
      await quiet.call('GET', `${proof}?viewerAddress=${maintenance.vault.address}`),
      'conflict',
      /not confirmed on the chain yet/,
    );
  } finally {
    await quiet.close();
  }
});
