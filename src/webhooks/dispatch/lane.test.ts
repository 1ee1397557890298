/** A lane: its concurrency, its rate limit, and what it takes back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/service/properties.ts';
import { createLane, firstCap, type Lane, largestCap } from './lane.ts';

/** Jobs are numbered, so that a test sees which one it got. */
function numbered(count: number, from = 0): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

function startAndFinish(lane: Lane<number>, succeeded: boolean, now = 0): number {
  const started = lane.start(now);
  for (const _ of started) lane.finished(succeeded, 0);
  return started.length;
}

test('a new endpoint gets 8 requests at a time, and one more with every success up to 64', () => {
  const lane = createLane<number>();
  assert.equal(lane.room(0), firstCap);
  lane.add(numbered(1000), 0);
  assert.deepEqual(lane.start(0), numbered(8));
  assert.deepEqual(lane.start(0), [], 'no more while these are under way');
  let underWay = 8;
  for (let success = 1; success <= 200; success += 1) {
    lane.finished(true, 0);
    underWay += lane.start(0).length - 1;
    assert.equal(underWay, Math.min(firstCap + success, largestCap));
  }
});

test('three failures in a row reduce it to one at a time, and a success lets it grow again', () => {
  const lane = createLane<number>();
  lane.add(numbered(100), 0);
  assert.equal(lane.start(0).length, 8);
  for (let finished = 0; finished < 8; finished += 1) lane.finished(false, 0);
  for (let round = 0; round < 5; round += 1) assert.equal(startAndFinish(lane, false), 1);
  assert.equal(startAndFinish(lane, true), 1);
  assert.equal(lane.start(0).length, 2);
});

test('one failure among successes halves its limit, and does not count later', () => {
  const lane = createLane<number>();
  lane.add(numbered(100), 0);
  assert.equal(lane.start(0).length, 8);
  lane.finished(false, 0);
  lane.finished(false, 0);
  for (let finished = 0; finished < 6; finished += 1) lane.finished(true, 0);
  assert.equal(lane.start(0).length, 8, '8, halved twice to 2, and 6 more');
  lane.finished(false, 0);
  for (let finished = 0; finished < 7; finished += 1) lane.finished(true, 0);
  assert.equal(lane.start(0).length, 11, '8, halved to 4, and 7 more: the failures were not in a row');
});

test('a fast endpoint may hold more than it may send at once, and a stalled one nothing', () => {
  const lane = createLane<number>();
  lane.add(numbered(8), 0);
  assert.equal(lane.room(0), 0);
  assert.equal(lane.start(0).length, 8);
  lane.finished(true, 10);
  assert.equal(lane.room(10), 9 + 1 - 7, 'as many more as came back of late');
  lane.add(numbered(10, 8), 10);
  assert.equal(lane.start(10).length, 2);
  assert.equal(lane.stalled(1010), false);
  assert.equal(lane.stalled(1011), true, 'all it may have is under way, and for a second nothing came back');
  assert.equal(lane.room(1011), 0);
  assert.equal(lane.takeBack(() => true).length, 8);
  assert.equal(lane.room(1011), 0, 'what was taken back is not wanted again at once');
  lane.finished(false, 1020);
  assert.equal(lane.stalled(1020), false);
});

test('an endpoint with a low rate limit does not accumulate deliveries', () => {
  const lane = createLane<number>();
  lane.setRate(2);
  assert.equal(lane.room(0), 2);
  lane.add(numbered(2), 0);
  assert.equal(lane.room(0), 0);
});

test('never exceeds the rate limit in a second after a rest, and makes up for small delays', () => {
  const now = 1_000_000;
  for (const rate of [1, 10, 64]) {
    const lane = createLane<number>();
    lane.setRate(rate);
    for (const rest of [now, now + 60_000]) {
      lane.add(numbered(500), rest);
      const starts: number[] = [];
      for (let at = rest; at < rest + 3000; at += 7)
        for (let count = startAndFinish(lane, true, at); count > 0; count -= 1) starts.push(at);
      assert.equal(starts.filter((at) => at < rest + 1000).length, rate, 'the first second');
      for (const from of starts) {
        const inSecond = starts.filter((at) => at >= from && at < from + 1000).length;
        assert.ok(inSecond <= Math.ceil(rate * 1.05), `${inSecond} of ${rate} in a second`);
      }
      assert.ok(starts.length >= 3 * rate - 1 && starts.length <= 3 * rate, `${starts.length} in 3 s`);
      lane.takeBack(() => true);
    }
  }
});

test('the rate limit can be removed, and says when the next request may start', () => {
  const lane = createLane<number>();
  const now = 1_000_000;
  lane.setRate(10);
  lane.add(numbered(50), now);
  assert.equal(startAndFinish(lane, true, now), 1);
  assert.equal(lane.nextStartAt(), now + 100);
  assert.equal(startAndFinish(lane, true, now + 99), 0);
  assert.equal(startAndFinish(lane, true, now + 100), 1);
  lane.setRate(null);
  assert.equal(lane.nextStartAt(), null);
  assert.ok(lane.start(now + 100).length > 5);
});

test('nothing waits for the rate limit if there is nothing to send or all are in progress', () => {
  const lane = createLane<number>();
  lane.setRate(1);
  assert.equal(lane.nextStartAt(), null);
  lane.add(numbered(2), 0);
  assert.equal(lane.start(5000).length, 1);
  assert.equal(lane.nextStartAt(), 6000);
  assert.equal(lane.start(6000).length, 1);
  assert.equal(lane.nextStartAt(), null);
});

test('draining takes back from the front what has not started, and leaves what is in progress', () => {
  const lane = createLane<number>();
  lane.add(numbered(20), 0);
  assert.equal(lane.start(0).length, 8);
  assert.deepEqual(
    lane.takeBack((job) => job < 12),
    [8, 9, 10, 11],
  );
  assert.deepEqual(
    lane.takeBack((job) => job > 12),
    [],
    'the first one stays, so all behind it do',
  );
  assert.deepEqual(
    lane.takeBack(() => true),
    numbered(8, 12),
  );
  assert.equal(lane.idleSince(), null);
  for (let finished = 0; finished < 8; finished += 1) lane.finished(true, 0);
  assert.equal(lane.idleSince(), 0);
});

test('starts or takes back every job exactly once, in order and within the limits, whatever happens', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), count: fc.nat(40) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.nat(1500) }),
    fc.record({ do: fc.constant('finish' as const), count: fc.nat(70), succeeded: fc.boolean() }),
    fc.record({ do: fc.constant('rate' as const), perSecond: fc.option(fc.integer({ min: 1, max: 200 })) }),
    fc.record({ do: fc.constant('drain' as const), upTo: fc.nat(100) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const lane = createLane<number>();
      let now = 1_000_000;
      let added = 0;
      let underWay = 0;
      let limit: Limit | null = null;
      const out: number[] = [];
      const start = () => {
        const started = lane.start(now);
        out.push(...started);
        underWay += started.length;
        assert.ok(underWay <= largestCap, `${underWay} at once`);
        for (const _ of started) limit?.startedAt.push(now);
      };
      const finish = (count: number, succeeded: boolean) => {
        for (let left = Math.min(count, underWay); left > 0; left -= 1) lane.finished(succeeded, 0);
        underWay -= Math.min(count, underWay);
      };
      for (const one of steps) {
        if (one.do === 'add') {
          lane.add(numbered(one.count, added), 0);
          added += one.count;
        } else if (one.do === 'rate') {
          lane.setRate(one.perSecond);
          limit = one.perSecond === null ? null : { perSecond: one.perSecond, startedAt: [] };
        } else if (one.do === 'pass') now += one.ms;
        else if (one.do === 'drain') out.push(...lane.takeBack((job) => job < one.upTo));
        else finish(one.count, one.succeeded);
        start();
        if (limit) assertSpaced(limit);
      }
      // Given time and responses, the lane empties.
      for (let turn = 0; lane.idleSince() === null; turn += 1) {
        assert.ok(turn < 10_000, 'it came to a stand');
        finish(underWay, true);
        now += 1000;
        start();
      }
      assert.deepEqual(out, numbered(added));
    }),
    { numRuns: 500 },
  );
});

interface Limit {
  perSecond: number;
  startedAt: number[];
}

/** Between any start and the last there are at most as many as that time allows, plus one second's worth to catch up. */
function assertSpaced({ perSecond, startedAt }: Limit): void {
  const last = startedAt.at(-1) ?? 0;
  for (const [index, at] of startedAt.entries()) {
    const most = Math.floor(((last - at) / 1000) * perSecond + 1e-6) + perSecond + 1;
    assert.ok(startedAt.length - index <= most, `${startedAt.length - index} in ${last - at} ms`);
  }
}
