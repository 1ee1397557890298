/** Timestamp authorities beside a whole service: a real one by openssl, and one that is away under load. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { timestampsCheck } from '../../src/clocks/timestamps.check.ts';
import { anchorOf } from '../../src/clocks/token-files.ts';
import { openDatabase } from '../../src/db/database.ts';
import { readTrustAnchors } from '../../src/proof/rfc3161/certificates.ts';
import { judgeTimestamp } from '../../src/proof/rfc3161/judge.ts';
import { type CheckReport, runEach } from '../../src/runtime/check.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { command } from '../support/service/commands.ts';
import { createTestDatabase, withClient } from '../support/service/database.ts';
import { serve, waitUntil } from '../support/service/process.ts';
import { callerAt, type Service, startService } from '../support/service/service.ts';
import { startOpensslAuthority } from '../support/timestamps/openssl-authority.ts';
import { pem } from '../support/timestamps/test-authority.ts';
import { startTimestampServer } from '../support/timestamps/timestamp-server.ts';

const platform = '/api-v1/platform';
const longMs = 60_000;
/** An authority that has failed for long is asked again after five minutes. */
const patientMs = 400_000;
let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-timestamps-'));
});
after(() => rm(dir, { recursive: true, force: true }));

async function startStamped(authority: string, rootPem: string): Promise<Service & { rootsFile: string }> {
  const rootsFile = join(dir, 'roots.pem');
  await writeFile(rootsFile, rootPem);
  const service = await startService({
    chain: true,
    env: {
      HOLDFAST_TSA_URLS: authority,
      HOLDFAST_TSA_ROOTS: rootsFile,
      HOLDFAST_TSA_MAX_PER_HOUR: '3600',
    },
  });
  return { ...service, rootsFile };
}

async function newVault({ call }: Pick<Service, 'call'>): Promise<string> {
  return (await call('POST', `${platform}/vaults`, { body: { name: 'v' } })).json.address;
}

async function newRecord({ call }: Pick<Service, 'call'>, vaultAddress: string, n = 1): Promise<string> {
  const { status, json, text } = await call('POST', `${platform}/records`, {
    body: { vaultAddress, data: { n } },
  });
  assert.equal(status, 202, text);
  return json.id;
}

async function metricsOf({ call }: Service): Promise<Map<string, number>> {
  const { text } = await call('GET', '/metrics', { key: null });
  return new Map(
    text
      .split('\n')
      .filter((line) => /^holdfast_(timestamp|opentimestamps)/.test(line))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

async function fsck({ databaseUrl, config }: Service): Promise<CheckReport> {
  const database = openDatabase({ connection: () => ({ connectionString: databaseUrl }), onError() {} });
  try {
    const check = timestampsCheck({ db: database.db, clocks: config.clocks });
    const [report] = await runEach([check], { settleMs: 200 });
    return report as CheckReport;
  } finally {
    await database.close();
  }
}

const unstamped = async ({ sql }: Service) =>
  (await sql('select count(*)::int as n from anchor_batches where not stamped')).rows[0].n as number;

needs('openssl').test(
  'batches are stamped by the authority of the documentation; the tokens pass here and by openssl',
  async () => {
    const home = await mkdtemp(join(dir, 'openssl-'));
    const authority = await startOpensslAuthority(home);
    const service = await startStamped(authority.url, authority.rootPem);
    try {
      await newRecord(service, await newVault(service));
      await waitUntil(async () => (await service.sql('select id from timestamps')).rows.length > 0, longMs);
      const { rows } = await service.sql(
        `select t.proof, t.valid_until, b.root,
         array(select bytes from timestamp_files where sha256 = any(t.certificate_hashes)) as certificates,
         array(select bytes from timestamp_files where sha256 = any(t.crl_hashes)) as crls
       from timestamps t join anchor_batches b on b.id = t.batch_id`,
      );
      const [{ proof: token, certificates, crls, root, valid_until: validUntil }] = rows;
      const judged = await judgeTimestamp(anchorOf({ token, certificates, crls }), {
        imprint: createHash('sha256').update(root).digest(),
        trust: { roots: readTrustAnchors(authority.rootPem), policies: [] },
        at: Date.now() + 1_000,
      });
      assert.equal(judged.status, 'pass');
      await writeFile(join(home, 'token.tst'), token);
      await writeFile(join(home, 'root.bin'), root);
      const verify = [
        'ts',
        '-verify',
        '-token_in',
        '-in',
        'token.tst',
        '-data',
        'root.bin',
        '-CAfile',
        'root.pem',
      ];
      assert.match(String(execFileSync(pathOf('openssl'), verify, { cwd: home, stdio: 'pipe' })), /OK/);

      const { host } = new URL(authority.url);
      const { json } = await service.call('GET', `${platform}/stats`);
      assert.deepEqual(Object.keys(json.clocks), ['authorities', 'openTimestamps']);
      const [shown] = json.clocks.authorities;
      assert.deepEqual([shown.name, shown.awaySince, json.clocks.openTimestamps], [host, null, null]);
      assert.ok(Date.parse(shown.lastTokenAt) > Date.now() - 60_000);
      const figures = await metricsOf(service);
      assert.ok((figures.get(`holdfast_timestamp_tokens_total{authority="${host}"}`) ?? 0) >= 1);
      assert.equal(figures.get(`holdfast_timestamp_failures_total{authority="${host}"}`), 0);
      assert.ok((figures.get(`holdfast_timestamp_last_token_seconds{authority="${host}"}`) ?? 99) < 60);
      assert.equal(
        figures.get('holdfast_timestamp_first_certificate_end_seconds'),
        validUntil.getTime() / 1000,
      );
      assert.equal(figures.has('holdfast_opentimestamps_pending'), false);

      const told = await command({}, 'timestamps', 'test', authority.url, '--roots', service.rootsFile);
      assert.equal(told.code, 0, told.stderr);
      assert.match(told.stdout, /^Certificates +passed .*CN=Example Root, which is in .*roots\.pem/m);
      const distrusted = await command({}, 'timestamps', 'test', authority.url, '--json');
      assert.equal(distrusted.code, 1);
      const { passed, rules, token: none } = JSON.parse(distrusted.stdout);
      assert.deepEqual(
        [passed, rules.at(-1).rule, rules.at(-1).outcome, none],
        [false, 'path', 'fail', null],
      );
    } finally {
      await service.close();
      await authority.close();
    }
  },
);

test('an authority that is away refuses no create and delays no confirmation, and misses nothing', async () => {
  const server = await startTimestampServer();
  const service = await startStamped(server.url, pem(server.authority.root.certificate));
  try {
    const vault = await newVault(service);
    const present = await load(service, vault);
    await waitUntil(async () => (await service.sql('select id from timestamps')).rows.length > 0, longMs);
    server.mood = 'slow';
    server.delayMs = 20_000;
    const slow = await load(service, vault);
    await server.closeDoor();
    const away = await load(service, vault);
    assert.equal((await service.call('GET', '/readyz', { key: null })).status, 200);
    // On a busy machine everything varies; an authority that is waited for would cost its 15 s.
    for (const p95 of [slow, away]) assert.ok(p95 < 2 * present + 2_000, `${p95} ms, with it ${present} ms`);
    await waitUntil(async () => {
      const { json } = await service.call('GET', `${platform}/stats`);
      return json.clocks.authorities[0].awaySince !== null;
    }, longMs);
    assert.match((await fsck(service)).notes?.[0] ?? '', /^No timestamp authority vouches yet for \d+ batch/);

    server.mood = 'granting';
    await server.reopen();
    await waitUntil(async () => {
      await newRecord(service, vault);
      return (await unstamped(service)) === 0;
    }, patientMs);
    const { rows } = await service.sql(
      `select b.id, b.root, e.sha256 from anchor_batches b
       left join lateral (
         select e.sha256 from evidence e join timestamps t on t.batch_id = e.head_batch_id where e.root_batch_id = b.id limit 1
       ) as e on true
       where not exists (select from timestamps t where t.batch_id = b.id)`,
    );
    assert.ok(rows.length > 0, 'some were missed');
    for (const { id, root, sha256 } of rows) {
      assert.deepEqual(sha256, createHash('sha256').update(root).digest(), `batch ${id}`);
    }
    const report = await fsck(service);
    assert.deepEqual(report.findings, []);
  } finally {
    await service.close();
    await server.close();
  }
});

test('a service that is killed while a token is on its way asks once more, and one token counts', async () => {
  const server = await startTimestampServer();
  const database = await createTestDatabase();
  const home = await mkdtemp(join(dir, 'killed-'));
  const rootsFile = join(home, 'roots.pem');
  await writeFile(rootsFile, pem(server.authority.root.certificate));
  const settings = {
    DATABASE_URL: database.url,
    HOLDFAST_DATA_DIR: home,
    PORT: '0',
    HOLDFAST_TSA_URLS: server.url,
    HOLDFAST_TSA_ROOTS: rootsFile,
    HOLDFAST_TSA_MAX_PER_HOUR: '3600',
  };
  const ask = (text: string) =>
    withClient({ connectionString: database.url }, async (client) => (await client.query(text)).rows);
  let node = await serve(settings);
  try {
    const key = (await readFile(join(home, 'first-key.txt'), 'utf8')).trim();
    const service = { call: callerAt(node.url, key) };
    server.mood = 'slow';
    server.delayMs = 1_000;
    await newRecord(service, await newVault(service));
    await waitUntil(() => server.requests.length > 0, longMs);
    node.child.kill('SIGKILL');
    assert.equal(await node.exited, 'SIGKILL');
    server.mood = 'granting';
    node = await serve(settings);
    await waitUntil(async () => {
      const batches = await ask('select stamped from anchor_batches');
      return batches.every(({ stamped }) => stamped);
    }, longMs);
    const tokens = await ask('select batch_id from timestamps');
    assert.equal(new Set(tokens.map(({ batch_id }) => batch_id)).size, tokens.length);
    assert.ok(server.requests.length > tokens.length, 'the first request was in vain');
  } finally {
    node.child.kill('SIGTERM');
    await node.exited;
    await server.close();
    await database.drop();
  }
});

test('while nothing is anchored, a head alone covers what has no token; it is anchored, found on the chain and in order', async () => {
  const server = await startTimestampServer();
  const service = await startStamped(server.url, pem(server.authority.root.certificate));
  const batches = async () =>
    (await service.sql('select id, size, stamped, inclusion_header, status from anchor_batches order by id'))
      .rows;
  try {
    const vault = await newVault(service);
    for (let made = 1; made <= 5; made += 1) {
      await newRecord(service, vault, made);
      await waitUntil(
        async () => (await batches()).length >= made && (await unstamped(service)) === 0,
        longMs,
      );
    }
    const before = (await batches()).length;
    await service.sql(
      `update anchor_batches set stamped = false, created_at = created_at - interval '1 hour'
       where id < (select max(id) from anchor_batches)`,
    );
    await service.sql(`update anchor_batches set created_at = created_at - interval '1 hour' where stamped`);
    const alone = await waitUntil(async () => {
      const last = (await batches()).at(-1);
      return last?.size === 0 && last.stamped && last.inclusion_header !== null ? last : null;
    }, 2 * longMs);
    assert.match(alone.status, /^(confirmed|finalized)$/);
    assert.deepEqual([(await batches()).length, await unstamped(service)], [before + 1, 0]);
    const settings = {
      DATABASE_URL: service.databaseUrl,
      HOLDFAST_DATA_DIR: service.config.dataDir,
      HOLDFAST_TSA_ROOTS: service.rootsFile,
    };
    const checked = await command(settings, 'fsck', '--json');
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  } finally {
    await service.close();
    await server.close();
  }
});

/** Creates records for some seconds; returns the 95th percentile of the milliseconds until they were confirmed. */
async function load(service: Service, vault: string): Promise<number> {
  const ids: string[] = [];
  for (let round = 0; round < 20; round += 1) {
    ids.push(...(await Promise.all([0, 1, 2, 3].map((n) => newRecord(service, vault, n)))));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { rows } = await waitUntil(async () => {
    const found = await service.sql(
      `select extract(epoch from b.confirmed_at - l.created_at)::float8 * 1000 as ms
       from placed_leaves l join anchor_batches b on b.id = l.batch_id
       where l.subject_id = any($1) and b.confirmed_at is not null order by 1`,
      [ids],
    );
    return found.rows.length === ids.length ? found : null;
  }, longMs);
  return rows[Math.floor(rows.length * 0.95)].ms;
}
