/** No tenant slows the others by what is refused: it asks the database for no more than what is honest, route by route. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import {
  type Operation,
  type PathValues,
  readOperations,
  smallestRequest,
  webhookSettings,
} from '../support/openapi/openapi-operations.ts';
import { makeThings, thingsFor } from '../support/openapi/openapi-things.ts';
import { threadCpuMs } from '../support/service/cpu-time.ts';
import { type CallOptions, type Service, startService } from '../support/service/service.ts';

/** Of what is refused, or repeated, to what is honest. */
const mostTimes = 1.2;
/** Of thread time, below which nothing is compared: it is mostly what any request costs. */
const worthComparingMs = 20;
const atOnce = 8;

let service: Service;
let operations: Operation[];
let values: PathValues;
/** Of another workspace. */
let neighbour: string;

before(async () => {
  service = await startService({ env: webhookSettings, runLoops: false });
  const all = await readOperations(service);
  operations = all.filter(({ method, path }) => method !== 'GET' && path.startsWith('/api-v1/'));
  values = await makeThings(service);
  neighbour = await service.makeKey({ newWorkspace: true });
});
after(() => service.close());

/** What the work takes: statements, and thread time. */
async function costOf(work: () => Promise<unknown>): Promise<{ statements: number; ms: number }> {
  const { query } = pg.Client.prototype;
  let statements = 0;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    statements += 1;
    return Reflect.apply(query, this, args);
  } as typeof query;
  const before = threadCpuMs();
  try {
    await work();
    return { statements, ms: threadCpuMs() - before };
  } finally {
    pg.Client.prototype.query = query;
  }
}

/** Now and then something else happens in the thread, such as a collection of garbage. */
async function leastOf(work: () => Promise<unknown>): ReturnType<typeof costOf> {
  const all = [await costOf(work), await costOf(work), await costOf(work)];
  return {
    statements: Math.max(...all.map(({ statements }) => statements)),
    ms: Math.min(...all.map(({ ms }) => ms)),
  };
}

/** Requests that a misusing neighbour can repeat for ever, as nothing is stored of them. */
function misusesOf(
  operation: Operation,
  things: PathValues,
): [what: string, ...Parameters<Service['call']>][] {
  const [method, path, options] = smallestRequest(operation, things);
  const nowhere = path.replace(
    /\/(0x)?[^/]{20,}(?=\/|$)/,
    (_, hex) => `/${hex ? '0x'.padEnd(42, 'a') : 'none'}`,
  );
  return [
    ['the same again', method, path, options],
    ['about nothing that there is', method, nowhere, options],
    ['a body that is cut off', method, path, { ...options, body: '{"name":' }],
  ];
}

test('what is refused or repeated costs no more than what it imitates', { timeout: 300_000 }, async (t) => {
  for (const operation of operations) {
    await t.test(operation.name, async () => {
      const things = await thingsFor(service, operation, values);
      const [method, path, options] = smallestRequest(operation, things);
      const honest = await costOf(() => service.call(method, path, options));
      for (const [what, ...request] of misusesOf(operation, things)) {
        const misuse = await leastOf(async () => assert.ok((await service.call(...request)).status < 500));
        const told = `${what}: ${misuse.statements} statements, beside ${honest.statements}`;
        assert.ok(misuse.statements <= mostTimes * honest.statements, told);
        const most = Math.max(worthComparingMs, mostTimes * honest.ms);
        assert.ok(misuse.ms <= most, `${what}: ${misuse.ms} ms, beside ${honest.ms}`);
      }
    });
  }
});

/** Creations that name what they make, so that it can be taken. */
const named: Record<string, (place: number) => object> = {
  '/api-v1/damc/assets/': (place) => ({ name: 'Pump', assetId: `pump-${place}` }),
  '/api-v1/damc/workers/': (place) => ({ name: 'Ada', address: `0x${String(place).padStart(40, '1')}` }),
};

for (const [path, bodyOf] of Object.entries(named)) {
  test(`others are written at once, whatever a neighbour repeats: ${path}`, async () => {
    const vault = await service.call('POST', '/api-v1/platform/vaults', {
      key: neighbour,
      body: { name: 'Workshop' },
    });
    const theirs = (place: number): CallOptions => ({
      key: neighbour,
      body: { ...bodyOf(place), ...(path.includes('assets') && { vaultAddress: vault.json.address }) },
    });
    const mine = () => service.call('POST', '/api-v1/platform/vaults', { body: { name: 'Cold room' } });
    const beside = (placeOf: (place: number) => number) =>
      costOf(async () => {
        const places = Array.from({ length: atOnce }, (_, place) => place);
        const [answers] = await Promise.all([
          Promise.all(places.map(mine)),
          Promise.all(places.map((place) => service.call('POST', path, theirs(placeOf(place))))),
        ]);
        for (const { status, text } of answers) assert.equal(status, 201, text);
      });
    await service.call('POST', path, theirs(999));
    // How many share a statement is a matter of moments: the least of some rounds is what it takes.
    const rounds = 6;
    const all = { honest: [] as number[], misuse: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      all.honest.push((await beside((place) => round * atOnce + place)).statements);
      all.misuse.push((await beside(() => 999)).statements);
    }
    const [honest, misuse] = [Math.min(...all.honest), Math.min(...all.misuse)];
    assert.ok(misuse <= mostTimes * honest, `statements: ${all.misuse}, beside ${all.honest}`);
  });
}
