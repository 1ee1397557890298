/** The Python client by its own tests, and every operation of the document called with it. Needs python3. */
// tier: process
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { snakeCase } from '../../clients/generator/python-names.ts';
import { eventTypes } from '../../src/events/catalogue.ts';
import { sampleEventOf } from '../../src/events/sample-event.ts';
import { createSigner, newWebhookSecret } from '../../src/webhooks/exchange/signature.ts';
import {
  asPerson,
  isSuccess,
  type Operation,
  readOperations,
  webhookSettings,
} from '../support/openapi/openapi-operations.ts';
import { makeThings, thingsFor } from '../support/openapi/openapi-things.ts';
import { smallestArguments } from '../support/openapi/operation-arguments.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { type Service, startService } from '../support/service/service.ts';

const folder = join(import.meta.dirname, '../../clients/python');
const verifier = join(import.meta.dirname, '../../verifiers/python');
const { after, before, test } = needs('python3');

let service: Service;
let scratch: string;
before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'holdfast-python-'));
  service = await startService({ env: webhookSettings });
});
after(async () => {
  await service?.close();
  if (scratch) await rm(scratch, { recursive: true, force: true });
});

function python(args: string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number; output: string }> {
  const paths = { PYTHONPATH: `${folder}:${verifier}`, PYTHONDONTWRITEBYTECODE: '1' };
  const options = { cwd: folder, env: { ...process.env, ...paths, ...env }, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(pathOf('python3'), ['-W', 'error', ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });
}

test('every operation of the document can be called from Python', async () => {
  const things = await makeThings(service);
  const operations = await readOperations(service);
  const names = new Map<Operation, string>();
  const calls = [];
  for (const operation of operations) {
    const mine = await thingsFor(service, operation, things);
    const name = await nameOf(operation);
    names.set(operation, name);
    const given = Object.entries(smallestArguments(operation, mine));
    const mayUseKey = operation.scope !== null || !operation.path.startsWith('/api-v1/');
    const signs = /^POST .*\/signoffs\/$/.test(operation.name);
    const key = signs ? await service.onBehalfKey() : mayUseKey ? service.key : null;
    const headers = mayUseKey ? {} : asPerson(mine.cookie ?? '').headers;
    const args = Object.fromEntries(given.map(([argument, value]) => [snakeCase(argument), value]));
    calls.push({ name, key, headers, arguments: args });
  }
  const cases = join(scratch, 'cases.json');
  await writeFile(cases, JSON.stringify({ url: service.url, calls }));
  const { code, output } = await python(['-m', 'tests.walk', cases]);
  assert.equal(code, 0, output);
  const outcomes: Record<string, { status: number; message: string }> = JSON.parse(output);
  for (const [operation, name] of names) {
    const { status, message } = outcomes[name] ?? assert.fail(`${name} was not called`);
    assert.ok(isSuccess(operation, status, message), `${name}: ${status} ${message}`);
  }
  assert.equal(Object.keys(outcomes).length, operations.length);
});

let ids: Promise<Map<string, string>> | undefined;

async function nameOf({ name }: Operation): Promise<string> {
  ids ??= readFile(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8').then(
    (text) =>
      new Map(
        Object.entries<Record<string, { operationId: string }>>(JSON.parse(text).paths).flatMap(
          ([path, methods]) =>
            Object.entries(methods).map(([method, { operationId }]): [string, string] => [
              `${method.toUpperCase()} ${path}`,
              operationId,
            ]),
        ),
      ),
  );
  return snakeCase((await ids).get(name) ?? assert.fail(name));
}

test('lists, errors, uploads and events work against a service', async () => {
  const env = { HOLDFAST_URL: service.url, HOLDFAST_API_KEY: service.key };
  const { code, output } = await python(['-m', 'unittest', 'tests.test_service'], env);
  assert.equal(code, 0, output);
  assert.match(output, /^Ran \d+ tests? in /m);
});

test('requests are repeated when they may be, and only then', async () => {
  const { code, output } = await python(['-m', 'unittest', 'tests.test_retries']);
  assert.equal(code, 0, output);
});

test('webhooks that the service signed are accepted, and no others', async () => {
  const secret = newWebhookSecret();
  const sign = createSigner({ serviceName: 'Acme', secret, previousSecrets: [] });
  const signed = (event: object, ageSeconds = 0) => {
    const body = JSON.stringify(event);
    const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
    return { secret, body, headers: sign({ eventId: 'evt_1', body, timestamp }) };
  };
  const file = join(scratch, 'deliveries.json');
  const good = eventTypes.map((type) => signed(sampleEventOf(type)));
  const old = signed(sampleEventOf('vault.deactivated'), 310);
  await writeFile(file, JSON.stringify({ good, old, otherSecret: newWebhookSecret() }));
  const env = { HOLDFAST_DELIVERIES: file };
  const { code, output } = await python(['-m', 'unittest', 'tests.test_webhooks'], env);
  assert.equal(code, 0, output);
});
