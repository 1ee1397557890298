/** Stamping and upgrading with real calendars on loopback, well and misbehaving. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import {
  type CalendarMode,
  type CalendarServer,
  startCalendar,
} from '../../../test/support/opentimestamps/calendar-server.ts';
import { anchorOf, aTime } from '../../../test/support/opentimestamps/proved-anchor.ts';
import { askReference } from '../../../test/support/opentimestamps/reference.ts';
import {
  attestation,
  detachedFile,
  pendingAttestation,
  sha256,
} from '../../../test/support/opentimestamps/trails.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import { pendingIn, smallestBitcoin } from '../../proof/opentimestamps/commitments.ts';
import { judgeOpenTimestamps } from '../../proof/opentimestamps/judge.ts';
import { MalformedTimestamp, readDetachedFile } from '../../proof/opentimestamps/read.ts';
import { prunedTo } from '../../proof/opentimestamps/timestamp.ts';
import { writeDetachedFile } from '../../proof/opentimestamps/write.ts';
import { type CalendarClient, type CalendarClientOptions, createCalendarClient } from './calendar-client.ts';

/** For exchanges that must end by themselves: no machine is this slow. */
const patientMs = 600_000;
const hurriedMs = 300;

const imprint = sha256(Buffer.from('root'));
let one: CalendarServer;
let two: CalendarServer;
const clients: CalendarClient[] = [];

before(async () => {
  [one, two] = await Promise.all([startCalendar(), startCalendar()]);
});
after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all([one.close(), two.close()]);
});
beforeEach(() => {
  for (const calendar of [one, two]) {
    Object.assign(calendar, { mode: 'well', uri: calendar.url });
    calendar.requests.length = 0;
  }
});

function clientOf(
  calendars: (CalendarServer | string)[],
  options: Partial<CalendarClientOptions> = {},
): CalendarClient {
  const urls = calendars.map((calendar) => (typeof calendar === 'string' ? calendar : calendar.url));
  const client = createCalendarClient({ calendars: urls, timeoutMs: patientMs, ...options });
  clients.push(client);
  return client;
}

async function submitted(client: CalendarClient, of = imprint): Promise<Uint8Array> {
  const { ots, outcomes } = await client.submit(of);
  return ots ?? assert.fail(JSON.stringify(outcomes));
}

test('a digest goes from two calendars into a block, and is proved by it', async () => {
  const client = clientOf([one, two]);
  const { ots, outcomes } = await client.submit(imprint);
  assert.deepEqual(
    outcomes,
    [one, two].map(({ url }) => ({ calendar: `${url}/`, status: 'done', message: null })),
  );
  const pending = pendingIn(readDetachedFile(ots ?? assert.fail()));
  assert.deepEqual(pending.map(({ uri }) => uri).sort(), [one.url, two.url].sort());

  const early = await client.upgrade(ots ?? assert.fail());
  assert.equal(early.changed, false);
  assert.equal(early.ots, ots);
  assert.deepEqual(early.bitcoin, []);
  assert.deepEqual(
    early.outcomes.map(({ status }) => status),
    ['pending', 'pending'],
  );
  assert.match(
    early.outcomes[0]?.message ?? '',
    /has no Bitcoin block yet: Pending confirmation in Bitcoin blockchain\.$/,
  );

  const block = one.mine({ height: 900_001, time: aTime });
  const upgraded = await client.upgrade(early.ots);
  assert.ok(upgraded.changed);
  assert.deepEqual(upgraded.bitcoin, [
    { height: 900_001, merkleRoot: `0x${block.header.slice(2 + 72, 2 + 136)}` },
  ]);
  assert.deepEqual(upgraded.outcomes.map(({ status }) => status).sort(), ['done', 'pending']);

  const judged = (ots: Uint8Array) =>
    judgeOpenTimestamps(anchorOf(ots, block), { imprint, trust: { blocks: [block] }, at: aTime });
  const file = readDetachedFile(upgraded.ots);
  const { attested } = smallestBitcoin(file) ?? assert.fail();
  const pruned = writeDetachedFile(prunedTo(file, attested));
  assert.equal((await judged(upgraded.ots)).status, 'pass');
  assert.deepEqual(await judged(pruned), await judged(upgraded.ots));
  // A complete calendar is not asked again; the other one is.
  one.requests.length = 0;
  two.requests.length = 0;
  const second = two.mine({ height: 900_002, time: aTime + 600_000 });
  const complete = await client.upgrade(upgraded.ots);
  assert.deepEqual([one.requests.length, two.requests.length], [0, 1]);
  assert.deepEqual(complete.bitcoin.map(({ height }) => height).sort(), [900_001, 900_002]);
  const both = anchorOf(complete.ots, block, second);
  const given = { imprint, trust: { blocks: [second] }, at: aTime + 600_000 };
  assert.equal((await judgeOpenTimestamps(both, given)).status, 'pass');
  assert.deepEqual((await client.upgrade(complete.ots)).outcomes, []);
});

needs('python3-opentimestamps').test(
  'the reference implementation finds the same in a file before and after an upgrade',
  async () => {
    const client = clientOf([one, two]);
    const ots = await submitted(client);
    const block = one.mine({ height: 900_010, time: aTime });
    const upgraded = await client.upgrade(ots);
    const headers: [number, string][] = [[block.height, block.header.slice(2)]];
    const questions = [ots, upgraded.ots].map((bytes) => ({
      file: Buffer.from(bytes).toString('hex'),
      headers,
    }));
    const hashes = { [block.height]: block.hash.slice(2) };
    assert.deepEqual(askReference('verify', questions), [
      { times: [], hashes },
      { times: [aTime / 1000], hashes },
    ]);
  },
);

test('calendars learn nothing: each submission has its own nonce, and requests are as calendars expect them', async () => {
  const client = clientOf([one, two]);
  await submitted(client);
  const ots = await submitted(client);
  await client.upgrade(ots);
  const digests = one.requests
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => body.toString('hex'));
  assert.equal(new Set(digests).size, 2);
  for (const { method, path, headers, body } of [...one.requests, ...two.requests]) {
    assert.equal(headers.accept, 'application/vnd.opentimestamps.v1');
    assert.match(headers['user-agent'] ?? '', /^holdfast\//);
    assert.ok(!body.equals(imprint) && !path.includes(imprint.toString('hex')));
    assert.match(`${method} ${path}`, /^(POST \/digest|GET \/timestamp\/[0-9a-f]{88})$/);
    if (method === 'POST') assert.equal(body.length, 32);
  }
});

test('submissions at the same time share a tree, and each of them is proved by the block', async () => {
  const client = clientOf([one]);
  const imprints = Array.from({ length: 7 }, (_, place) => sha256(Buffer.from([place])));
  const all = await Promise.all(imprints.map((imprint) => submitted(client, imprint)));
  const block = one.mine({ height: 900_003, time: aTime });
  for (const [place, ots] of all.entries()) {
    const upgraded = await client.upgrade(ots);
    const given = { imprint: imprints[place] ?? imprint, trust: { blocks: [block] }, at: aTime };
    assert.equal((await judgeOpenTimestamps(anchorOf(upgraded.ots, block), given)).status, 'pass');
  }
});

const timedOut = /gave no complete answer within 0\.3 s\.$/;
const misbehaviors: [CalendarMode, RegExp][] = [
  ['away', /could not be reached: UND_ERR_SOCKET\.$/],
  ['silent', timedOut],
  ['slow', timedOut],
  ['garbage', /sent what is not a timestamp: it has an unknown operation, 60\.$/],
  ['huge', /answered with more than 10000 bytes\.$/],
  ['failing', /answered with status 500\.$/],
  ['moved', /answered with status 302; redirects are not followed\.$/],
];

for (const [mode, message] of misbehaviors) {
  test(`a calendar that misbehaves (${mode}) is named, and takes nothing from the others`, async () => {
    const sound = await submitted(clientOf([one, two]));
    one.movedTo = `${two.url}/digest`;
    one.mode = mode;
    two.requests.length = 0;
    // Calendars that never answer are asked alone: the others have all the time they need.
    const client = message === timedOut ? clientOf([one], { timeoutMs: hurriedMs }) : clientOf([one, two]);
    const { ots, outcomes } = await client.submit(imprint);
    assert.equal(outcomes[0]?.status, 'failed');
    assert.match(outcomes[0]?.message ?? '', message);
    assert.equal(two.requests.length, outcomes.length - 1);
    const pending = ots === null ? [] : pendingIn(readDetachedFile(ots));
    assert.deepEqual(
      pending.map(({ uri }) => uri),
      message === timedOut ? [] : [two.url],
    );

    two.mine({ height: 5, time: aTime });
    const upgraded = await client.upgrade(sound);
    const failed = upgraded.outcomes.find(({ calendar }) => calendar === `${one.url}/`);
    assert.equal(failed?.status, 'failed');
    assert.match(failed?.message ?? '', message);
    assert.equal(upgraded.bitcoin.length, outcomes.length - 1);
  });
}

test('without any usable answer there is no file, and each reason is told', async () => {
  one.mode = 'failing';
  two.mode = 'garbage';
  const { ots, outcomes } = await clientOf([one, two]).submit(imprint);
  assert.equal(ots, null);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['failed', 'failed'],
  );
});

test('a timestamp of something else is noticed when it is compared with the header', async () => {
  const client = clientOf([one]);
  await submitted(client, sha256(imprint));
  one.mine({ height: 6, time: aTime });
  const ots = await submitted(client);
  const block = one.mine({ height: 7, time: aTime });
  one.mode = 'confused';
  const upgraded = await client.upgrade(ots);
  const root = block.header.slice(2 + 72, 2 + 136);
  assert.equal(upgraded.bitcoin.length, 1);
  assert.notEqual(upgraded.bitcoin[0]?.merkleRoot, `0x${root}`);
  const anchor = anchorOf(upgraded.ots, { ...block, height: upgraded.bitcoin[0]?.height ?? 0 });
  const judgement = await judgeOpenTimestamps(anchor, { imprint, trust: { blocks: [] }, at: aTime });
  assert.equal(judgement.status, 'fail');
  // What was lost is still to be had: the file from before.
  one.mode = 'well';
  assert.deepEqual((await client.upgrade(ots)).bitcoin, [{ height: 7, merkleRoot: `0x${root}` }]);
});

test('a confused answer to a submission leads nowhere, and does not break the file', async () => {
  one.mode = 'confused';
  const client = clientOf([one, two]);
  const ots = await submitted(client);
  one.mode = 'well';
  one.mine({ height: 8, time: aTime });
  const block = two.mine({ height: 9, time: aTime });
  const upgraded = await client.upgrade(ots);
  assert.deepEqual(
    upgraded.bitcoin.map(({ height }) => height),
    [9],
  );
  const given = { imprint, trust: { blocks: [block] }, at: aTime };
  assert.equal((await judgeOpenTimestamps(anchorOf(upgraded.ots, block), given)).status, 'pass');
});

test('only configured calendars are asked, however their address is written', async () => {
  const port = new URL(one.url).port;
  const written = [`http://127.0.0.1:${port}/`, `http://127.1:${port}`, `HTTP://127.0.0.1:${port}`];
  const strangers = [
    two.url,
    'https://calendar.example',
    'http://169.254.169.254/x',
    'file:/etc/passwd',
    'nonsense',
  ];
  const parts = [...written, ...strangers].map((uri) => pendingAttestation(uri));
  const marked = parts.flatMap((part, place) =>
    place < parts.length - 1 ? [Buffer.from([0xff]), part] : [part],
  );
  const upgraded = await clientOf([one]).upgrade(detachedFile(imprint, ...marked));
  assert.deepEqual(
    one.requests.map(({ path }) => path),
    [`/timestamp/${imprint.toString('hex')}`],
  );
  assert.deepEqual(two.requests, []);
  assert.deepEqual(upgraded.notAsked, strangers);
  assert.deepEqual(
    upgraded.outcomes.map(({ calendar }) => calendar),
    [`${one.url}/`],
  );
});

test('a calendar that leaves the rest to another one is refused, with the address to configure', async () => {
  one.uri = 'https://alice.example';
  const { ots, outcomes } = await clientOf([one]).submit(imprint);
  assert.equal(ots, null);
  assert.match(
    outcomes[0]?.message ?? '',
    /leaves the timestamp to be completed by https:\/\/alice\.example, which is not configured: configure that address instead\.$/,
  );
});

test('an address that cannot be a calendar is refused when it is configured', () => {
  for (const address of [
    'http://calendar.example',
    'http://10.0.0.1',
    'http://128.0.0.1',
    'ftp://127.0.0.1',
    'https://user:word@calendar.example',
    'https://calendar.example/?a=b',
    'https://calendar.example/#a',
    'calendar.example',
    '',
  ]) {
    assert.throws(
      () => createCalendarClient({ calendars: [address], timeoutMs: 1 }),
      /is not the address of a calendar/,
      address,
    );
  }
});

test('a name that leads to a private address is not called', async () => {
  const asked: string[] = [];
  const resolve: CalendarClientOptions['resolve'] = async (name) => {
    asked.push(name);
    return [{ address: '10.0.0.7', family: 4 }];
  };
  for (const address of ['https://calendar.example', 'https://169.254.169.254', 'https://[fd00::1]']) {
    const { outcomes } = await clientOf([address], { resolve }).submit(imprint);
    assert.match(outcomes[0]?.message ?? '', /has an address that is not public\.$/, address);
  }
  assert.deepEqual(asked, ['calendar.example']);
});

test('what would make the file unreadable is left out', async () => {
  // Near the bound of a file; the calendar's answer would exceed it.
  const filler = (tag: number, length: number) => [
    Buffer.from([0xff]),
    attestation(`${tag}`.padStart(16, '0'), Buffer.alloc(length)),
  ];
  const full = Array.from({ length: 7 }, (_, place) => filler(place, 8192)).flat();
  const pending = await submitted(clientOf([one]));
  const rest = pending.subarray(65);
  const room = 65_536 - detachedFile(imprint, ...full).length - rest.length - 12;
  const large = detachedFile(imprint, ...full, ...filler(8, room), rest);
  one.mine({ height: 10, time: aTime });
  const upgraded = await clientOf([one]).upgrade(large);
  assert.equal(upgraded.changed, false);
  assert.deepEqual(upgraded.ots, large);
  assert.match(
    upgraded.outcomes[0]?.message ?? '',
    /sent a timestamp with which the file has more than 65536 bytes\.$/,
  );
});

test('an upgrade of what is not a proof is refused', async () => {
  await assert.rejects(clientOf([one]).upgrade(Buffer.from('no proof')), MalformedTimestamp);
  await assert.rejects(clientOf([one]).submit(Buffer.alloc(31)), /32 bytes/);
});
