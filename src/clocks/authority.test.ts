/** One request to a timestamp authority: what is asked, what is fetched besides, and every rule that can refuse a token. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import {
  createAsk,
  type PublishingServer,
  startPublishingServer,
} from '../../test/support/fixtures/clocks-fixture.ts';
import {
  createTestAuthority,
  stampedImprint as imprint,
} from '../../test/support/timestamps/test-authority.ts';
import { accuracy } from '../../test/support/timestamps/test-token.ts';
import { judgeTimestamp } from '../proof/rfc3161/judge.ts';
import { type Attempt, faultOf } from './authority.ts';
import { anchorOf } from './token-files.ts';

let server: PublishingServer;
before(async () => {
  server = await startPublishingServer();
});
after(() => server.close());

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  Object.assign(server, { mood: 'granting', changes: {}, delayMs: 2_000 });
  server.requests.length = 0;
  server.fetched.length = 0;
  server.files.clear();
  await Promise.all(open.splice(0).map((one) => one.close()));
});

function askWith(options: Partial<Parameters<typeof createAsk>[0]> = {}) {
  const made = createAsk({ roots: [server.authority.trusted], ...options });
  open.push(made);
  return made.ask;
}

const outcomes = ({ rules }: Attempt) => rules.map(({ rule, outcome }) => `${rule} ${outcome}`);
const said = ({ rules }: Attempt, which: string) => rules.find(({ rule }) => rule === which)?.message ?? '';

/** The rules up to this one, which fails. */
async function assertFails(attempt: Promise<Attempt>, rule: string, message: RegExp): Promise<string> {
  const made = await attempt;
  assert.equal(made.stamp, null);
  const last = made.rules.at(-1);
  assert.deepEqual([last?.rule, last?.outcome], [rule, 'fail']);
  assert.match(last?.message ?? '', message);
  assert.ok(made.rules.slice(0, -1).every(({ outcome }) => outcome === 'pass'));
  const fault = faultOf(made) ?? '';
  assert.ok(fault.startsWith(last?.message ?? '-') && fault.endsWith(last?.advice ?? '-'));
  return fault;
}

test('asks with a random number and for certificates, and gives a token that passes', async () => {
  const ask = askWith();
  const [one, two] = [await ask(server.url, imprint), await ask(server.url, imprint)];
  assert.deepEqual(outcomes(one), [
    'answer pass',
    'grant pass',
    'token pass',
    'nonce pass',
    'time pass',
    'path pass',
    'revocation skip',
    'validity pass',
  ]);
  assert.equal(faultOf(one), null);
  assert.match(
    said(one, 'path'),
    /root CN=Test Root, which ships with Holdfast \(SHA-256 0x[0-9a-f]{64}\)\.$/,
  );
  assert.match(said(one, 'revocation'), /^Not checked\. There is no list for CN=Test TSA: .* status 404/);
  const nonces = server.requests.map(({ nonce }) => nonce);
  assert.equal(new Set(nonces).size, 2);
  assert.ok(nonces.every((nonce) => nonce !== undefined && nonce < 2n ** 64n));
  assert.ok(
    server.requests.every(({ certReq, imprint: sent }) => certReq && Buffer.compare(sent, imprint) === 0),
  );
  const { stamp } = one;
  assert.ok(stamp && two.stamp);
  assert.deepEqual([stamp.certificates, stamp.crls], [[], []]);
  const judged = await judgeTimestamp(anchorOf(stamp), {
    ...{ imprint, at: Date.now(), nonce: nonces[0] ?? 0n },
    trust: { roots: [server.authority.trusted], policies: [] },
  });
  assert.equal(judged.status, 'pass');
});

test('fetches the certificate that the token lacks, and lists of revoked ones, once', async () => {
  const { authority } = server;
  server.changes = { certificates: [authority.signer.certificate] };
  const crls = [authority.crl('intermediate'), authority.crl('root')] as const;
  server.files.set('/tsa-ca.cer', authority.intermediate.certificate);
  server.files.set('/tsa-ca.crl', crls[0]);
  server.files.set('/root.crl', crls[1]);
  let now = Date.now();
  const ask = askWith({ now: () => now });
  const first = await ask(server.url, imprint);
  assert.equal(said(first, 'revocation'), 'No certificate is on the lists of revoked ones.');
  assert.deepEqual(first.stamp?.certificates, [Buffer.from(authority.intermediate.certificate)]);
  assert.deepEqual(
    first.stamp?.crls,
    crls.map((crl) => Buffer.from(crl)),
  );
  assert.deepEqual(server.fetched.toSorted(), ['/root.crl', '/tsa-ca.cer', '/tsa-ca.crl']);
  await ask(server.url, imprint);
  assert.equal(server.fetched.length, 3, 'they are kept');
  now += 6 * 3_600_000;
  server.changes = { ...server.changes, genTime: now };
  await ask(server.url, imprint);
  assert.equal(server.fetched.length, 6, 'for six hours');
});

test('asks for a list again as soon as the next one is due', async () => {
  const { authority } = server;
  const soon = Date.now() + 60_000;
  server.files.set('/tsa-ca.crl', authority.crl('intermediate', { nextUpdate: soon }));
  server.files.set('/root.crl', authority.crl('root'));
  let now = Date.now();
  const ask = askWith({ now: () => now });
  await ask(server.url, imprint);
  now = soon + 1_000;
  await ask(server.url, imprint);
  assert.deepEqual(server.fetched.toSorted(), ['/root.crl', '/tsa-ca.crl', '/tsa-ca.crl']);
});

test('goes on without lists that are missing, too large or something else', async () => {
  const { authority } = server;
  server.files.set('/tsa-ca.crl', new Uint8Array(1_048_577).fill(0x30));
  server.files.set('/root.crl', authority.root.certificate);
  const attempt = await askWith()(server.url, imprint);
  assert.ok(attempt.stamp);
  assert.deepEqual(attempt.stamp.crls, []);
  assert.match(said(attempt, 'revocation'), /tsa-ca\.crl answered with more than 1048576 bytes/);
  assert.match(said(attempt, 'revocation'), /root\.crl sent something else/);
});

test('checks a list that is too large for proofs, and does not store it', async () => {
  const { authority } = server;
  const others = Array.from({ length: 10_000 }, (_, place) => ({
    serial: 2n ** 64n + BigInt(place),
    date: 1e12,
  }));
  server.files.set('/tsa-ca.crl', authority.crl('intermediate', { revoked: others }));
  server.files.set('/root.crl', authority.crl('root'));
  assert.ok((server.files.get('/tsa-ca.crl')?.length ?? 0) > 262_144);
  const attempt = await askWith()(server.url, imprint);
  assert.match(said(attempt, 'revocation'), /^No certificate is on .* 1 of 2 lists are too large for proofs/);
  assert.deepEqual(attempt.stamp?.crls, [Buffer.from(server.files.get('/root.crl') ?? [])]);
  const revoked = [...others, { serial: authority.signer.serial, date: Date.now() - 1_000 }];
  server.files.set('/tsa-ca.crl', authority.crl('intermediate', { revoked }));
  await assertFails(askWith()(server.url, imprint), 'revocation', /CN=Test TSA was revoked/);
});

test('a large list is read in a thread, so that it keeps nobody waiting', async (t) => {
  const { authority } = server;
  const revoked = Array.from({ length: 25_000 }, (_, place) => ({
    serial: 2n ** 64n + BigInt(place),
    date: 1e12,
  }));
  server.files.set('/tsa-ca.crl', authority.crl('intermediate', { revoked }));
  server.files.set('/root.crl', authority.crl('root'));
  const threads: Worker[] = [];
  const count = (thread: Worker) => void threads.push(thread);
  process.on('worker', count);
  t.after(() => process.off('worker', count));
  const attempt = await askWith()(server.url, imprint);
  assert.match(said(attempt, 'revocation'), /^No certificate is on the lists/);
  assert.equal(threads.length, 2, 'one reads it, the other judges the token');
  server.files.set('/tsa-ca.crl', authority.crl('intermediate', { revoked }).slice(0, -1));
  assert.match(said(await askWith()(server.url, imprint), 'revocation'), /tsa-ca\.crl sent something else/);
});

test('refuses a token whose signer is revoked', async () => {
  const { authority } = server;
  const revoked = [{ serial: authority.signer.serial, date: Date.now() - 1_000 }];
  server.files.set('/tsa-ca.crl', authority.crl('intermediate', { revoked }));
  server.files.set('/root.crl', authority.crl('root'));
  await assertFails(askWith()(server.url, imprint), 'revocation', /CN=Test TSA was revoked/);
});

test('refuses what is no answer of an authority, with the reason', async () => {
  const ask = askWith({ timeoutMs: 300 });
  server.mood = 'garbage';
  await assertFails(ask(server.url, imprint), 'grant', /The answer/);
  server.mood = 'refusing';
  await assertFails(
    ask(server.url, imprint),
    'grant',
    /The authority refused: rejection; it had an internal failure/,
  );
  server.mood = 'away';
  await assertFails(ask(server.url, imprint), 'answer', /^The authority answered with status 503\.$/);
  server.mood = 'hanging up';
  await assertFails(ask(server.url, imprint), 'answer', /could not be reached/);
  server.mood = 'huge';
  await assertFails(ask(server.url, imprint), 'answer', /answered with more than 262144 bytes/);
  server.mood = 'slow';
  await assertFails(ask(server.url, imprint), 'answer', /gave no complete answer within 0\.3 s/);
  await server.closeDoor();
  await assertFails(ask(server.url, imprint), 'answer', /could not be reached: ECONNREFUSED/);
  await server.reopen();
});

test('refuses a token for something else, for another request, or of another time', async () => {
  const ask = askWith();
  server.mood = 'wrong imprint';
  await assertFails(ask(server.url, imprint), 'token', /its imprint differs/);
  server.mood = 'wrong nonce';
  await assertFails(ask(server.url, imprint), 'nonce', /does not have the nonce/);
  server.mood = 'granting';
  server.changes = { genTime: Date.now() - 600_000 };
  assert.match(await assertFails(ask(server.url, imprint), 'time', /The token says/), /Set the clock/);
  server.changes = { genTime: Date.now() + 600_000 };
  await assertFails(ask(server.url, imprint), 'time', /but this machine/);
  server.changes = { accuracy: accuracy(301) };
  await assertFails(ask(server.url, imprint), 'time', /right to 301 s only/);
  // Its own accuracy must not widen what clocks may differ by.
  server.changes = { genTime: Date.now() + 600_000, accuracy: accuracy(300) };
  await assertFails(ask(server.url, imprint), 'time', /but this machine/);
  server.changes = { genTime: Date.now() + 60_000 };
  assert.ok((await ask(server.url, imprint)).stamp, 'clocks may differ by a minute');
});

test('refuses a token that leads to no trusted root, and says what to do', async () => {
  const { trusted } = createTestAuthority({ kind: 'p384', around: Date.now() });
  const ask = askWith({ roots: [trusted] });
  const fault = await assertFails(
    ask(server.url, imprint),
    'path',
    /No path of certificates leads from CN=Test TSA/,
  );
  assert.match(fault, /root\.cer answered with status 404.*HOLDFAST_TSA_ROOTS\.$/);
});

test('reaches neither a private address behind a public name nor the target of a redirect', async () => {
  const resolve = async () => [{ address: '10.0.0.1', family: 4 as const }];
  const ask = askWith({ resolve });
  await assertFails(ask('https://tsa.example.org/', imprint), 'answer', /has an address that is not public/);
  const rebound = askWith({ resolve: async () => [{ address: '127.0.0.1', family: 4 as const }] });
  await assertFails(
    rebound('https://tsa.example.org/', imprint),
    'answer',
    /has an address that is not public/,
  );
  const moved = createServer((_request, response) => response.writeHead(302, { location: server.url }).end());
  await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve));
  const { port } = moved.address() as AddressInfo;
  const attempt = askWith()(`http://127.0.0.1:${port}/`, imprint);
  await assertFails(attempt, 'answer', /status 302; redirects are not followed/);
  assert.equal(server.requests.length, 0);
  moved.close();
});
