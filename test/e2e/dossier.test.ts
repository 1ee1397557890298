/** The dossier of an asset: what is in it, who gets it, and the page in it that checks it. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { dossierPaths } from '../../src/maintenance/dossier-check/dossier-format.ts';
import { zeroHash } from '../../src/proof/hex.ts';
import { isEvmAnchor, type Proof } from '../../src/proof/verify/proof.ts';
import type { Trust } from '../../src/proof/verify/trust.ts';
import { startBrowser } from '../support/clients/browser.ts';
import type { ReadDossier } from '../support/clients/dossier-reader.ts';
import { readPdf } from '../support/clients/read-pdf.ts';
import { pathOf, randomAddress } from '../support/fixtures/asset-fixture.ts';
import {
  assetId,
  type DossierFixture,
  dossierPath,
  openDossierFixture,
} from '../support/fixtures/dossier-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { needs } from '../support/programs/needs.ts';
import type { Service } from '../support/service/service.ts';

let fixture: DossierFixture;
let service: Service;
let owner: DossierFixture['owner'];
let made: ReadDossier;
let ids: DossierFixture['ids'];

before(async () => {
  fixture = await openDossierFixture();
  ({ service, owner, made, ids } = fixture);
});
after(() => fixture?.close());

test('contains everything, in the order of the work', () => {
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

test('logbook and certificates say who did what, and what was corrected', () => {
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
  assert.match(text, new RegExp(`Entry number 1, ${ids.first}`));
  // What cannot be printed is said, with where it can be read.
  assert.match(text, /cannot\s+be\s+printed\s+here.*contain\s+every\s+text\s+as\s+it\s+was\s+written/s);
  const [, certificate] =
    [...made.files].find(([name]) => name.includes(ids.first)) ?? assert.fail('there is no certificate');
  const { text: released } = readPdf(certificate);
  assert.match(released, /SUPERSEDED: CORRECTED BY A LATER ENTRY/);
  assert.match(released, /DK\.66\.1, EASA/);
  assert.match(released, /torque 24\.5/);
  assert.match(released, /Entry number 1/);
});

test('the certificate of a single entry says what the one in the dossier says', async () => {
  const path = `maintenances/${ids.first}/release-certificate/?viewerAddress=${owner.address}`;
  const response = await fetch(service.url + pathOf(assetId, path), {
    headers: { 'x-api-key': service.key },
  });
  assert.equal(response.status, 200);
  const [, inDossier] = [...made.files].find(([name]) => name.includes(ids.first)) ?? assert.fail();
  // Without when it was made, and whether the block was final by then, which moves what follows to another page.
  const saidIn = (pdf: Buffer) =>
    readPdf(pdf)
      .pages.flat()
      .filter((line) => !/^(Created on|Page \d|Provisional|When this certificate|the anchor was)/.test(line))
      .map((line) => line.replace(/, (not final yet|final)$/, ''))
      .sort();
  const [single, ofDossier] = [saidIn(Buffer.from(await response.arrayBuffer())), saidIn(inDossier)];
  assert.deepEqual([...new Set(single)], [...new Set(ofDossier)]);
  assert.ok(single.includes('Released by') || single.some((line) => line.includes('Release withdrawn')));
});

test('only those who may see the asset get it, and every access is logged', async () => {
  const get = (viewer: string, options = {}) => service.call('GET', dossierPath(viewer), options);
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
    await service.call('GET', dossierPath(owner.address, '&attachments=true'), { key }),
    'forbidden',
    /files:read/,
  );
  assertError(await service.call('GET', dossierPath(owner.address, '&what=1')), 'invalid_request');
  const head = await service.call('HEAD', dossierPath(owner.address));
  assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'application/zip']);
  assert.match(head.headers.get('content-disposition') ?? '', /^attachment; filename="dossier-Pump/);
  assert.equal(head.headers.get('x-evidence'), 'development');
  const { json: log } = await fixture.assets.call('GET', assetId, 'access-log/?limit=2');
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

/** Whom somebody trusts who has the hashes of all blocks of the dossier from elsewhere. */
function blocksOf({ files, lines }: ReadDossier): Pick<Trust, 'chains' | 'blocks'> {
  const [history, seal] = [dossierPaths.history, dossierPaths.seal].map((path) =>
    JSON.parse(files.get(path)?.toString() ?? ''),
  );
  const entries = lines.flatMap(({ proof, signoffs }) => [proof, ...signoffs.map(({ proof }) => proof)]);
  const blocks = [...history.proofs, seal, ...entries]
    .flatMap((proof: Proof) => proof.anchors.filter(isEvmAnchor))
    .map(({ chainId, blockNumber: number, blockHash: hash }) => ({ chainId, number, hash }));
  // Without a node, nobody is asked for the first block.
  const genesisHash = zeroHash;
  return { chains: [{ chainId: blocks[0]?.chainId ?? 0, genesisHash, finality: 'finalized' }], blocks };
}

needs('chromium').test(
  'its page verifies it in a browser from disk, as an archive and as a folder',
  {},
  async () => {
    const unpacked = join(fixture.folder, 'unpacked');
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
      await page.setInputFiles('#zip', fixture.zip);
      await verdict('incomplete');
      const report = async () => (await page.locator('#report').textContent()) ?? '';
      assert.match(await report(), /4 sign-offs are valid/);
      assert.match(await report(), /The owner of the asset has sealed dossier\.json/);
      assert.match(await report(), /3 proven, 1 of them certified/);
      assert.match(await report(), /1 certification was withdrawn by a correction: mnt_\w+ by mnt_/);
      assert.match(await report(), /120 hours, 0 cycles/);
      assert.match(await report(), /Development evidence/);
      assert.match(await report(), /SealedAt a time that nobody vouches for/);
      assert.equal(await page.locator('#report b').count(), 0, 'the name of the asset is no markup');
      // A trust file that cannot be used is refused, and one that names the blocks makes everything pass without a node.
      const trust = (document: object) => ({
        ...{ name: 'trust.json', mimeType: 'application/json' },
        buffer: Buffer.from(JSON.stringify({ format: 'holdfast/trust@1', ...document })),
      });
      await page.setInputFiles('#trust', trust({ blocks: 1 }));
      await page.getByText('trust.json cannot be used as a trust file: blocks is').waitFor();
      await page.setInputFiles('#trust', trust(blocksOf(made)));
      await verdict('pass');
      assert.match(await report(), /A trusted clock vouches for those of all proofs/);
      assert.doesNotMatch(await report(), /Development evidence/);
      assert.match(
        await report(),
        /SealedOn 20\d\d-\S+Z at the latestsays block \d+ of .*as complete, by the owner/,
      );
      await page.getByRole('button', { name: 'Remove the trust file' }).click();
      await verdict('incomplete');
      await page.setInputFiles('#folder', unpacked);
      await page.getByText(`${made.files.size} files`).first().waitFor();
      await verdict('incomplete');
      // The proof may come later than the archive.
      const proof = join(fixture.folder, 'proof.json');
      renameSync(join(unpacked, dossierPaths.seal), proof);
      await page.setInputFiles('#folder', unpacked);
      await page.getByText('That nothing was left out at the end').waitFor();
      assert.match(await report(), /The logbook and the release certificates/);
      await page.setInputFiles('#seal', proof);
      await page.getByText('as complete, by the owner').waitFor();
      const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), readFileSync(proof)]);
      await page.setInputFiles('#seal', { name: 'bom.json', mimeType: 'application/json', buffer: marked });
      await page.getByText('fails at').first().waitFor();
      await page.setInputFiles('#seal', {
        name: 'no.json',
        mimeType: 'application/json',
        buffer: Buffer.of(0xff),
      });
      await page.getByText('no.json is not the proof of a dossier: it is not text in UTF-8.').waitFor();
      await page.setInputFiles('#seal', join(unpacked, dossierPaths.summary));
      await page.getByText('fails at').first().waitFor();
      writeFileSync(join(unpacked, 'logbook.pdf'), 'changed');
      await page.setInputFiles('#folder', unpacked);
      await verdict('fail');
      await page.getByText('has changed since it was written').waitFor();
      await page.setInputFiles('#zip', {
        name: 'cut.zip',
        mimeType: 'application/zip',
        buffer: Buffer.alloc(500),
      });
      await page.getByText('This ZIP archive is incomplete').waitFor();
      assert.deepEqual(
        asked.filter((url) => !/^(file|data|blob):/.test(url)),
        [],
      );
    } finally {
      await browser.close();
    }
  },
);
