/** Runs the receivers of examples/ against deliveries signed as the service signs them. */
// tier: process
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createSigner, newWebhookSecret } from '../../src/webhooks/exchange/signature.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { type RunningProcess, startUntil, waitUntil } from '../support/service/process.ts';

type Scheme = 'standard' | 'sha256';
type Headers = Record<string, string>;

interface ExampleReceiver {
  /** Whether it was acknowledged. */
  deliver(headers: Headers, body: string): Promise<boolean>;
  /** How often this id was handled. */
  handled(id: string): number;
  close(): Promise<void>;
}

interface Example {
  name: string;
  /** What it runs on, beyond Node.js. */
  program: 'python3' | 'go' | 'openssl' | null;
  start(secret: string, scheme: Scheme): Promise<ExampleReceiver>;
}

const folder = join(import.meta.dirname, '../../examples/webhook-receiver');
const scratch = mkdtempSync(join(tmpdir(), 'holdfast-examples-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const examples: Example[] = [
  {
    name: 'typescript',
    program: null,
    start: server(() => [process.execPath, join(folder, 'typescript/receiver.ts')]),
  },
  {
    name: 'python',
    program: 'python3',
    start: server(() => [pathOf('python3'), join(folder, 'python/receiver.py')]),
  },
  { name: 'go', program: 'go', start: server(() => [buildGo()]) },
  { name: 'shell', program: 'openssl', start: shell },
];

function server(command: () => string[]): Example['start'] {
  return async (secret, scheme) => {
    const [program = '', ...args] = command();
    const settings = { WEBHOOK_SECRET: secret, WEBHOOK_SCHEME: scheme, PORT: '0' };
    const { running, match } = await startUntil(/listening on (http:\S+)/, { program, args, settings });
    return overHttp(running, match[1] ?? '');
  };
}

function overHttp(running: RunningProcess, url: string): ExampleReceiver {
  return {
    async deliver(headers, body) {
      const answer = await fetch(url, { method: 'POST', headers, body });
      await answer.text();
      if (answer.status !== 204) assert.ok([400, 401, 413].includes(answer.status), String(answer.status));
      return answer.status === 204;
    },
    handled: (id) => running.stdout().split(` ${id}\n`).length - 1,
    async close() {
      running.child.kill('SIGTERM');
      await running.exited;
    },
  };
}

let goProgram: string | null = null;

function buildGo(): string {
  if (goProgram) return goProgram;
  goProgram = join(scratch, 'receiver');
  execFileSync(pathOf('go'), ['build', '-o', goProgram, join(folder, 'go/receiver.go')], { cwd: scratch });
  return goProgram;
}

async function shell(secret: string, scheme: Scheme): Promise<ExampleReceiver> {
  const seen = mkdtempSync(join(scratch, 'seen-'));
  const said: string[] = [];
  return {
    async deliver(headers, body) {
      const file = join(scratch, randomUUID());
      // As they stand in a request: names in any case, lines ended by CR and LF.
      const lines = Object.entries(headers).map(([name, value]) => `${name.toUpperCase()}: ${value}\r\n`);
      writeFileSync(file, lines.join(''));
      const env = {
        ...process.env,
        WEBHOOK_SECRET: secret,
        WEBHOOK_SCHEME: scheme,
        WEBHOOK_SEEN: seen,
      };
      const run = spawnSync(join(folder, 'shell/verify.sh'), [file], { env, input: body, encoding: 'utf8' });
      if (run.status !== 0) assert.match(run.stderr, /^refused: /m);
      said.push(run.stdout);
      return run.status === 0;
    },
    handled: (id) => said.filter((line) => line === `handled ${id}\n`).length,
    async close() {},
  };
}

/** What would not survive being parsed and written again. */
const data =
  '{"name":"Grüße 漢字 😀 \\ud83d\\ude00 \\u00e9 \\/ \\t","amount":123456789012345678901234567890,"ratio":1.50e+2, "a" : [ ] }';

function makeEvent() {
  const id = `evt_${randomUUID().replaceAll('-', '')}`;
  const body = `{"id":"${id}","type":"file.anchor.confirmed","timestamp":"2026-11-15T02:19:30.077Z","workspace_id":"ws_1","data":${data}}`;
  return { id, body };
}

function sign(
  { id, body }: { id: string; body: string },
  secrets: { secret: string; previousSecret?: string },
  ageSeconds = 0,
): Headers {
  const { secret, previousSecret } = secrets;
  const previousSecrets = previousSecret === undefined ? [] : [previousSecret];
  const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
  return createSigner({ serviceName: 'Service', secret, previousSecrets })({ eventId: id, body, timestamp });
}

/** What took longer says nothing about a time that is so near to a limit: it is tried again. */
async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  return waitUntil(async () => {
    const startedAt = performance.now();
    const outcome = await work();
    return performance.now() - startedAt < ms ? { outcome } : null;
  }).then(({ outcome }) => outcome);
}

/** One more event; once it is handled, everything before it has been told as well. */
async function settle(receiver: ExampleReceiver, secret: string): Promise<void> {
  const event = makeEvent();
  assert.equal(await receiver.deliver(sign(event, { secret }), event.body), true);
  await waitUntil(() => receiver.handled(event.id) === 1);
}

for (const { name, program, start } of examples) {
  const { describe: suite } = program === null ? { describe } : needs(program);
  for (const scheme of ['standard', 'sha256'] as const) {
    suite(`${name}, ${scheme}`, () => {
      const secret = newWebhookSecret();
      let receiver: ExampleReceiver;
      before(async () => {
        receiver = await start(secret, scheme);
      });
      after(() => receiver?.close());

      test('accepts and handles what the service signed, and only acknowledges a second arrival', async () => {
        const event = makeEvent();
        assert.equal(await receiver.deliver(sign(event, { secret }), event.body), true);
        assert.equal(await receiver.deliver(sign(event, { secret }), event.body), true);
        const next = makeEvent();
        assert.equal(await receiver.deliver(sign(next, { secret }), next.body), true);
        await waitUntil(() => receiver.handled(next.id) === 1);
        assert.equal(receiver.handled(event.id), 1);
      });

      test('refuses a changed body, another secret, and missing or broken headers', async () => {
        const event = makeEvent();
        const signed = sign(event, { secret });
        const refused: [string, Headers, string][] = [
          ['another amount', signed, event.body.replace('67890', '67891')],
          ['the same JSON in other bytes', signed, JSON.stringify(JSON.parse(event.body))],
          ['one byte more', signed, `${event.body}\n`],
          ['another secret', sign(event, { secret: newWebhookSecret() }), event.body],
          ['no headers', {}, event.body],
          ['empty headers', Object.fromEntries(Object.keys(signed).map((key) => [key, ''])), event.body],
          ['no body', signed, ''],
        ];
        for (const [what, headers, body] of refused) {
          assert.equal(await receiver.deliver(headers, body), false, what);
        }
        await settle(receiver, secret);
        assert.equal(receiver.handled(event.id), 0);
        assert.equal(await receiver.deliver(signed, event.body), true, 'the genuine one still counts');
        await waitUntil(() => receiver.handled(event.id) === 1);
      });

      test('refuses a body over the limit', async () => {
        const id = makeEvent().id;
        const body = `{"id":"${id}","type":"x","data":{"text":"${'a'.repeat(1024 * 1024)}"}}`;
        // A receiver that has seen enough may hang up before all of it is sent.
        const accepted = await receiver.deliver(sign({ id, body }, { secret }), body).catch(() => false);
        assert.equal(accepted, false);
        await settle(receiver, secret);
        assert.equal(receiver.handled(id), 0);
      });

      if (scheme === 'sha256') return;

      test('refuses a time more than five minutes off, either way', async () => {
        for (const ageSeconds of [310, -310]) {
          const event = makeEvent();
          const deliverAged = (age: number) =>
            within(10_000, () => receiver.deliver(sign(event, { secret }, age), event.body));
          assert.equal(await deliverAged(ageSeconds), false);
          assert.equal(await deliverAged(Math.sign(ageSeconds) * 280), true);
        }
        const event = makeEvent();
        const fresh = {
          ...sign(event, { secret }, 310),
          'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
        };
        assert.equal(await receiver.deliver(fresh, event.body), false, 'the signature covers the time');
      });

      test('receivers with the old and with the new secret accept deliveries during a rotation', async () => {
        const other = newWebhookSecret();
        for (const secrets of [
          { secret, previousSecret: other },
          { secret: other, previousSecret: secret },
        ]) {
          const event = makeEvent();
          assert.equal(await receiver.deliver(sign(event, secrets), event.body), true);
          await waitUntil(() => receiver.handled(event.id) === 1);
        }
      });

      test('accepts nothing without its own headers, whatever the other signature says', async () => {
        const event = makeEvent();
        const signed = sign(event, { secret });
        const stripped = Object.fromEntries(
          Object.entries(signed).filter(([key]) => !key.startsWith('webhook-')),
        );
        assert.equal(await receiver.deliver(stripped, event.body), false);
      });
    });
  }
}

test('every receiver in the folder is tested', () => {
  assert.deepEqual(readdirSync(folder).sort(), examples.map(({ name }) => name).sort());
});
