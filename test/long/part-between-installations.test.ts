/**
 * A part is sold from one installation to another: its history goes along as a dossier, which the buyer keeps as evidence, and
 * which anybody checks when both installations are gone.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { EntryLine, SignoffLine } from '../../src/maintenance/dossier-check/dossier-format.ts';
import { dossierPaths } from '../../src/maintenance/dossier-check/dossier-format.ts';
import { zeroHash } from '../../src/proof/hex.ts';
import type { EvmAnchor } from '../../src/proof/verify/proof.ts';
import { startBrowser } from '../support/clients/browser.ts';
import { download, openDossier, type ReadDossier } from '../support/clients/dossier-reader.ts';
import { sendForm } from '../support/clients/upload.ts';
import { openPageFixture } from '../support/fixtures/published-page-fixture.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { holdfast, waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const files = '/api-v1/platform/files';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-sold-'));
const zip = join(folder, 'dossier.zip');
/** Of the dossier as a file of the buyer: its proof. */
const receipt = join(folder, 'receipt.json');
const trust = join(folder, 'trust.json');
let made: ReadDossier;
let signoffs: { document: string; proof: string; line: SignoffLine }[];

before(async () => {
  const env = { HOLDFAST_ANCHOR_INTERVAL_MS: '200' };
  const seller = await startService({ chain: true, env });
  let buyer: Service | undefined;
  try {
    const { assetId, vault } = await openPageFixture(seller);
    const path = `/api-v1/damc/assets/${assetId}/dossier/?viewerAddress=${vault.address}&wait=30`;
    assert.equal((await download(seller, path, zip)).status, 200);
    // The seller is gone before the buyer begins.
    await seller.close();
    buyer = await startService({ chain: true, env });
    await keepAsEvidence(buyer);
  } finally {
    await seller.close().catch(() => {});
    await buyer?.close();
  }
  made = await openDossier(zip);
  signoffs = made.lines.flatMap(filesOfSignoffs);
  writeFileSync(trust, JSON.stringify({ format: 'holdfast/trust@1', ...blocksOf(made) }));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** The buyer uploads the dossier, has it anchored and validated, and keeps the proof. */
async function keepAsEvidence(service: Service): Promise<void> {
  const { json: vault } = await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'Buyer' } });
  const bytes = readFileSync(zip);
  const file = () => new File([bytes], 'dossier.zip', { type: 'application/zip' });
  const parts: [string, string | File][] = [
    ['vaultAddress', vault.address],
    ['file', file()],
  ];
  const { json: kept, text } = await sendForm(service, files, { parts });
  assert.ok(kept.id, text);
  const proof = await waitUntil(async () => {
    const answer = await service.call('GET', `${files}/${kept.id}/proof`);
    return answer.status === 200 ? answer.text : null;
  });
  writeFileSync(receipt, proof);
  const { json: asked } = await sendForm(service, `${files}/${kept.id}/validate`, {
    parts: [['file', file()]],
  });
  const validation = await waitUntil(async () => {
    const { json } = await service.call('GET', `${files}/${kept.id}/validations/${asked.id}`);
    return json.status === 'completed' ? json : null;
  });
  assert.equal(validation.result, 'valid', JSON.stringify(validation));
  const given = await fetch(`${service.url}${files}/${kept.id}/content`, {
    headers: { 'x-api-key': service.key },
  });
  assert.deepEqual(Buffer.from(await given.arrayBuffer()), bytes);
}

function filesOfSignoffs({ signoffs }: EntryLine) {
  return signoffs.map((line) => {
    const name = join(folder, `${line.document.maintenanceId}-${line.number}`);
    const [document, proof] = [`${name}-signoff.json`, `${name}-proof.json`];
    writeFileSync(document, JSON.stringify(line.document));
    writeFileSync(proof, JSON.stringify(line.proof));
    return { document, proof, line };
  });
}

/** Whom somebody trusts who has the hashes of all blocks that the dossier names from elsewhere. */
function blocksOf({ files }: ReadDossier): object {
  const blocks = new Map<string, { chainId: number; number: number; hash: string }>();
  function walk(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const { type, chainId, blockNumber: number, blockHash: hash } = value as Partial<EvmAnchor>;
    if (type === 'evm' && chainId !== undefined && number !== undefined && hash !== undefined) {
      blocks.set(hash, { chainId, number, hash });
    }
    for (const member of Object.values(value)) walk(member);
  }
  for (const [name, bytes] of files) {
    if (/\.jsonl$/.test(name)) for (const line of bytes.toString().trim().split('\n')) walk(JSON.parse(line));
    if (/\.json$/.test(name)) walk(JSON.parse(bytes.toString()));
  }
  const all = [...blocks.values()];
  const chains = [{ chainId: all[0]?.chainId ?? 0, genesisHash: zeroHash, finality: 'finalized' }];
  return { chains, blocks: all };
}

interface Verified {
  verdict: string;
  steps: { name: string; status: string }[];
}

function assertHolds({ verdict, steps }: Verified, which: string): void {
  const statuses = Object.fromEntries(steps.map(({ name, status }) => [name, status]));
  assert.equal(verdict, 'pass', `${which}: ${JSON.stringify(steps)}`);
  assert.deepEqual([statuses.digest, statuses.signature], ['pass', 'pass'], which);
}

test('the dossier has the sign-offs by passkey, and no fault', () => {
  assert.deepEqual(made.verdict.faults, []);
  assert.equal(signoffs.length, 4);
  for (const { line } of signoffs) assert.equal(line.document.signedWith?.method, 'passkey');
});

test('the command verifies every sign-off with both installations off, and none that was changed', async () => {
  for (const { document, proof } of signoffs) {
    const { stdout } = await holdfast({}, 'verify', proof, document, '--trust', trust, '--json');
    assertHolds(JSON.parse(stdout), proof);
  }
  const [{ line, proof = '' }] = signoffs as [(typeof signoffs)[number]];
  const forged = join(folder, 'forged.json');
  writeFileSync(forged, JSON.stringify({ ...line.document, workerName: 'Somebody else' }));
  assert.equal((await holdfast({}, 'verify', proof, forged, '--trust', trust)).code, 1);
});

needs('python3').test('the verifier in Python verifies every sign-off, too', async () => {
  const cwd = join(import.meta.dirname, '../../verifiers/python');
  for (const { document, proof } of signoffs) {
    const args = ['-B', '-m', 'holdfast_verify', proof, document, '--trust', trust, '--json'];
    const stdout = await new Promise<string>((resolve) => {
      execFile(pathOf('python3'), args, { cwd }, (_error, stdout, stderr) => resolve(stdout || stderr));
    });
    assertHolds(JSON.parse(stdout), proof);
  }
});

needs('chromium').test('the page in the dossier verifies all of it, and asks nobody', async () => {
  const file = join(folder, 'verify.html');
  writeFileSync(file, made.files.get(dossierPaths.page) ?? assert.fail('the dossier has no page'));
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`file://${file}`);
    await page.setInputFiles('#trust', trust);
    await page.setInputFiles('#zip', zip);
    const judged = page.locator(['pass', 'fail', 'incomplete'].map((one) => `[data-verdict=${one}]`).join());
    await judged.waitFor();
    const report = (await page.locator('#report').textContent()) ?? '';
    assert.equal(await judged.getAttribute('data-verdict'), 'pass', report);
    assert.match(report, /4 sign-offs are valid/);
    assert.deepEqual(
      asked.filter((url) => !/^(file|blob|data):/.test(url)),
      [],
    );
  } finally {
    await browser.close();
  }
});

test('the buyer shows that they had exactly this dossier, without either service', async () => {
  const { stdout } = await holdfast({}, 'verify', receipt, zip, '--json');
  const { verdict, steps }: Verified = JSON.parse(stdout);
  // The buyer's chain is for development, so nobody vouches for the time.
  assert.equal(verdict, 'incomplete');
  assert.deepEqual(
    steps.filter(({ status }) => status === 'fail'),
    [],
  );
  assert.equal(steps.find(({ name }) => name === 'digest')?.status, 'pass');
});
