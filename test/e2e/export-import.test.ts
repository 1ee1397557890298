/** `holdfast import files` and `holdfast export`: odd names, what cannot be read, and a workspace that moves into another. */
// tier: process
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { command } from '../support/service/commands.ts';
import { type Settings, waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let folder: string;
let settings: Settings;

before(async () => {
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
});
after(() => service?.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-export-'));
  settings = {
    XDG_CONFIG_HOME: folder,
    HOLDFAST_DATA_DIR: join(folder, 'none'),
    HOLDFAST_URL: service.url,
    HOLDFAST_API_KEY: service.key,
  };
});
afterEach(() => rm(folder, { recursive: true }));

const api = '/api-v1/platform';

async function makeVault(key: string): Promise<string> {
  const made = await service.call('POST', `${api}/vaults`, { key, body: { name: 'v' } });
  return made.json.address;
}

async function filesIn(vault: string, key: string): Promise<{ id: string; name: string; size: number }[]> {
  return (await service.call('GET', `${api}/files?limit=100&vaultAddress=${vault}`, { key })).json;
}

const linesOf = async (path: string) =>
  (await readFile(path, 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const long = `${'ä'.repeat(120)}.pdf`;
const contents: Record<string, string> = {
  'plain.txt': 'plain',
  'empty.bin': '',
  'with space & ümlaut 漢字.md': '# text',
  'inside/deep/plain.txt': 'another',
  [long]: 'long',
  'quo"te;.csv': 'a,b\n',
};

async function fillFolder(): Promise<string> {
  const input = join(folder, 'input');
  await mkdir(join(input, 'inside/deep'), { recursive: true });
  for (const [path, content] of Object.entries(contents)) await writeFile(join(input, path), content);
  await writeFile(join(folder, 'secret.txt'), 'outside');
  await symlink(join(folder, 'secret.txt'), join(input, 'link.txt'));
  await symlink(folder, join(input, 'link-to-folder'));
  await writeFile(join(input, '.hidden'), 'hidden');
  await writeFile(join(input, 'turned\u202efdp.exe'), 'x');
  await writeFile(Buffer.concat([Buffer.from(`${input}/latin-`), Buffer.from([0xe4])]), 'x');
  execFileSync('mkfifo', [join(input, 'pipe')]);
  return input;
}

test('the files of a folder go in with their names, and links, pipes and bad names stay out', async () => {
  const input = await fillFolder();
  const vault = await makeVault(service.key);
  const report = join(folder, 'report.jsonl');
  const args = ['import', 'files', input, '--vault', vault, '--report', report];
  const tried = await command(settings, ...args, '--dry-run');
  assert.match(tried.stdout, /^6 files are valid, 2 refused, 4 skipped\. Nothing was sent\.\n$/);
  assert.deepEqual(await filesIn(vault, service.key), []);

  const done = await command(settings, ...args);
  assert.equal(done.code, 1);
  assert.equal(done.stdout, '6 files are imported, 2 refused, 4 skipped.\n', done.stderr);
  const stored = await filesIn(vault, service.key);
  assert.deepEqual(
    stored.map(({ name }) => name).sort(),
    Object.keys(contents)
      .map((path) => path.split('/').at(-1) ?? '')
      .sort(),
  );
  const told = await linesOf(report);
  for (const { path, id, status } of told.filter((row) => row.status === 'created')) {
    assert.equal(status, 'created');
    const content = await service.call('GET', `${api}/files/${id}/content`, { key: service.key });
    assert.equal(content.text, contents[path], path);
  }
  const others = new Map(told.map(({ path, status, error }) => [path, `${status}: ${error}`]));
  assert.match(others.get('link.txt') ?? '', /skipped: It is a link/);
  assert.match(others.get('link-to-folder') ?? '', /skipped: It is a link/);
  assert.match(others.get('pipe') ?? '', /skipped: It is no regular file/);
  assert.match(others.get('.hidden') ?? '', /skipped: It is hidden/);
  assert.match(others.get('turned\u202efdp.exe') ?? '', /refused: .*text direction/);
  assert.match(
    others.get('latin-ä') ?? others.get('latin-\u00e4') ?? '',
    /refused: The name is not valid UTF-8/,
  );

  // Again, with one file changed and one new: only the new one is sent.
  await writeFile(join(input, 'plain.txt'), 'changed');
  await writeFile(join(input, 'new.txt'), 'new');
  const again = await command(settings, ...args);
  assert.match(again.stderr, /plain\.txt: It has changed since it was imported as fil_/);
  assert.equal(again.stdout, '6 files are imported, 3 refused, 4 skipped.\n');
  assert.equal((await filesIn(vault, service.key)).length, 7);
});

test('an exported workspace goes into another one, and its proofs hold offline', async () => {
  const key = await service.makeKey({ newWorkspace: true });
  settings = { ...settings, HOLDFAST_API_KEY: key };
  const vault = await makeVault(key);
  const records = join(folder, 'records.jsonl');
  const lines = Array.from({ length: 30 }, (_, at) => ({
    data: { at, text: `ü ${at}` },
    externalId: `e-${at}`,
  }));
  await writeFile(records, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  assert.equal((await command(settings, 'import', 'records', records, '--vault', vault)).code, 0);
  const input = join(folder, 'input');
  for (const inside of ['a', 'b']) {
    await mkdir(join(input, inside), { recursive: true });
    await writeFile(join(input, inside, 'Report.txt'), `of ${inside}`);
  }
  await writeFile(join(input, 'b/report.TXT'), 'in other case');
  assert.equal((await command(settings, 'import', 'files', input, '--vault', vault)).code, 0);
  const listed = await service.call('GET', `${api}/records?limit=100`, { key });
  const [newest, erased] = listed.json;
  await service.call('POST', `${api}/records/${newest.id}/versions`, {
    key,
    body: { data: { second: true } },
  });
  await service.call('DELETE', `${api}/records/${erased.id}/data`, { key });
  const hashed = { vaultAddress: vault, name: 'hash-only.txt', contentHash: `0x${'ab'.repeat(32)}` };
  await service.call('POST', `${api}/files`, { key, body: hashed });
  await waitUntil(async () => {
    const [all, files] = await Promise.all([
      service.call('GET', `${api}/records?limit=100`, { key }),
      filesIn(vault, key),
    ]);
    return [...all.json, ...files].every(({ status }) => /confirmed|finalized/.test(status));
  });

  const out = join(folder, 'out');
  const done = await command(settings, 'export', '--out', out, '--json');
  assert.equal(done.code, 0, done.stderr);
  const { records: many, files, complete } = JSON.parse(done.stdout);
  assert.deepEqual([many, files, complete], [30, 4, true]);
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: out });
  const sums = createHash('sha256')
    .update(await readFile(join(out, 'SHA256SUMS')))
    .digest('hex');
  assert.equal(JSON.parse(await readFile(join(out, 'manifest.json'), 'utf8')).sha256sums, sums);
  const missing = await linesOf(join(out, 'missing.jsonl'));
  assert.deepEqual(missing.map(({ what, reason }) => `${what}: ${reason}`).sort(), [
    'content: Only its hash was given.',
    'data: It was erased.',
  ]);
  const names = (await readdir(join(out, 'files'))).map((name) => name.toLowerCase());
  assert.equal(new Set(names).size, 3);
  assert.equal((await linesOf(join(out, 'record-versions.jsonl'))).length, 1);
  assert.match((await command(settings, 'export', '--out', out)).stderr, /is complete/);

  // Offline: nothing of the service is asked, and no data directory is there.
  const [file] = (await linesOf(join(out, 'files.jsonl'))).filter(({ path }) => path);
  const proof = join(out, `proofs/${file.id}.v1.json`);
  const checked = await command(
    { XDG_CONFIG_HOME: folder },
    ...['verify', proof, join(out, file.path), '--json'],
  );
  const { verdict, steps } = JSON.parse(checked.stdout);
  assert.notEqual(verdict, 'FAIL', checked.stdout);
  assert.ok(JSON.stringify(steps).includes('digest'), checked.stdout);
  await writeFile(join(folder, 'other.txt'), 'something else');
  const wrong = await command({ XDG_CONFIG_HOME: folder }, 'verify', proof, join(folder, 'other.txt'));
  assert.equal(wrong.code, 1);

  // As a kill leaves it: the last line is cut off, and there is no manifest.
  await rm(join(out, 'manifest.json'));
  const before = await linesOf(join(out, 'records.jsonl'));
  const size = (await readFile(join(out, 'records.jsonl'))).length;
  await truncate(join(out, 'records.jsonl'), size - 5);
  await rename(join(out, 'files.jsonl'), join(folder, 'gone.jsonl'));
  const continued = await command(settings, 'export', '--out', out);
  assert.equal(continued.code, 0, continued.stderr);
  // What was confirmed may be final by now.
  const withoutStatus = (lines: { status: string }[]) => lines.map(({ status: _, ...rest }) => rest);
  assert.deepEqual(withoutStatus(await linesOf(join(out, 'records.jsonl'))), withoutStatus(before));
  assert.equal((await readdir(join(out, 'files'))).length, 3);

  const otherKey = await service.makeKey({ newWorkspace: true });
  settings = { ...settings, HOLDFAST_API_KEY: otherKey };
  const other = await makeVault(otherKey);
  const back = await command(settings, 'import', 'records', join(out, 'records.jsonl'), '--vault', other);
  assert.equal(back.stdout, '29 records are imported, 0 refused, 1 skipped.\n', back.stderr);
  assert.equal(back.code, 0);
  assert.equal((await command(settings, 'import', 'files', join(out, 'files'), '--vault', other)).code, 0);
  const dataIn = async (which: string) => {
    const all = await service.call('GET', `${api}/records?limit=100`, { key: which });
    const read = await Promise.all(
      all.json.map(({ id }: { id: string }) => service.call('GET', `${api}/records/${id}`, { key: which })),
    );
    return read
      .filter(({ json }) => !json.erased)
      .map(({ json }) => JSON.stringify([json.externalId, json.data]))
      .sort();
  };
  assert.deepEqual(await dataIn(otherKey), await dataIn(key));
  const hashes = async (which: string, address: string) =>
    (await filesIn(address, which))
      .filter(({ size }) => size !== null)
      .map((one) => (one as unknown as { contentHash: string }).contentHash)
      .sort();
  assert.deepEqual(await hashes(otherKey, other), await hashes(key, vault));

  // A key without a scope: what it may not read is listed.
  const narrow = await service.makeKey({ scopes: ['files:read'] });
  const little = join(folder, 'little');
  const partly = await command({ ...settings, HOLDFAST_API_KEY: narrow }, 'export', '--out', little);
  assert.equal(partly.code, 0, partly.stderr);
  const reasons = await linesOf(join(little, 'missing.jsonl'));
  assert.ok(reasons.some(({ what, reason }) => what === 'records' && /records:read/.test(reason)));
  assert.match((await command(settings, 'export', '--out', folder)).stderr, /is not empty/);
});
