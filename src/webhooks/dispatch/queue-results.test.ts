/** Results of deliveries in the queue: written down once, refused when the claim was lost, and due again when they failed. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import {
  attempt,
  openQueueFixture,
  type QueueFixture,
} from '../../../test/support/fixtures/webhook-queue-fixture.ts';
import { mostAttempts } from '../deliveries/attempts.ts';
import type { ClaimedDelivery } from './queue.ts';

let fixture: QueueFixture;
before(async () => {
  fixture = await openQueueFixture();
});
after(() => fixture.close());
beforeEach(() => fixture.clear());

test('keeps the first and the newest of many attempts, and counts all of them', async () => {
  await fixture.makeEndpoint();
  await fixture.makeEvents(1);
  for (let number = 1; number <= mostAttempts + 2; number += 1) {
    const [delivery] = await fixture.claim();
    assert.ok(delivery);
    await fixture.queue.complete([
      { delivery, status: 'pending', retryInMs: -1, attempt: attempt(number, 500) },
    ]);
  }
  const [row] = await fixture.rows();
  const newest = Array.from({ length: mostAttempts - 1 }, (_, place) => place + 4);
  assert.deepEqual(
    row?.attempts.map(({ number }) => number),
    [1, ...newest],
  );
  assert.equal(row?.attempt_count, mostAttempts + 2);
});

test("an expired claim goes to another node, and only that node's result is accepted", async () => {
  await fixture.makeEndpoint();
  await fixture.makeEvents(1);
  const [first] = await fixture.claim({ nodeId: 1 });
  assert.ok(first);
  assert.deepEqual(await fixture.claim({ nodeId: 2 }), [], 'not while the first has it');
  await fixture.change(`lease_until = now() - interval '1 second'`);
  const [second] = await fixture.claim({ nodeId: 2 });
  assert.equal(second?.id, first.id);
  const result = { status: 'succeeded' as const, retryInMs: null };
  const late = { ...result, delivery: first, attempt: attempt(1, 200) };
  assert.equal(await fixture.queue.complete([late]), 0);
  assert.deepEqual(
    (await fixture.rows()).map(({ status, attempts, claim_id }) => [status, attempts, claim_id]),
    [['pending', [], second?.claimId]],
  );
  const good = { ...result, delivery: second as ClaimedDelivery, attempt: attempt(1, 204) };
  assert.equal(await fixture.queue.complete([good]), 1);
  assert.equal(await fixture.queue.complete([late, good]), 0, 'nor after it is done');
  const [row] = await fixture.rows();
  assert.deepEqual(row?.attempts, [attempt(1, 204)]);
  assert.equal(row?.attempt_count, 1);
});

test('refuses a late result even if the row is back in its old place', async () => {
  await fixture.makeEndpoint();
  await fixture.makeEvents(1);
  const [first] = await fixture.claim({ nodeId: 1 });
  await fixture.change(`lease_until = now() - interval '1 second'`);
  const [second] = await fixture.claim({ nodeId: 2 });
  assert.ok(first && second);
  // PostgreSQL uses a place again that nobody sees any more.
  const late = { ...first, rowAt: second.rowAt };
  for (const status of ['succeeded', 'failed', 'pending'] as const) {
    const result = { delivery: late, status, retryInMs: status === 'pending' ? 1 : null };
    assert.equal(await fixture.queue.complete([{ ...result, attempt: attempt(1, 200) }]), 0, status);
  }
  assert.deepEqual(
    (await fixture.rows()).map(({ status, attempts, claim_id }) => [status, attempts, claim_id]),
    [['pending', [], second.claimId]],
  );
});

test('stores results in batches, and adds each attempt to the earlier ones', async () => {
  await fixture.makeEndpoint();
  await fixture.makeEvents(4);
  const claimed = await fixture.claim();
  const outcomes = ['succeeded', 'pending', 'failed', 'skipped'] as const;
  const taken = await fixture.queue.complete(
    claimed.map((delivery, index) => {
      const status = outcomes[index] ?? 'failed';
      return {
        delivery,
        status,
        retryInMs: status === 'pending' ? -1 : null,
        attempt: status === 'skipped' ? null : attempt(1),
      };
    }),
  );
  assert.equal(taken, 4);
  const by = new Map((await fixture.rows()).map((row) => [row.id, row]));
  for (const [index, { id }] of claimed.entries()) {
    const row = by.get(id);
    assert.ok(row);
    assert.equal(row.status, outcomes[index]);
    assert.equal(row.queued, row.status === 'pending');
    assert.equal(row.attempt_count, row.status === 'skipped' ? 0 : 1);
    assert.deepEqual(row.attempts, row.status === 'skipped' ? [] : [attempt(1)]);
    assert.deepEqual([row.claim_id, row.claimed_by, row.lease_until], [null, null, null]);
  }
  const [again] = await fixture.claim();
  assert.equal(again?.id, claimed[1]?.id);
  assert.equal(again?.attemptCount, 1);
  assert.equal(again?.firstAttemptAt?.toISOString(), attempt(1).at);
  await fixture.queue.complete([
    { delivery: again as ClaimedDelivery, status: 'pending', retryInMs: -1, attempt: attempt(2, 500) },
  ]);
  const [last] = await fixture.claim();
  assert.equal(last?.attemptCount, 2);
  assert.equal(last?.firstAttemptAt?.toISOString(), attempt(1).at, 'the first stays the first');
  await fixture.queue.complete([
    { delivery: last as ClaimedDelivery, status: 'failed', retryInMs: null, attempt: attempt(3, 500) },
  ]);
  const row = (await fixture.rows()).find(({ id }) => id === again?.id);
  assert.deepEqual(row?.attempts, [attempt(1), attempt(2, 500), attempt(3, 500)]);
  assert.deepEqual([row?.status, row?.attempt_count, row?.queued], ['failed', 3, false]);
  assert.deepEqual(await fixture.claim(), [], 'what is done is never claimed');
});

test('a delivery returned untried counts as no attempt, and keeps its place before retries', async () => {
  await fixture.makeEndpoint();
  await fixture.makeEvents(1);
  const [before] = await fixture.rows();
  const [delivery] = await fixture.claim();
  assert.ok(delivery);
  await fixture.queue.complete([{ delivery, status: 'pending', retryInMs: null, attempt: null }]);
  const [row] = await fixture.rows();
  assert.deepEqual([row?.status, row?.attempt_count, row?.retrying], ['pending', 0, false]);
  assert.deepEqual(row?.next_attempt_at, before?.next_attempt_at, 'it is due since when it was');
  assert.equal((await fixture.claim()).length, 1);
});

test('claims leftovers of earlier days, and stores them in the log of their own day', async () => {
  const dayMs = 24 * 60 * 60 * 1000;
  await fixture.makeEndpoint();
  const old = new Date(Date.now() - 5 * dayMs);
  await fixture.makeEvents(1, old);
  await fixture.makeEvents(1);
  const claimed = await fixture.claim();
  assert.deepEqual(
    claimed.map(({ createdAt }) => createdAt.getTime() === old.getTime()),
    [true, false],
  );
  const end = (delivery: ClaimedDelivery) =>
    ({ delivery, status: 'failed', retryInMs: null, attempt: attempt(1, 500) }) as const;
  assert.equal(await fixture.queue.complete(claimed.map(end)), 2);
  assert.deepEqual(
    (await fixture.rows()).map(({ status, attempts, queued }) => [status, attempts, queued]),
    [
      ['failed', [attempt(1, 500)], false],
      ['failed', [attempt(1, 500)], false],
    ],
  );
});

test('a retry is due by the clock of the database', async () => {
  await fixture.makeEndpoint();
  // Made by a node whose clock is an hour ahead.
  await fixture.makeEvents(1, new Date(Date.now() + 60 * 60 * 1000));
  const [delivery] = await fixture.claim();
  assert.ok(delivery, 'sent at once all the same');
  const asked = await fixture.pool.query('select clock_timestamp() as at');
  await fixture.queue.complete([
    { delivery, status: 'pending', retryInMs: 60_000, attempt: attempt(1, 500) },
  ]);
  const { rows } = await fixture.pool.query(
    `select next_attempt_at - interval '60 s' >= $1 as not_early, next_attempt_at - interval '60 s' <= now() as not_late
     from webhook_queue`,
    [asked.rows[0].at],
  );
  assert.deepEqual(rows, [{ not_early: true, not_late: true }]);
});
