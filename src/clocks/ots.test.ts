/** Batches on their way through OpenTimestamps: submitted, pending, and complete once a Bitcoin block agrees. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { type Fixture, openFixture, type TestVault } from '../../test/support/fixtures/batcher-fixture.ts';
import { type MadeBlock, makeBlock } from '../../test/support/opentimestamps/bitcoin-block.ts';
import { type CalendarServer, startCalendar } from '../../test/support/opentimestamps/calendar-server.ts';
import { sha256 } from '../../test/support/opentimestamps/trails.ts';
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
let now = Date.now();

/** An API in the form of Esplora: texts by path. */
const answers = new Map<string, string>();
const api = createServer(({ url = '' }, response) => {
  const answer = answers.get(url);
  response.writeHead(answer === undefined ? 404 : 200).end(answer ?? 'Block not found');
});
const apiUrl = () => `http://127.0.0.1:${(api.address() as AddressInfo).port}/api`;

before(async () => {
  fixture = await openFixture();
  vault = await fixture.newVault();
  calendar = await startCalendar();
  client = createCalendarClient({ calendars: [calendar.url], timeoutMs: 10 * minute });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  await client.close();
  await calendar.close();
  await requests.close();
  await fixture.close();
  await new Promise((resolve) => api.close(resolve));
});
afterEach(async () => {
  await fixture.clear();
  answers.clear();
  calendar.mode = 'well';
  calendar.requests.length = 0;
  logged.length = 0;
});

function open({ headers = true } = {}) {
  let completed = 0;
  const openTimestamps = createOpenTimestamps({
    ...{ db: fixture.db, client, now: () => now, log: { info: note, error: note } },
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
  const block = calendar.mine({ height: 7, time: Date.UTC(2026, 2, 1) });
  const other = makeBlock({
    height: 7,
    time: Date.UTC(2026, 2, 2),
    merkleRoot: sha256(Buffer.from('other')),
  });
  const cases: [RegExp, () => void][] = [
    [/could not find the header .*status 404/, () => {}],
    [/something else than 64 hexadecimal digits/, () => answers.set('/api/block-height/7', 'Block 7')],
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
  calendar.mine({ height: 7, time: Date.UTC(2026, 2, 1) });
  now += 10 * minute;
  await clock.step();
  const [row] = await rows();
  assert.deepEqual([row?.complete, row?.headers, row?.vouched_at?.getTime()], [true, [], now]);
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
