/** The dossier of an asset: what is in it, that it holds, that nothing in it can be changed unseen, and who gets it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { dossierPaths, type EntryLine } from '../../src/maintenance/dossier-check/dossier-format.ts';
import { makeSignoffTypedData } from '../../src/maintenance/signing/signoff.ts';
import { anvilMissing } from '../support/chain/anvil.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import { browserMissing, startBrowser } from '../support/clients/browser.ts';
import { check, download, openDossier, type ReadDossier } from '../support/clients/dossier-reader.ts';
import { readPdf } from '../support/clients/read-pdf.ts';
import { type AssetFixture, openAssetFixture, randomAddress } from '../support/fixtures/asset-fixture.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const skip = await anvilMissing();
const folder = mkdtempSync(join(tmpdir(), 'holdfast-dossier-'));
const zip = join(folder, 'dossier.zip');
const assetId = 'Pump Ä <b>7';
let service: Service;
let fixture: AssetFixture;
let owner: { address: string };
let made: ReadDossier;
let ids: { first: string; correction: string; open: string };

before(async () => {
  if (skip) return;
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
  fixture = openAssetFixture(service);
  owner = await makeHistory();
  const answer = await download(service, pathOf(owner.address), zip);
  assert.equal(answer.status, 200);
  made = await openDossier(zip);
});
after(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

const pathOf = (viewer: string, more = '') =>
  `/api-v1/damc/assets/${encodeURIComponent(assetId)}/dossier/?viewerAddress=${viewer}${more}`;

/** Two owners, a parent, an entry with its correction, both certified, and one that is not signed. */
async function makeHistory(): Promise<{ address: string }> {
  const [seller, buyer] = [await fixture.newVault(), await fixture.newVault()];
  await fixture.newAsset({
    assetId,
    vaultAddress: seller.address,
    serialNumber: 'S-1',
    metadata: { maker: 'Ö & Co' },
  });
  const parent = await fixture.newAsset({ vaultAddress: seller.address });
  const [mechanic, certifier] = [await fixture.newWorker(), await fixture.newWorker()];
  const licences = [licence('repair', 'DK.66.1')];
  await service.call('PATCH', `/api-v1/damc/workers/${certifier}/`, { body: { licences } });
  await ok('POST', 'workers/', { workers: [mechanic, certifier] });
  await ok('POST', 'install/', { parentAssetId: parent, at: '2026-01-01T00:00:00Z' });
  const file = await service.call('POST', '/api-v1/platform/files', {
    body: { vaultAddress: seller.address, name: 'report.pdf', contentHash: `0x${'ab'.repeat(32)}` },
  });
  assert.equal(file.status, 202, file.text);
  const enter = async (summary: string, more = {}) => {
    const body = {
      workerAddress: mechanic,
      type: 'repair',
      summary,
      performedAt: '2026-01-15T09:30:00Z',
      ...more,
    };
    return (await ok('POST', 'maintenances/', body)).maintenanceId as string;
  };
  const sign = async (id: string) => {
    await ok('POST', `maintenances/${id}/signoffs/`, { workerAddress: mechanic, role: 'performed' });
    await ok('POST', `maintenances/${id}/signoffs/`, { workerAddress: certifier, role: 'certified' });
  };
  const first = await enter('Seal replaced', { data: { torque: 24.5 }, fileIds: [file.json.id] });
  await sign(first);
  const part = {
    vaultAddress: seller.address,
    assetId: 'Impeller 9',
    serialNumber: 'IMP-9',
    name: 'Impeller',
  };
  await fixture.newAsset(part);
  const at = '2026-01-02T00:00:00Z';
  await fixture.call('POST', part.assetId, 'install/', { body: { parentAssetId: assetId, at } });
  const open = await enter('Leak seen', {
    type: 'Defect',
    performedAt: '2026-01-10T00:00:00Z',
    data: { deferred: { until: '2027-01-31' } },
  });
  const correction = await enter('Seal replaced, torque corrected', {
    supersedes: first,
    data: { torque: 42.5, usage: { hours: 120 }, closes: open },
  });
  await sign(correction);
  ids = { first, correction, open };
  await ok('POST', 'transfer/', { destinationVaultAddress: buyer.address });
  await waitUntil(async () => {
    const { rows } = await fixture.sql(
      "select 1 from anchor_leaves l left join anchor_batches b on b.id = l.batch_id where b.status is null or b.status not in ('confirmed', 'finalized')",
    );
    const { vaultAddress } = (await fixture.call('GET', assetId)).json;
    return rows.length === 0 && vaultAddress === buyer.address;
  }, 60_000);
  return buyer;
}

async function ok(method: string, path: string, body: object) {
  const answer = await fixture.call(method, assetId, path, { body });
  assert.ok(answer.status < 300, answer.text);
  return answer.json;
}

test('it has everything, in the order in which the work was done', { skip }, () => {
  const { dossier, lines, files } = made;
  assert.equal(dossier.asset.assetId, assetId);
  assert.equal(dossier.owner.address, owner.address);
  assert.deepEqual([dossier.owners.length, dossier.installations.length], [2, 1]);
  assert.deepEqual(
    lines.map(({ maintenanceId, supersededBy }) => [maintenanceId, supersededBy]),
    [
      [ids.open, null],
      [ids.first, ids.correction],
      [ids.correction, null],
    ],
  );
  assert.deepEqual(
    lines[1]?.attachments.map(({ name, contentHash, path }) => ({ name, contentHash, path })),
    [{ name: 'report.pdf', contentHash: `0x${'ab'.repeat(32)}`, path: null }],
  );
  const certificates = [...files.keys()].filter((name) => name.startsWith(dossierPaths.certificates));
  assert.deepEqual(
    certificates.map((name) => name.slice(-34, -4)).sort(),
    [ids.first, ids.correction].sort(),
  );
  assert.match(files.get(dossierPaths.readme)?.toString() ?? '', /Pump Ä <b>7/);
});

const pdfs = 'The logbook and the release certificates were not checked: no proof covers these PDF files.';
const complete =
  'That nothing was left out: each entry and sign-off proves itself, and no proof counts them.';

test('it holds: without a chain nothing speaks against it, with one only the clock stays unproven', {
  skip,
}, async () => {
  const { verdict, files } = made;
  assert.deepEqual(verdict.faults, []);
  assert.equal(verdict.verdict, 'incomplete');
  assert.deepEqual(
    [...verdict.gaps.keys()],
    [pdfs, 'That it was anchored on the chain, and when: no chain node was asked.', complete],
  );
  assert.deepEqual(verdict.counts, { ...verdict.counts, entries: 3, signoffs: 4, versions: 3 });
  const asked = await check(files, relayReader(service));
  assert.deepEqual(asked.faults, []);
  assert.deepEqual(
    [...asked.gaps.keys()].filter((gap) => !gap.startsWith('The finality')),
    [pdfs, 'The time of the anchors: the operator of this development chain can set its clock.', complete],
  );
});

test('whatever is changed, left out or added is found', { skip }, async () => {
  const part = 'entries/00001.jsonl';
  const other = privateKeyToAccount(`0x${'11'.repeat(32)}`);
  /** Changes one line, and has everything else fit as somebody who tampers would. */
  const changed = async (
    place: number,
    change: (line: EntryLine) => unknown,
  ): Promise<Map<string, Buffer>> => {
    const lines = structuredClone(made.lines);
    const line = lines[place] ?? assert.fail();
    const gone = (await change(line)) === null;
    return relisted(
      part,
      lines
        .filter((one) => !gone || one !== line)
        .map((one) => `${JSON.stringify(one)}\n`)
        .join(''),
    );
  };
  const signoff = (line: EntryLine) => line.signoffs[1] ?? assert.fail();
  const cases: [string, Promise<Map<string, Buffer>>, RegExp][] = [
    ['a summary', changed(2, ({ entry }) => (entry.summary = 'All fine')), /was changed/],
    ['an entry left out', changed(0, () => null), /are 2, and dossier.json counts 3/],
    ['a correction left out', changed(2, () => null), /said to be corrected by/],
    [
      'an entry twice',
      changed(0, (line) => Object.assign(line, structuredClone(made.lines[1]))),
      /is there twice/,
    ],
    [
      'a proof of another',
      changed(0, (line) => (line.proof = made.lines[1]?.proof ?? null)),
      /fails at digest|something else/,
    ],
    [
      'a sign-off left out',
      changed(1, (line) => (line.signoffs = line.signoffs.slice(1))),
      /break a rule|lacks a sign-off/,
    ],
    [
      'a licence made longer',
      changed(1, (line) =>
        Object.assign(signoff(line).document.licence ?? {}, { expiresAt: '2099-01-01T00:00:00Z' }),
      ),
      /does not have its hash/,
    ],
    [
      'another licence number',
      changed(1, (line) => Object.assign(signoff(line).document.licence ?? {}, { number: 'X' })),
      /the signature is refused/,
    ],
    [
      'another signer',
      changed(1, async (line) => {
        const { document, typedData } = signoff(line);
        document.signature = await other.signTypedData(makeSignoffTypedData(typedData.message));
      }),
      /the signature is refused/,
    ],
    [
      'a seal',
      changed(2, ({ proof }) => Object.assign(proof?.seal ?? {}, { sequence: 999 })),
      /fails at seal/,
    ],
    ['entries in another order', relisted(part, reordered()), /not in its place/],
    [
      'sign-offs left out, and counted so',
      changed(1, (line) => (line.signoffs = [])).then((files) =>
        recounted(files, { signoffs: 2, provenSignoffs: 2 }),
      ),
      /certified entries are 1, and dossier.json counts 2/,
    ],
    ['more certified', summary(({ counts }) => (counts.certified = 3)), /certified entries are 2/],
    ['more usage', summary(({ asset }) => (asset.usage.hours = 1)), /The usage is 120 hours, .* says 1/],
    ['other metadata', summary(({ asset }) => (asset.metadata.maker = 'X')), /another metadata/],
    ['no installation', summary((dossier) => (dossier.installations = [])), /other installations/],
    ['installed nowhere', summary(({ asset }) => (asset.parentAssetId = null)), /installed somewhere else/],
    ['fewer versions', summary(({ asset }) => (asset.version = 1)), /count its versions/],
    ['more versions', summary(({ counts }) => (counts.versions = 9)), /are 2, and dossier.json counts 9/],
    ['an older owner', ownedSince(0, '2020-01-01T00:00:00.000Z'), /since 2020-01-01T00:00:00.000Z, and the/],
    [
      'another transfer',
      ownedSince(1, '2020-01-01T00:00:00.000Z'),
      /since 2020-01-01T00:00:00.000Z, and the/,
    ],
    ['no time of a transfer', ownedSince(1, ''), /since , and the proofs since/],
    [
      'real evidence',
      summary((dossier) => (dossier.developmentEvidence = false)),
      /is of a development chain/,
    ],
    [
      'another anchor',
      changed(0, ({ anchor }) => Object.assign(anchor ?? {}, { blockNumber: 1 })),
      /another anchor than its proof/,
    ],
    ['no attachment', changed(1, (line) => (line.attachments = [])), /other attachments/],
    ['another serial number', summary(({ asset }) => (asset.serialNumber = 'S-2')), /another serialNumber/],
    [
      'another owner',
      summary(({ owners }) => Object.assign(owners[1]?.vault ?? {}, { address: other.address })),
      /not those that the proofs name/,
    ],
    [
      'a file more',
      Promise.resolve(new Map([...made.files, ['extra.pdf', Buffer.from('x')]])),
      /not a part of the dossier/,
    ],
    [
      'a file changed',
      Promise.resolve(new Map([...made.files, ['logbook.pdf', Buffer.from('x')]])),
      /not as it was written/,
    ],
    [
      'a file less',
      Promise.resolve(new Map([...made.files].filter(([name]) => name !== 'logbook.pdf'))),
      /is missing/,
    ],
    [
      'no summary',
      Promise.resolve(new Map([...made.files].filter(([name]) => name !== 'dossier.json'))),
      /not a dossier/,
    ],
  ];
  for (const [what, files, expected] of cases) {
    const { verdict, faults } = await check(await files);
    assert.equal(verdict, 'fail', what);
    assert.match(faults.map(({ place, message }) => `${place} ${message}`).join('\n'), expected, what);
  }
});

test('an owner that the proofs name and dossier.json leaves out is told', { skip }, async () => {
  const { gaps } = await check(
    await summary((dossier) => {
      dossier.owners.length = 1;
      dossier.owner = dossier.owners[0]?.vault ?? assert.fail();
    }),
  );
  assert.match([...gaps.keys()].join('\n'), /The proofs name a later owner, 0x[0-9a-f]{40},/);
});

test('times of owners are those of anchors that the chain has, whatever others a proof names', {
  skip,
}, async () => {
  const history = JSON.parse(String(made.files.get(dossierPaths.history)));
  const sold = history.proofs.find(({ kind }: { kind: string }) => kind === 'transfer');
  const since = '2020-01-01T00:00:00.000Z';
  const elsewhere = { ...sold.anchors[0], chainId: 999, blockTime: Date.parse(since) / 1000 };
  sold.anchors.unshift(elsewhere);
  const files = await relisted(dossierPaths.history, JSON.stringify(history));
  assert.deepEqual((await check(files, relayReader(service))).faults, []);
  const dossier = JSON.parse(String(files.get('dossier.json')));
  dossier.owners[1].since = since;
  files.set('dossier.json', Buffer.from(JSON.stringify(dossier)));
  const { verdict, faults } = await check(files, relayReader(service));
  assert.equal(verdict, 'fail');
  assert.match(JSON.stringify(faults), /The owners.*since 2020-01-01T00:00:00.000Z, and the proofs since/);
});

function ownedSince(place: number, since: string): Promise<Map<string, Buffer>> {
  return summary(({ owners }) => Object.assign(owners[place] ?? {}, { since }));
}

const reordered = () =>
  [made.lines[1], made.lines[0], made.lines[2]].map((line) => `${JSON.stringify(line)}\n`).join('');

function recounted(files: Map<string, Buffer>, counts: object): Map<string, Buffer> {
  const dossier = JSON.parse(String(files.get('dossier.json')));
  Object.assign(dossier.counts, counts);
  return files.set('dossier.json', Buffer.from(JSON.stringify(dossier)));
}

async function summary(change: (dossier: ReadDossier['dossier']) => unknown): Promise<Map<string, Buffer>> {
  const dossier = structuredClone(made.dossier);
  change(dossier);
  return new Map([...made.files, ['dossier.json', Buffer.from(JSON.stringify(dossier))]]);
}

function relisted(path: string, text: string): Promise<Map<string, Buffer>> {
  const bytes = Buffer.from(text);
  made.files.set(path, made.files.get(path) ?? bytes);
  return summary(({ contents }) => {
    const listed = contents.find((one) => one.path === path);
    if (!listed) assert.fail(`${path} is not listed`);
    listed.bytes = bytes.length;
    listed.sha256 = createHash('sha256').update(bytes).digest('hex');
  }).then((files) => files.set(path, bytes));
}

test('the logbook and the certificates say who did what, and what was corrected', { skip }, () => {
  const { text } = readPdf(made.files.get(dossierPaths.logbook) ?? assert.fail());
  assert.match(text, /\[SUPERSEDED\] repair: Seal replaced/);
  assert.match(text, /\[CORRECTION\] repair: Seal replaced, torque corrected/);
  assert.match(text, /Pump Ä <b>7/);
  assert.match(text, /Parts installed in it/);
  assert.match(text, /Impeller 9, serial number IMP-9/);
  assert.match(text, /Usage: 120 hours/);
  assert.match(text, /Repair deferred until 2027-01-31/);
  assert.match(text, new RegExp(`Closes ${ids.open}`));
  assert.match(text, /End of the logbook: 3 entries/);
  // What cannot be printed is said, with where it can be read.
  assert.match(text, /cannot\s+be\s+printed\s+here.*have\s+every\s+text\s+as\s+it\s+was\s+written/s);
  const [, certificate] =
    [...made.files].find(([name]) => name.includes(ids.first)) ?? assert.fail('there is no certificate');
  const { text: released } = readPdf(certificate);
  assert.match(released, /SUPERSEDED: CORRECTED BY A LATER ENTRY/);
  assert.match(released, /DK\.66\.1, EASA/);
  assert.match(released, /torque 24\.5/);
});

test('only who may see the asset gets it, and every look is on record', { skip }, async () => {
  const get = (viewer: string, options = {}) => service.call('GET', pathOf(viewer), options);
  const stranger = randomAddress();
  assertError(await get('0x12'), 'invalid_address');
  assertError(await get(stranger), 'viewer_not_allowed');
  assertError(
    await get(owner.address, { key: await service.makeKey({ newWorkspace: true }) }),
    'resource_not_found',
  );
  assertError(
    await get(owner.address, { key: await service.makeKey({ scopes: ['files:read'] }) }),
    'forbidden',
  );
  const key = await service.makeKey({ scopes: ['assets:read'] });
  assertError(
    await service.call('GET', pathOf(owner.address, '&attachments=true'), { key }),
    'forbidden',
    /files:read/,
  );
  assertError(await service.call('GET', pathOf(owner.address, '&what=1')), 'invalid_request');
  const head = await service.call('HEAD', pathOf(owner.address));
  assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'application/zip']);
  assert.match(head.headers.get('content-disposition') ?? '', /^attachment; filename="dossier-Pump/);
  assert.equal(head.headers.get('x-evidence'), 'development');
  const { json: log } = await fixture.call('GET', assetId, 'access-log/?limit=2');
  assert.deepEqual(
    log.map(({ viewerAddress, what, allowed }: Record<string, unknown>) => ({
      viewerAddress,
      what,
      allowed,
    })),
    [
      { viewerAddress: owner.address, what: 'dossier', allowed: true },
      { viewerAddress: stranger, what: 'dossier', allowed: false },
    ],
  );
});

test('its page checks it in a browser from the disk, as an archive and as a folder', {
  skip: skip || browserMissing(),
}, async () => {
  const unpacked = join(folder, 'unpacked');
  for (const [name, bytes] of made.files) {
    mkdirSync(dirname(join(unpacked, name)), { recursive: true });
    writeFileSync(join(unpacked, name), bytes);
  }
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('pageerror', (error) => assert.fail(error));
    page.on('console', (message) => assert.doesNotMatch(message.text(), /Content Security Policy/));
    await page.goto(`file://${join(unpacked, dossierPaths.page)}`);
    const verdict = (wanted: string) => page.locator(`[data-verdict=${wanted}]`).waitFor();
    await page.setInputFiles('#zip', zip);
    await verdict('incomplete');
    assert.match((await page.locator('#report').textContent()) ?? '', /4 sign-offs hold/);
    assert.equal(await page.locator('#report b').count(), 0, 'the name of the asset is no markup');
    await page.setInputFiles('#folder', unpacked);
    await page.getByText(`${made.files.size} files`).first().waitFor();
    await verdict('incomplete');
    writeFileSync(join(unpacked, 'logbook.pdf'), 'changed');
    await page.setInputFiles('#folder', unpacked);
    await verdict('fail');
    await page.getByText('is not as it was written').waitFor();
    await page.setInputFiles('#zip', {
      name: 'cut.zip',
      mimeType: 'application/zip',
      buffer: Buffer.alloc(500),
    });
    await page.getByText('This is not a whole ZIP archive').waitFor();
    assert.deepEqual(
      asked.filter((url) => !/^(file|data|blob):/.test(url)),
      [],
    );
  } finally {
    await browser.close();
  }
});
