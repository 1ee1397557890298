/** Batches on their way through OpenTimestamps: submitted, pending, and complete once a Bitcoin block agrees. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { type Fixture, openFixture, type TestVault } from '../../test/support/fixtures/batcher-fixture.ts';
import { type MadeBlock, makeBlock } from '../../test/support/opentimestamps/bitcoin-block.ts';
import { type CalendarServer, startCalendar } from '../../test/support/opentimestamps/calendar-server.ts';
import { sha256 } from '../../test/support/opentimestamps/trails.ts';
import { countUncheckedOts } from '../anchoring/evidence/clock-stats.ts';
import { createGuardedRequests } from '../egress/guarded-request.ts';
import { judgeOpenTimestamps } from '../proof/opentimestamps/judge.ts';
import { runEach } from '../runtime/check.ts';
import { createBitcoinHeaders } from './bitcoin-headers.ts';
import { type CalendarClient, createCalendarClient } from './opentimestamps/calendar-client.ts';
import { createOpenTimestamps } from './ots.ts';
import { timestampsCheck } from './timestamps.check.ts';

const minute = 60_000;
const never = new AbortController().signal;
const requests = createGuardedRequests({ allow: [] });
const logged: string[] = [];
const note = (details: object, message: string) => void logged.push(`${message} ${JSON.stringify(details)}`);

let fixture: Fixture;
let vault: TestVault;
let calendar: CalendarServer;
let client: CalendarClient;
/** A second calendar, and a client of both. */
let other: CalendarServer;
let both: CalendarClient;
let now = Date.now();

/** An API in the form of Esplora: texts by path. */
const answers = new Map<string, string>();
const lookedUp: string[] = [];
const api = createServer(({ url = '' }, response) => {
  lookedUp.push(url);
  const answer = answers.get(url);
  response.writeHead(answer === undefined ? 404 : 200).end(answer ?? 'Block not found');
});
const apiUrl = () => `http://127.0.0.1:${(api.address() as AddressInfo).port}/api`;

before(async () => {
  fixture = await openFixture();
  vault = await fixture.newVault();
  calendar = await startCalendar();
  other = await startCalendar();
  client = createCalendarClient({ calendars: [calendar.url], timeoutMs: 10 * minute });
  both = createCalendarClient({ calendars: [other.url, calendar.url], timeoutMs: 10 * minute });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  await Promise.all([client.close(), both.close()]);
  await Promise.all([calendar.close(), other.close()]);
  await requests.close();
  await fixture.close();
  await new Promise((resolve) => api.close(resolve));
});
afterEach(async () => {
  await fixture.clear();
  answers.clear();
  for (const one of [calendar, other]) Object.assign(one, { mode: 'well', invented: [] });
  calendar.requests.length = 0;
  logged.length = 0;
  lookedUp.length = 0;
});

/** Every hash will do, unless a test wants the work that Bitcoin wants. */
function open({ headers = true, asked = client, anyWork = true } = {}) {
  let completed = 0;
  const openTimestamps = createOpenTimestamps({
    ...{ db: fixture.db, client: asked, now: () => now, log: { info: note, error: note } },
    ...(anyWork && { largestTarget: 2n ** 256n }),
    findHeader: headers ? createBitcoinHeaders({ url: apiUrl(), requests }) : null,
    onComplete: () => {
      completed += 1;
    },
  });
  return {
    completed: () => completed,
    async step() {
      while (await openTimestamps.step(fixture.lead, never));
    },
  };
}

let subjects = 0;
async function makeBatch(): Promise<number> {
  subjects += 1;
  await fixture.accept(vault, `rec_${subjects}`);
  await fixture.batcher().step(fixture.lead);
  return (await fixture.batches()).at(-1)?.id ?? 0;
}

const rows = () => fixture.db.selectFrom('timestamps').selectAll().orderBy('id').execute();
const asked = (method: string) => calendar.requests.filter((request) => request.method === method).length;

function publish({ height, hash, header }: MadeBlock): void {
  answers.set(`/api/block-height/${height}`, hash.slice(2));
  answers.set(`/api/block/${hash.slice(2)}/header`, header.slice(2));
}

test('submits the newest batch, at most once a minute', async () => {
  const clock = open();
  await clock.step();
  assert.equal(asked('POST'), 0, 'there is none');
  await makeBatch();
  const first = await makeBatch();
  await clock.step();
  await makeBatch();
  const last = await makeBatch();
  now += minute - 1;
  await clock.step();
  assert.equal(asked('POST'), 1);
  now += 1;
  await clock.step();
  await clock.step();
  assert.deepEqual(
    (await rows()).map(({ batch_id, complete, vouched_at }) => [batch_id, complete, vouched_at]),
    [
      [first, false, null],
      [last, false, null],
    ],
  );
  assert.equal(asked('POST'), 2);
});

test('completes a proof with the header of its block, and the head of the next batch covers it', async () => {
  const clock = open();
  const batch = await makeBatch();
  await clock.step();
  const next = await makeBatch();
  const covered = () =>
    fixture.db.selectFrom('evidence').selectAll().where('head_batch_id', '>=', batch).execute();
  assert.deepEqual(await covered(), [], 'what is pending is no evidence');
  const time = Date.UTC(2026, 2, 1);
  const block = calendar.mine({ height: 900_000, time });
  publish(block);
  now += 10 * minute;
  await clock.step();
  const [row] = await rows();
  assert.ok(row?.complete);
  assert.deepEqual([row.heights, row.vouched_at?.getTime(), row.covered], [[900_000], time, false]);
  assert.equal(clock.completed(), 1);
  const root = (await fixture.batches()).find(({ id }) => id === batch)?.root ?? Buffer.alloc(0);
  const judged = await judgeOpenTimestamps(
    {
      type: 'opentimestamps',
      proof: row.proof.toString('base64'),
      headers: [{ height: 900_000, header: block.header }],
    },
    { imprint: sha256(root), trust: { blocks: [block] }, at: now },
  );
  assert.equal(judged.status, 'pass');
  const head = await makeBatch();
  assert.deepEqual(
    (await covered()).map(({ head_batch_id, timestamp_id }) => [head_batch_id, timestamp_id]),
    [[head, row.id]],
  );
  assert.ok(next < head);
  const check = timestampsCheck({ db: fixture.db, clocks: { authorities: [], rootsFile: null } });
  const [report] = await runEach([check], { settleMs: 0 });
  assert.deepEqual([report?.findings, report?.notes], [[], undefined]);
});

test('leaves a proof pending while the header of its block does not agree or cannot be found', async () => {
  const clock = open();
  await makeBatch();
  await clock.step();
  const block = calendar.mine({ height: 900_007, time: Date.UTC(2026, 2, 1) });
  const other = makeBlock({
    height: 900_007,
    time: Date.UTC(2026, 2, 2),
    merkleRoot: sha256(Buffer.from('other')),
  });
  const cases: [RegExp, () => void][] = [
    [/could not find the header .*status 404/, () => {}],
    [
      /something else than 64 hexadecimal digits/,
      () => answers.set('/api/block-height/900007', 'Block 900007'),
    ],
    [/does not agree/, () => publish(other)],
    [
      /another hash than the block/,
      () => answers.set(`/api/block/${other.hash.slice(2)}/header`, block.header.slice(2)),
    ],
  ];
  for (const [said, arrange] of cases) {
    arrange();
    now += 10 * minute;
    await clock.step();
    assert.match(logged.at(-1) ?? '', said);
    assert.equal((await rows())[0]?.complete, false);
  }
  publish(block);
  now += 10 * minute;
  await clock.step();
  assert.equal((await rows())[0]?.complete, true);
});

test('completes a proof without a header where none can be asked for', async () => {
  const clock = open({ headers: false });
  await makeBatch();
  await clock.step();
  calendar.mine({ height: 900_007, time: Date.UTC(2026, 2, 1) });
  now += 10 * minute;
  await clock.step();
  const [row] = await rows();
  assert.deepEqual([row?.complete, row?.headers, row?.vouched_at?.getTime()], [true, [], now]);
});

/** Blocks of these heights, which have something else. */
function publishOthers(...heights: number[]): void {
  for (const height of heights) {
    const merkleRoot = sha256(Buffer.from(`other ${height}`));
    publish(makeBlock({ height, time: Date.UTC(2026, 2, 2), merkleRoot }));
  }
}

test('a calendar that invents blocks keeps nobody else’s waiting', async () => {
  const invented = Array.from({ length: 9 }, (_, place) => 800_000 + place);
  publishOthers(...invented);
  for (const named of [invented, invented.slice(0, 2)]) {
    const clock = open({ asked: both });
    const batch = await makeBatch();
    now += minute;
    await clock.step();
    Object.assign(other, { mode: 'inventing', invented: named });
    publish(calendar.mine({ height: 900_020, time: Date.UTC(2026, 2, 1) }));
    now += 10 * minute;
    await clock.step();
    const row = (await rows()).find(({ batch_id }) => batch_id === batch);
    assert.deepEqual([row?.complete, row?.heights], [true, [900_020]]);
    Object.assign(other, { mode: 'well' });
  }
  assert.match(logged.join(), /names 9 Bitcoin blocks in one answer, more than 2/);
});

test('a block that does not agree is looked up ever more seldom', async () => {
  const clock = open();
  await makeBatch();
  await clock.step();
  Object.assign(calendar, { mode: 'inventing', invented: [800_001] });
  publishOthers(800_001);
  const rounds: number[] = [];
  for (let round = 1; round <= 32; round += 1) {
    lookedUp.length = 0;
    now += 10 * minute;
    await clock.step();
    if (lookedUp.length > 0) rounds.push(round);
  }
  assert.deepEqual(rounds, [1, 2, 4, 8, 16, 32]);
  // The true block is found at once all the same.
  calendar.mode = 'well';
  publish(calendar.mine({ height: 900_021, time: Date.UTC(2026, 2, 1) }));
  now += 10 * minute;
  await clock.step();
  assert.deepEqual((await rows())[0]?.heights, [900_021]);
});

test('asks for no block that cannot exist, and believes none of too little work', async () => {
  const clock = open({ anyWork: false });
  await makeBatch();
  await clock.step();
  calendar.mode = 'inventing';
  for (const height of [0, 499_999, 1_500_000, 2 ** 31, 2 ** 32 - 1]) {
    calendar.invented = [height];
    now += 10 * minute;
    await clock.step();
    assert.deepEqual(lookedUp, [], String(height));
  }
  calendar.mode = 'well';
  publish(calendar.mine({ height: 900_022, time: Date.UTC(2026, 2, 1) }));
  now += 10 * minute;
  await clock.step();
  assert.match(logged.at(-1) ?? '', /does not agree/);
  assert.deepEqual([(await rows())[0]?.complete, clock.completed()], [false, 0]);
});

test('without headers, one calendar alone completes nothing while others are to answer', async () => {
  const clock = open({ headers: false, asked: both });
  await makeBatch();
  await clock.step();
  const isComplete = async (advance: number) => {
    now += advance;
    await clock.step();
    return (await rows())[0]?.complete;
  };
  Object.assign(other, { mode: 'inventing', invented: [2 ** 31] });
  assert.equal(await isComplete(10 * minute), false);
  other.invented = [900_023];
  assert.equal(await isComplete(10 * minute), false);
  calendar.mine({ height: 900_024, time: Date.UTC(2026, 2, 1) });
  other.invented = [2 ** 31];
  assert.equal(
    await isComplete(10 * minute),
    true,
    'all have answered, one of them with a block that can exist',
  );
  assert.equal(await countUncheckedOts(fixture.db), 1);
});

test('without headers, a calendar that never answers is waited for three days', async () => {
  const clock = open({ headers: false, asked: both });
  await makeBatch();
  await clock.step();
  calendar.mine({ height: 900_025, time: Date.UTC(2026, 2, 1) });
  now += 10 * minute;
  await clock.step();
  assert.equal((await rows())[0]?.complete, false);
  now += 3 * 24 * 60 * minute;
  await clock.step();
  assert.equal((await rows())[0]?.complete, true);
});

test('asks for every pending proof once in ten minutes, oldest first, and never gives up', async () => {
  const clock = open();
  for (let made = 0; made < 23; made += 1) {
    await makeBatch();
    await clock.step();
    now += minute;
  }
  assert.equal((await rows()).length, 23);
  const roundOf = async (advance: number) => {
    calendar.requests.length = 0;
    now += advance;
    await clock.step();
    return asked('GET');
  };
  assert.equal(await roundOf(10 * minute), 23);
  assert.equal(await roundOf(9 * minute), 0);
  calendar.mode = 'failing';
  assert.equal(await roundOf(minute), 23);
  assert.equal(logged.filter((line) => line.includes('no timestamp from a calendar')).length, 1);
  calendar.mode = 'well';
  assert.equal(await roundOf(365 * 24 * 60 * minute), 23);
});

test('a calendar that is away costs nothing but the timestamp', async () => {
  const clock = open();
  calendar.mode = 'away';
  const batch = await makeBatch();
  await clock.step();
  assert.deepEqual(await rows(), []);
  calendar.mode = 'well';
  now += minute;
  await clock.step();
  assert.deepEqual(
    (await rows()).map(({ batch_id }) => batch_id),
    [batch],
  );
});
