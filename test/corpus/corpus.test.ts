/** Every archive of test/corpus, made by the product of its time, is restored by that of today and loses nothing. */
// tier: process
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { type App, createApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { newVisitor } from '../support/clients/browser-session.ts';
import { softPasskey } from '../support/clients/soft-passkey.ts';
import { codeOf } from '../support/clients/totp.ts';
import { command } from '../support/service/commands.ts';
import { createTestDatabase, withClient } from '../support/service/database.ts';
import { longOnly } from '../support/service/long.ts';
import { environment, type Settings, waitUntil } from '../support/service/process.ts';
import { callerAt } from '../support/service/service.ts';
import { assertVerifies, trustOf } from './old-proofs.ts';
import { enterWithPasskey } from './sign-in.ts';
import {
  ask,
  assertHolds,
  downloadedDigest,
  isLog,
  isProof,
  type Person,
  type Signer,
  type Summary,
} from './summary.ts';

const folder = import.meta.dirname;
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.tar'))
  .map((name) => name.slice(0, -'.tar'.length));

function summaryOf(name: string): Summary {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
}

test('there is an archive of every stage', () => {
  assert.ok(names.includes('2026-11-signed-work'));
});

/** As long as the product keeps it at most. */
const retentionDays = 3_650;

function isOlderThanLog({ createdAt }: Summary): boolean {
  return Date.now() - Date.parse(createdAt) > retentionDays * 24 * 60 * 60 * 1000;
}

/** Nobody had a node in the restored place, so nobody is among them. */
const emptied = { webhook_nodes: 0 };

/** Every restore writes its own: what was found in order was so in another place. */
const ownRows = ['clean_checks'];

function expectedRows({ rows }: Summary): Record<string, number> {
  const expected = Object.entries({ ...rows, ...emptied }).filter(([table]) => !ownRows.includes(table));
  return Object.fromEntries(expected);
}

const archives = names
  .map((name) => ({ name, summary: summaryOf(name) }))
  .sort((one, other) => other.summary.createdAt.localeCompare(one.summary.createdAt));

for (const [place, { name, summary }] of archives.entries()) {
  // Grants, keys and files had ended when it was made, and have not where it is still to be made.
  const early = Date.now() < Date.parse(summary.createdAt) && 'the clock here is before that of the archive';

  // The newest every time.
  const skip = early || (place > 0 && longOnly);
  test(`${name} is restored`, { skip }, async (t) => {
    const fixture = await restore(name, summary);
    t.after(() => fixture.close());

    await t.test('with every row', async () => {
      const expected = expectedRows(summary);
      assert.deepEqual(await fixture.countRows(Object.keys(expected)), expected);
    });

    // Background work is not started yet: it goes by the clock, and would end what is over by now.
    const { app, url, call } = await fixture.start();
    const { keys } = summary;

    await t.test('and gives the same answers as before', async () => {
      const proofs = [...summary.reads.filter(isProof), ...summary.proofs];
      const reads = summary.reads.filter((read) => !isProof(read));
      for (const read of [...reads.filter(isLog), ...reads.filter((read) => !isLog(read))]) {
        assertHolds(await ask(call, keys, read), read.expected, `${read.path} of ${read.key}`);
      }
      for (const proof of proofs) {
        const expected = 'document' in proof ? proof.document : proof.expected;
        assertHolds(await ask(call, keys, proof), expected, proof.path);
      }
    });

    await t.test('with the content of every file, but nothing that was erased', async () => {
      for (const file of summary.files) {
        assert.equal(await downloadedDigest(url, keys, file), file.sha256, JSON.stringify(file));
      }
    });

    await t.test('with the pages that were published', async () => {
      for (const { path, text } of summary.pages ?? []) {
        const answer = await call('GET', path, { key: null });
        assert.equal(answer.status, 200, `${path}: ${answer.text}`);
        assert.ok(answer.text.includes(text), path);
      }
    });

    await t.test('with people who can sign in, and keys that are refused as before', async () => {
      for (const person of summary.people) await signInAs(person, { url, call });
      for (const [what, key] of Object.entries(summary.refusedKeys)) {
        assert.equal((await call('GET', '/api-v1/platform/vaults', { key })).status, 401, what);
      }
    });

    await t.test('and continues where it stopped', async () => {
      app.loops.start();
      for (const { key, path, member, oneOf } of summary.pending) {
        await waitUntil(async () => {
          const answer = (await ask(call, keys, { key, path })) as Record<string, string>;
          return oneOf.includes(answer[member] ?? '');
        });
      }
      await waitUntil(async () => {
        const { key, id, attempts } = summary.waitingDelivery;
        const path = `/api-v1/platform/webhooks/deliveries/${id}`;
        const { status, json } = await call('GET', path, { key: keys[key] ?? '' });
        // What is older than the log is kept for is dropped from it, and not sent any more.
        return status === 404 ? isOlderThanLog(summary) : json.attempts.length > attempts;
      });
    });

    await t.test('and takes what workers sign with the passkeys that they had', async () => {
      const service = { url, call };
      for (const signer of summary.signers ?? [])
        await signWithPasskey(service, keys[signer.key] ?? '', signer);
    });

    await t.test('and has a valid proof of everything that had one', async () => {
      await waitUntil(async () => (await fixture.countUnsettled()) === 0);
      for (const one of summary.proofs)
        await assertVerifies(one, one.document, { call, ...trustOf(summary) });
    });

    await t.test('and told nobody twice', async () => {
      assert.deepEqual(await fixture.announcedTwice(), []);
    });

    await t.test('and fsck finds nothing', async () => {
      const fsck = await command(fixture.settings, 'fsck', '--json');
      assert.equal(fsck.code, 0, fsck.stdout + fsck.stderr);
    });
  });
}

interface Fixture {
  settings: Settings;
  /** Leaves that are not final on the chain, or not announced. */
  countUnsettled(): Promise<number>;
  /** Things with more than one event of their confirmation. */
  announcedTwice(): Promise<string[]>;
  countRows(tables: string[]): Promise<Record<string, number>>;
  start(): Promise<{ app: App; url: string; call: ReturnType<typeof callerAt> }>;
  close(): Promise<void>;
}

/** Webhooks may go nowhere on this machine: the receivers of then are gone, and who has their ports now is not to know. */
async function restore(
  name: string,
  { passphrase, createdAt, rows, timestampRoot }: Summary,
): Promise<Fixture> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-corpus-'));
  const database = await createTestDatabase({ empty: true });
  const settings: Settings = {
    HOLDFAST_DATA_DIR: join(dir, 'data'),
    DATABASE_URL: database.url,
    HOLDFAST_ANCHOR_INTERVAL_MS: '200',
    HOLDFAST_WEBHOOK_RETENTION_DAYS: String(retentionDays),
    ...(timestampRoot !== undefined && { HOLDFAST_TSA_ROOTS: join(dir, 'roots.pem') }),
  };
  let app: App | null = null;
  const close = async () => {
    await app?.close();
    await database.drop();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await writeFile(join(dir, 'passphrase'), passphrase);
    await writeFile(join(dir, 'roots.pem'), timestampRoot ?? '');
    const options = ['--passphrase-file', join(dir, 'passphrase'), '--json'];
    const { code, stdout, stderr } = await command(
      settings,
      'restore',
      join(folder, `${name}.tar`),
      ...options,
    );
    assert.equal(code, 0, stdout + stderr);
    const restored = JSON.parse(stdout);
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    assert.deepEqual([restored.createdAt, restored.rows], [createdAt, total]);
    assert.equal(restored.fsck.found, 0, JSON.stringify(restored.fsck));
  } catch (error) {
    await close();
    throw error;
  }
  const query = (text: string) =>
    withClient({ connectionString: database.url }, async (client) => (await client.query(text)).rows);
  return {
    settings,
    close,
    async countUnsettled() {
      const [{ count }] = await query(`
        select count(*)::integer as count from placed_leaves l left join anchor_batches b on b.id = l.batch_id
        where (b.status = 'finalized' and l.place < b.announced) is not true`);
      return count;
    },
    async announcedTwice() {
      const told = await query(`
        select concat_ws(' ', workspace_id, type, data - 'tx_hash' - 'block_number' - 'anchored_at' - 'transferred_at') as told
        from events, lateral (select envelope::jsonb -> 'data' as data) as told
        where type like '%.anchor.confirmed' or type like '%.transfer.completed'
        group by 1 having count(*) > 1`);
      return told.map(({ told }) => told);
    },
    countRows: (tables) =>
      withClient({ connectionString: database.url }, async (client) => {
        const counts = tables.map((table) => `(select count(*)::integer from "${table}") as "${table}"`);
        return { ...(await client.query(`select ${counts}`)).rows[0] };
      }),
    async start() {
      app = await createApp(readConfig(environment(settings)), pino({ level: 'silent' }));
      const url = await app.server.http.listen({ host: '127.0.0.1', port: 0 });
      return { app, url, call: callerAt(url, null) };
    },
  };
}

async function signInAs(
  { email, password, totpSecret, roles, passkey, reads = [] }: Person,
  service: Parameters<typeof newVisitor>[0],
): Promise<void> {
  const visitor = newVisitor(service);
  const step = async (path: string, body: object) => {
    const answer = await visitor.call('POST', `/auth/${path}`, { body });
    assert.equal(answer.status, 200, `${email}: ${answer.text}`);
  };
  await step('sign-in/email', { email, password });
  if (totpSecret !== null) await step('two-factor/verify-totp', { code: codeOf(totpSecret, Date.now()) });
  const { json: me } = await visitor.call('GET', '/api-v1/platform/me');
  const found = Object.fromEntries(
    me.workspaces.map(({ id, role }: { id: string; role: string }) => [id, role]),
  );
  assert.deepEqual([me.email, me.twoFactor, found], [email, totpSecret !== null, roles]);
  for (const { path, expected } of reads) {
    const { json } = await visitor.call('GET', path);
    assertHolds(json, expected, `${path} of ${email}`);
  }
  if (!passkey) return;
  const { json: same } = await (await enterWithPasskey(service, passkey)).call('GET', '/api-v1/platform/me');
  assert.equal(same.id, me.id);
}

async function signWithPasskey(
  { url, call }: Parameters<typeof newVisitor>[0],
  key: string,
  { worker: workerAddress, path, passkey: saved }: Signer,
): Promise<void> {
  const role = 'performed';
  const asked = await call('GET', `${path}request/?workerAddress=${workerAddress}&role=${role}`, { key });
  assert.equal(asked.status, 200, asked.text);
  const passkey = softPasskey({ origin: url.replace('127.0.0.1', 'localhost'), saved });
  const { signedAt } = asked.json;
  const body = { workerAddress, role, signedAt, assertion: passkey.sign(asked.json.passkey) };
  const signed = await call('POST', path, { key, body });
  assert.equal(signed.status, 201, signed.text);
}
