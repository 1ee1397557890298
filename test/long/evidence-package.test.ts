/** Evidence packages through the whole service and the command line, checked with the tools that their README names. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import type { Proof } from '../../src/proof/verify/proof.ts';
import { readTrust } from '../../src/proof/verify/trust.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { readPdf } from '../support/clients/read-pdf.ts';
import { type UnpackedPackage, unpackPackage } from '../support/clients/unpacked-package.ts';
import { sendForm } from '../support/clients/upload.ts';
import { putRootIntoBitcoin, stampRoot } from '../support/fixtures/clocked-proof.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { needs } from '../support/programs/needs.ts';
import { command } from '../support/service/commands.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';
import { createTestAuthority, pem, type TestAuthority } from '../support/timestamps/test-authority.ts';

const platform = '/api-v1/platform';
const content = 'Signed by both parties.\n';

let dir: string;
let service: Service;
let authority: TestAuthority;
let vaultAddress: string;
let fileId: string;
let recordId: string;
const unpacked: UnpackedPackage[] = [];

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-evidence-'));
  authority = createTestAuthority({ kind: 'rsa', around: Date.now() });
  const roots = join(dir, 'roots.pem');
  await writeFile(roots, pem(authority.root.certificate));
  service = await startService({
    chain: true,
    runLoops: false,
    env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200', HOLDFAST_TSA_ROOTS: roots },
  });
  vaultAddress = (await service.call('POST', `${platform}/vaults`, { body: { name: 'Deeds' } })).json.address;
  fileId = await upload('Договор 1; rm -rf.txt', content);
  const body = { vaultAddress, data: { b: 'ü', a: [1, 2.5] } };
  recordId = (await service.call('POST', `${platform}/records`, { body })).json.id;
});
after(async () => {
  await Promise.all(unpacked.map((folder) => folder.close()));
  await service?.close();
  await rm(dir, { recursive: true, force: true });
});

async function upload(name: string, bytes: string): Promise<string> {
  const parts: [string, string | File][] = [
    ['vaultAddress', vaultAddress],
    ['file', new File([bytes], name)],
  ];
  const { json, status, text } = await sendForm(service, `${platform}/files`, { parts });
  assert.equal(status, 202, text);
  return json.id;
}

async function confirmed(path: string): Promise<void> {
  await waitUntil(async () => {
    const { json } = await service.call('GET', `${platform}/${path}`);
    return ['confirmed', 'finalized'].includes(json.status);
  }, 60_000);
}

/** As the loops of the clocks would have stored them. */
async function stampBatchOf(subjectId: string): Promise<void> {
  const { rows } = await service.sql(
    'select b.id, b.root from placed_leaves l join anchor_batches b on b.id = l.batch_id where l.subject_id = $1',
    [subjectId],
  );
  const [{ id, root }] = rows as [{ id: number; root: Buffer }];
  const hex = `0x${root.toString('hex')}` as const;
  const token = Buffer.from(stampRoot(authority, hex).token, 'base64');
  const until = new Date(Date.now() + 365 * 86_400_000);
  await service.sql(
    `insert into timestamps (batch_id, kind, authority, proof, complete, vouched_at, valid_until)
     values ($1, 'rfc3161', 'https://tsa.example/', $2, true, now(), $3)`,
    [id, token, until],
  );
  const { anchor, block } = putRootIntoBitcoin(hex, Math.floor(Date.now() / 1000) * 1000);
  await service.sql(
    `insert into timestamps (batch_id, kind, authority, proof, heights, headers, complete, vouched_at)
     values ($1, 'opentimestamps', 'calendars', $2, $3, $4, true, now())`,
    [id, Buffer.from(anchor.proof, 'base64'), [block.height], [Buffer.from(block.header.slice(2), 'hex')]],
  );
}

async function fetchPackage(path: string): Promise<{ response: Response; folder: UnpackedPackage }> {
  const response = await fetch(`${service.url}${platform}/${path}`, {
    headers: { 'x-api-key': service.key },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  assert.equal(response.status, 200, bytes.toString());
  const folder = await unpackPackage(bytes);
  unpacked.push(folder);
  return { response, folder };
}

/** Each must succeed; returns what they print. */
async function runAll(folder: UnpackedPackage): Promise<Map<string, string>> {
  const printed = new Map<string, string>();
  for (const line of folder.commands) {
    const { code, output } = await folder.run(line);
    assert.equal(code, 0, `${line}\n${output}`);
    printed.set(line, output);
  }
  return printed;
}

function outputOf(printed: Map<string, string>, start: string): string {
  return [...printed].find(([line]) => line.startsWith(start))?.[1] ?? '';
}

test('there is no package before the confirmation, in another workspace, or without the scope', async () => {
  const path = `${platform}/files/${fileId}/evidence`;
  assertError(await service.call('GET', path), 'conflict');
  assertError(await service.call('GET', `${platform}/records/${recordId}/evidence`), 'conflict');
  assertError(await service.call('GET', `${path}?version=9`), 'resource_not_found', /no version 9/);
  assertError(
    await service.call('GET', `${platform}/records/${recordId}/evidence?version=9`),
    'resource_not_found',
    /no version 9/,
  );
  assertError(await service.call('GET', `${platform}/records/rec_none/evidence`), 'resource_not_found');
  const stranger = await service.makeKey({ newWorkspace: true });
  assertError(await service.call('GET', path, { key: stranger }), 'resource_not_found');
  const unfit = await service.makeKey({ scopes: ['records:read'] });
  assertError(await service.call('GET', path, { key: unfit }), 'forbidden');
});

test('the package of a file has everything', async () => {
  service.app.loops.start();
  await confirmed(`files/${fileId}`);
  await stampBatchOf(fileId);
  const { response, folder } = await fetchPackage(`files/${fileId}/evidence`);
  assert.equal(response.headers.get('content-type'), 'application/zip');
  assert.equal(
    response.headers.get('content-disposition'),
    `attachment; filename="evidence-${fileId}-v1.zip"`,
  );
  assert.equal(response.headers.get('x-evidence'), 'development');
  assert.deepEqual(folder.names, [
    ...['README.txt', 'declaration.txt', 'proof.json', 'root.bin'],
    ...['token-1.tst', 'token-1-root.pem', 'token-1-certificates.pem'],
    ...['timestamp-1.ots', 'timestamp-1-block-939000.header'],
    ...['trust.txt', 'trust.json', 'certificate.pdf', 'content/Договор_1_rm_-rf.txt'],
  ]);
  const proof: Proof = JSON.parse((await folder.read('proof.json')).toString());
  const trust = readTrust(JSON.parse((await folder.read('trust.json')).toString()));
  const registry = { address: registryAddress, codeHash: registryCodeHash };
  const judged = await verifyProof(proof, { content: Buffer.from(content), trust, registry });
  assert.equal(judged.verdict, 'pass', JSON.stringify(judged.steps));

  const { text, pages } = readPdf(await folder.read('certificate.pdf'));
  for (const page of pages) {
    assert.match(page.join('\n'), /DEVELOPMENT EVIDENCE: VOUCHED FOR BY CN=Test Root \([0-9a-f]{16}…\),/);
  }
  assert.match(
    text,
    /according to the timestamp authority CN=Test TSA, whom the operator of this service chose/,
  );
  assert.doesNotMatch(text, /Do not rely on this document/);
});

test('the package of a record has its data and salt', async () => {
  await confirmed(`records/${recordId}`);
  const { folder } = await fetchPackage(`records/${recordId}/evidence?version=1`);
  assert.ok(!folder.names.includes('certificate.pdf'));
  assert.equal((await folder.read('content/record.json')).toString(), '{"a":[1,2.5],"b":"ü"}');
});

needs('openssl', 'python3-opentimestamps').test(
  'every command of a README succeeds, and shows the digest',
  async () => {
    const ofFile = await fetchPackage(`files/${fileId}/evidence`);
    const printed = await runAll(ofFile.folder);
    assert.ok(outputOf(printed, 'sha256sum ').startsWith(createHash('sha256').update(content).digest('hex')));
    assert.match(outputOf(printed, 'openssl ts -verify'), /Verification: OK/);

    const ofRecord = await fetchPackage(`records/${recordId}/evidence?version=1`);
    const { content: salted }: Proof = JSON.parse((await ofRecord.folder.read('proof.json')).toString());
    assert.ok(outputOf(await runAll(ofRecord.folder), 'cat ').startsWith(salted.digest.slice(2)));
  },
);

test('content that is not stored, or erased, is named as missing with its digest', async () => {
  const contentHash = `0x${createHash('sha256').update('kept elsewhere').digest('hex')}`;
  const body = { vaultAddress, name: 'x.txt', contentHash };
  const { id } = (await service.call('POST', `${platform}/files`, { body })).json;
  const erased = await upload('gone.txt', 'soon gone');
  await confirmed(`files/${id}`);
  await confirmed(`files/${erased}`);
  assert.equal((await service.call('DELETE', `${platform}/files/${erased}/content`)).status, 204);
  const only = (await fetchPackage(`files/${id}/evidence`)).folder;
  assert.match(only.readme, /has no content to download: only its hash was given/);
  assert.ok(only.readme.includes(`  ${contentHash.slice(2)}\r\n`));
  const gone = (await fetchPackage(`files/${erased}/evidence`)).folder;
  assert.match(gone.readme, /was erased/);
  assert.ok(!gone.names.some((name) => name.startsWith('content/')));
});

test('the command line writes the same package beside the running service, and replaces nothing', async () => {
  const settings = {
    DATABASE_URL: service.databaseUrl,
    HOLDFAST_DATA_DIR: service.config.dataDir,
    HOLDFAST_TSA_ROOTS: join(dir, 'roots.pem'),
    HOLDFAST_PUBLIC_URL: 'https://evidence.example.com',
  };
  const run = (...args: string[]) => command(settings, 'evidence', 'export', ...args);
  const out = join(dir, 'evidence.zip');
  const { code, stdout, stderr } = await run(fileId, '--out', out, '--version', '1', '--json');
  assert.deepEqual([code, stderr], [0, ''], stdout);
  const told = JSON.parse(stdout);
  const archive = await readFile(out);
  assert.deepEqual(told, { file: out, bytes: archive.length, kind: 'file', id: fileId, version: 1 });
  const folder = await unpackPackage(archive);
  unpacked.push(folder);
  assert.match(
    readPdf(await folder.read('certificate.pdf')).text,
    /https:\/\/evidence\.example\.com\/verify/,
  );

  const again = await run(fileId, '--out', out);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /evidence\.zip already exists\./);
  assert.ok((await readFile(out)).equals(archive));
  for (const [args, said] of [
    [['fil_none', '--out', join(dir, 'none.zip')], /There is no file fil_none/],
    [['vlt_1', '--out', join(dir, 'none.zip')], /is neither a file nor a record/],
    [[fileId, '--out', join(dir, 'none.zip'), '--version', '0'], /Give the number of a version/],
    [[fileId], /required option '--out <file>'/],
  ] as const) {
    const refused = await run(...args);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, said);
  }
  await assert.rejects(readFile(join(dir, 'none.zip')));
  const record = await run(recordId, '--kind', 'record', '--out', join(dir, 'record.zip'));
  assert.match(record.stdout, /^Wrote version 1 of the record rec_\w+ to .*record\.zip \(\d+ bytes\)\./);
});
