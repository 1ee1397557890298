/** Signatures that waited on a device without network: their times, their order, and that they are taken once. */
// own process: it makes ids while the clock is ahead
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { verifySignoff } from '../../src/maintenance/signing/signoff.ts';
import {
  type Captured,
  captured,
  type Fetched,
  type LaterFixture,
  openLaterFixture,
  type Signer,
  wholeSecond,
} from '../support/fixtures/later-fixture.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: LaterFixture;
/** Made before the clock is moved, which ends the session of the admin. */
const waiting: Signer[] = [];
before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openLaterFixture(service);
  for (let n = 0; n < 3; n += 1) waiting.push(await fixture.passkeyWorker());
});
after(() => {
  mock.timers.reset();
  return service?.close();
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** From then on, the clock moves only by this. It cannot go back: entries of an asset are recorded one after the other. */
function later(ms: number): void {
  if (!isStopped) mock.timers.enable({ apis: ['Date'], now: Date.now() });
  isStopped = true;
  mock.timers.setTime(Date.now() + ms);
}
let isStopped = false;

test('a signature that is sent at once says so in no special way', async () => {
  const signer = await fixture.passkeyWorker();
  const signoff = await fixture.sent(captured(await fixture.fetched(signer), signer));
  assert.equal(signoff.statement, 'Signed by Ada Lund with a passkey.');
  assert.ok(Date.parse(signoff.receivedAt) - Date.parse(signoff.signedAt) < 60_000);
});

test('counters are compared in the order of signing, in whatever order the signatures arrive', async () => {
  const signer = await fixture.passkeyWorker({ counts: true });
  const requests = await Promise.all(Array.from({ length: 6 }, () => fixture.fetched(signer)));
  // Clocks of devices may be a minute ahead.
  const made = requests.map((request, place) =>
    captured(request, signer, { at: Date.now() + 5_000 * (place + 1) }),
  );
  for (const place of [3, 0, 5, 1, 4, 2]) await fixture.sent(made[place] as Captured);
});

test('a counter that contradicts the order of signing is refused, and the right one still counts', async () => {
  const signer = await fixture.passkeyWorker({ counts: true });
  const requests = await Promise.all(Array.from({ length: 4 }, () => fixture.fetched(signer)));
  const [first, second, third, fourth] = requests as [Fetched, Fetched, Fetched, Fetched];
  const start = Date.now();
  const at = (seconds: number, counter: number) => ({ at: start + seconds * 100, wrong: { counter } });
  await fixture.sent(captured(first, signer, at(100, 10)));
  await fixture.sent(captured(second, signer, at(300, 20)));
  for (const [seconds, counter] of [
    [200, 10],
    [200, 20],
    [200, 21],
    [200, 9],
    [200, 0],
    [50, 10],
    [50, 1],
    [50, 0],
    [400, 20],
    [400, 15],
    [400, 0],
    [300, 20],
    [300, 19],
  ] as const) {
    await fixture.refusedLater(
      captured(third, signer, at(seconds, counter)),
      'passkey_counter',
      /may have been copied/,
    );
  }
  await fixture.sent(captured(third, signer, at(200, 15)));
  await fixture.refusedLater(captured(fourth, signer, at(250, 14)), 'passkey_counter');
  await fixture.sent(captured(fourth, signer, at(250, 16)));
});

test('a passkey that always counts zero signs in any order, until it counts', async () => {
  const signer = await fixture.passkeyWorker();
  const requests = await Promise.all(Array.from({ length: 4 }, () => fixture.fetched(signer)));
  const start = Date.now();
  const given = (place: number, seconds: number, counter = 0) =>
    captured(requests[place] as Fetched, signer, { at: start + seconds * 100, wrong: { counter } });
  await fixture.sent(given(0, 200));
  await fixture.sent(given(1, 100));
  await fixture.refusedLater(given(2, 150, 5), 'passkey_counter');
  await fixture.sent(given(2, 300, 5));
  await fixture.refusedLater(given(3, 400), 'passkey_counter');
  await fixture.sent(given(3, 250));
});

test('signatures of one passkey that arrive at the same time do not pass with one counter', async () => {
  const signer = await fixture.passkeyWorker({ counts: true });
  const requests = await Promise.all(Array.from({ length: 5 }, () => fixture.fetched(signer)));
  const start = Date.now();
  const answers = await Promise.all(
    requests.map((request, place) =>
      fixture.send(captured(request, signer, { at: start + place * 1000, wrong: { counter: 7 } })),
    ),
  );
  const codes = answers.map(({ status, json }) => (status === 201 ? 'taken' : json.errorCode)).sort();
  assert.deepEqual(codes, [...Array(4).fill('passkey_counter'), 'taken']);
});

test('in one role, signatures may arrive in another order than they were made; not across roles', async () => {
  const [one, two, inspector] = [
    await fixture.passkeyWorker(),
    await fixture.passkeyWorker({ name: 'Bo Holt' }),
    await fixture.passkeyWorker({ name: 'Cy Berg', licences: [licence('repair', 'DK.66.81')] }),
  ];
  const { maintenanceId } = await fixture.made();
  const [first, second] = [
    await fixture.fetched(one, 'performed', maintenanceId),
    await fixture.fetched(two, 'performed', maintenanceId),
  ];
  const at = (seconds: number) => ({ at: Date.now() + seconds * 1000 });
  const early = captured(first, one, at(10));
  await fixture.sent(captured(second, two, at(30)));
  const inspecting = await fixture.fetched(inspector, 'certified', maintenanceId);
  const hasty = captured(inspecting, inspector, at(20));
  await fixture.sent(early);
  const { json } = await service.call('GET', fixture.view(`${maintenanceId}/details/`));
  assert.deepEqual(
    json.signoffs.map(({ workerName }: { workerName: string }) => workerName),
    ['Bo Holt', 'Ada Lund'],
  );
  // Before it was signed as performed for the last time.
  await fixture.refusedLater(hasty, 'conflict', /signed as performed at .* earlier time/);
  await fixture.sent(captured(inspecting, inspector, at(35)));
});

// From here on, the clock is moved.

test('a signature that waited for days is taken; its time is called a statement, beside the time of receipt', async () => {
  later(0);
  const signer = waiting[0] as Signer;
  const request = await fixture.fetched(signer);
  later(2 * hourMs);
  const signedAt = Date.now();
  const given = captured(request, signer);
  later(3 * dayMs);
  const signoff = await fixture.sent(given);
  assert.equal(signoff.signedAt, wholeSecond(signedAt));
  assert.equal(signoff.receivedAt, wholeSecond(Date.now()));
  assert.match(
    signoff.statement,
    /with a passkey\. The time of signing is a statement of the signer's device/,
  );
  assert.ok(signoff.statement.includes(`received the signature on ${signoff.receivedAt.slice(0, 10)} at`));
  const { json } = await service.call('GET', fixture.view(`${request.maintenanceId}/details/`));
  assert.equal(json.signoffs[0].receivedAt, signoff.receivedAt);
  const { document } = (await service.call('GET', fixture.view(`${request.maintenanceId}/signoffs/1/`))).json;
  assert.equal(document.receivedAt, signoff.receivedAt);
  const { entry, maintenanceHash } = json;
  assert.deepEqual(await verifySignoff(document, { ...entry, maintenanceHash }), []);
  later(30 * dayMs);
  assert.equal(
    (await fixture.sent(given)).signoffHash,
    signoff.signoffHash,
    'a repeat, after the end of the link',
  );
});

test('a link is valid for seven days, to the millisecond, whenever the signature was made', async () => {
  later(0);
  const signer = waiting[1] as Signer;
  const [request, other] = [await fixture.fetched(signer), await fixture.fetched(signer)];
  assert.equal(Date.parse(request.expiresAt) - Date.now(), 7 * dayMs);
  const [given, late] = [captured(request, signer), captured(other, signer)];
  later(7 * dayMs - 1);
  await fixture.sent(given);
  later(1);
  await fixture.refusedLater(late, 'conflict', /has expired/);
});

test('the time of signing lies between the making of the link and the receipt', async () => {
  later(0);
  const signer = waiting[2] as Signer;
  const { maintenanceId } = await fixture.made();
  later(2 * hourMs);
  const request = await fixture.fetched(signer, 'performed', maintenanceId);
  const start = Date.now();
  later(dayMs);
  const at = (ms: number) => captured(request, signer, { at: ms });
  await fixture.refusedLater(at(start - 61_001), 'invalid_request', /before the request to sign was made/);
  await fixture.refusedLater(at(start - hourMs), 'invalid_request', /before the request to sign was made/);
  await fixture.refusedLater(at(Date.now() + 62_000), 'invalid_request', /in the future/);
  await fixture.sent(at(start - 59_000));
});
