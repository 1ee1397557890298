/** `holdfast import records` as a real process: what goes in, what is refused, and what an interruption leaves. */
// tier: process
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { command } from '../support/service/commands.ts';
import type { Settings } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let folder: string;
let settings: Settings;
let vault: string;

before(async () => {
  service = await startService();
});
after(() => service.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-import-'));
  settings = {
    XDG_CONFIG_HOME: folder,
    HOLDFAST_DATA_DIR: join(folder, 'none'),
    HOLDFAST_URL: service.url,
    HOLDFAST_API_KEY: service.key,
  };
  vault = await makeVault();
});
afterEach(() => rm(folder, { recursive: true }));

async function makeVault(): Promise<string> {
  const body = { name: 'v' };
  return (await service.call('POST', '/api-v1/platform/vaults', { key: service.key, body })).json.address;
}

async function input(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const run = (file: string, ...args: string[]) =>
  command(settings, 'import', 'records', file, '--vault', vault, ...args);

/** Newest first. */
async function stored(): Promise<{ id: string; externalId: string }[]> {
  const all: { id: string; externalId: string }[] = [];
  for (let cursor = ''; ; ) {
    const path = `/api-v1/platform/records?limit=100&vaultAddress=${vault}${cursor && `&cursor=${cursor}`}`;
    const { json, headers } = await service.call('GET', path, { key: service.key });
    all.push(...json);
    const next = headers.get('x-next-cursor');
    if (!next) return all;
    cursor = encodeURIComponent(next);
  }
}

async function dataOf(id: string): Promise<unknown> {
  return (await service.call('GET', `/api-v1/platform/records/${id}`, { key: service.key })).json.data;
}

async function reportOf(path: string) {
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

test('columns of a CSV become records by their names, or as they are mapped', async () => {
  const csv = [
    '\uFEFFserial,note,pallets,sealed,extra,unused',
    'A-1,"two lines,\r\nand a ""quote""",12,true,"{""x"":[1,null]}",y',
    '',
    'Ä-2,,,FALSE,,y',
  ].join('\r\n');
  const maps = [
    ...['--map', 'pallets=load.pallets:number', '--map', 'sealed=load.sealed:boolean'],
    ...['--map', 'extra=:json', '--map', 'unused='],
  ];
  const report = join(folder, 'report.jsonl');
  const file = await input('notes.csv', csv);
  const done = await run(file, ...maps, '--external-id', 'serial', '--report', report, '--json');
  assert.equal(done.code, 0, done.stderr);
  assert.equal(done.stderr, '');
  const { created, refused, complete } = JSON.parse(done.stdout);
  assert.deepEqual([created, refused, complete], [2, 0, true]);
  const [first, second] = await reportOf(report);
  assert.deepEqual([first.line, second.line, second.status, second.error], [2, 5, 'created', null]);
  assert.deepEqual(await dataOf(first.id), {
    serial: 'A-1',
    note: 'two lines,\r\nand a "quote"',
    load: { pallets: 12, sealed: true },
    extra: { x: [1, null] },
  });
  assert.deepEqual(await dataOf(second.id), { serial: 'Ä-2', note: '', load: { sealed: false } });
  assert.deepEqual(
    (await stored()).map(({ externalId }) => externalId),
    ['Ä-2', 'A-1'],
  );
});

test('bad rows are refused with their lines, the others go in, and a repeat makes nothing', async () => {
  const long = 'x'.repeat(1_100_000);
  const lines: [string | Buffer, RegExp | null][] = [
    ['{"data":{"a":1},"externalId":"one"}', null],
    ['{"data":{"a":1,"a":2}}', /twice/],
    ['{"data":[1]}', /data is not a JSON object/],
    ['{"data":{"n":9007199254740993}}', /9007199254740993|send it as a string/],
    [Buffer.from([0x7b, 0xff, 0x7d]), /not valid UTF-8/],
    [`{"data":{"a":"${long}"}}`, /too long/],
    ['{"data":{"a":"\\u0000"}}', /NUL/],
    ['{"data":{"__proto__":1}}', /not allowed/],
    ['{"data":{},"other":1}', /has no "other"/],
    ['{"data":{},"externalId":"\u202e"}', /direction of text/],
    ['{"data":{}', /not valid JSON/],
    ['[]', /not a JSON object/],
    ['{"data":{"a":2},"externalId":"last"}', null],
  ];
  const parts = lines.flatMap(([line]) => [Buffer.from(line as string), Buffer.from('\n')]);
  const file = await input('mixed.jsonl', Buffer.concat(parts));
  const report = join(folder, 'report.jsonl');
  const tried = await run(file, '--dry-run', '--report', report);
  assert.equal(tried.code, 1);
  assert.match(tried.stdout, /^2 records are valid, 11 refused\. Nothing was sent\.\n$/);
  assert.deepEqual(await stored(), []);
  assert.ok(!(await readdir(folder)).some((name) => name.endsWith('.holdfast-import')));
  const told = await reportOf(report);
  lines.forEach(([, why], at) => {
    assert.equal(told[at].line, at + 1);
    if (why === null) assert.deepEqual([told[at].status, told[at].error], ['valid', null]);
    else {
      assert.match(told[at].error, why);
      assert.match(tried.stderr, new RegExp(`^Line ${at + 1}: `, 'm'));
    }
  });

  const done = await run(file, '--report', report);
  assert.equal(done.code, 1);
  assert.match(done.stdout, /^2 records are imported, 11 refused\.\n$/);
  const before = await stored();
  assert.deepEqual(
    before.map(({ externalId }) => externalId),
    ['last', 'one'],
  );
  const again = await run(file, '--report', join(folder, 'again.jsonl'));
  assert.equal(again.code, 1);
  assert.deepEqual(await stored(), before);
  assert.deepEqual(await reportOf(join(folder, 'again.jsonl')), await reportOf(report));
  // Also on another machine, which has no journal.
  const elsewhere = await run(file, '--state', join(folder, 'elsewhere'));
  assert.match(elsewhere.stdout, /^2 records are imported, 11 refused\.\n$/);
  assert.deepEqual(await stored(), before);
});

test('a row of CSV with another number of columns, or with a wrong quote, is an error of that row', async () => {
  const file = await input('rows.csv', 'a,b\n1,2\n1\n1,2,3\n1,x"y\n"1"x,2\n"3",4\n"open,5\n6,7\n');
  const done = await run(file, '--report', join(folder, 'report.csv'));
  assert.equal(done.code, 1);
  assert.match(done.stdout, /^2 records are imported, 5 refused\.\n$/);
  const report = await readFile(join(folder, 'report.csv'), 'utf8');
  assert.match(
    report,
    /^line,id,status,error\n2,rec_\w+,created,\n3,,refused,The row has 1 column instead of the 2/,
  );
  for (const line of ['4,,refused', '5,,refused', '6,,refused', '7,rec_', '8,,refused,A quote is opened'])
    assert.ok(report.includes(`\n${line}`), line);
});

test('what cannot be imported at all is said before anything is sent', async () => {
  const file = await input('a.csv', 'serial,note\n1,2\n');
  const deactivated = await makeVault();
  const path = `/api-v1/platform/vaults/${deactivated}/deactivate`;
  await service.call('PATCH', path, { key: service.key });
  const readOnly = await service.makeKey({ scopes: ['records:read'] });
  for (const [args, message, env] of [
    [['--map', 'serail=x'], /no column "serail"\. The columns are: "serial", "note"/],
    [['--map', 'serial=x:date'], /type "date" is none of/],
    [['--map', 'serial=x', '--map', 'note=x.y'], /Two columns lead to "x"/],
    [['--delimiter', ';', '--map', 'serial='], /Is the delimiter another one/],
    [['--vault', '0x12'], /address of a vault/],
    [['--vault', `0x${'1'.repeat(40)}`], /no vault/i],
    [['--vault', deactivated], /is deactivated/],
    [[], /records:write/, { HOLDFAST_API_KEY: readOnly }],
    [[], /API key/, { HOLDFAST_API_KEY: 'hf_live_no' }],
    [[], /cannot be reached \(ECONNREFUSED\)/, { HOLDFAST_URL: 'http://127.0.0.1:2' }],
    [[], /Name a service/, { HOLDFAST_URL: '' }],
  ] as [string[], RegExp, Settings?][]) {
    const vaultArgs = args.includes('--vault') ? [] : ['--vault', vault];
    const refused = await command(
      { ...settings, ...env },
      ...['import', 'records', file, ...vaultArgs, ...args, '--give-up-after', '0'],
    );
    assert.equal(refused.code, 1, args.join(' '));
    assert.match(refused.stderr, message);
  }
  for (const [name, content, message] of [
    ['utf16.csv', Buffer.from('\uFEFFa,b\n', 'utf16le'), /UTF-16/],
    ['empty.csv', '', /The input is empty/],
    ['twice.csv', 'a,a\n', /Two columns are called "a"/],
    ['x.dat', 'a\n', /--format/],
  ] as [string, string | Buffer, RegExp][])
    assert.match((await run(await input(name, content))).stderr, message);
  assert.match((await run(folder, '--format', 'csv')).stderr, /not a regular file/);
  assert.match((await run(join(folder, 'none.csv'))).stderr, /cannot be read/);
  assert.deepEqual(await stored(), []);
});

test('a journal is of one import, and a line that a kill cut off is dropped', async () => {
  const rows = Array.from({ length: 2_500 }, (_, at) => `${at}\n`).join('');
  const file = await input('n.csv', `n\n${rows}`);
  assert.equal((await run(file, '--external-id', 'n')).code, 0);
  const journal = `${file}.holdfast-import`;
  const lines = (await readFile(journal, 'utf8')).split('\n');
  assert.equal(lines.length, 1 + 2 * 3 + 1);
  const before = await stored();
  assert.equal(before.length, 2_500);

  // As after a kill between the answer and its line, and in the middle of that line.
  await truncate(journal, Buffer.byteLength(lines.slice(0, 4).join('\n')) + 100);
  assert.equal((await run(file, '--external-id', 'n', '--report', join(folder, 'r.jsonl'))).code, 0);
  const told = await reportOf(join(folder, 'r.jsonl'));
  assert.deepEqual(told.map(({ id }) => id).sort(), before.map(({ id }) => id).sort());
  assert.equal((await stored()).length, 2_500);

  assert.match((await run(file)).stderr, /of another import: it had another vault, mapping/);
  await appendFile(file, '2500\n');
  assert.match((await run(file, '--external-id', 'n')).stderr, /the input had another content/);
  await writeFile(journal, 'something\n');
  assert.match((await run(file, '--external-id', 'n')).stderr, /is no journal of an import/);
  assert.equal(await readFile(journal, 'utf8'), 'something\n');
});
