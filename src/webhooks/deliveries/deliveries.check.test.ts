/** The check of the delivery log where the log is long, and where a delivery has many attempts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  attempt,
  openQueueFixture,
  type QueueFixture,
} from '../../../test/support/fixtures/webhook-queue-fixture.ts';
import { countEntries } from '../../../test/support/service/index-entries.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { walkSettings } from '../../db/rows-pass.ts';
import type { Finding, Pass } from '../../runtime/check.ts';
import { mostAttempts } from './attempts.ts';
import { deliveriesPass } from './deliveries.check.ts';

let fixture: QueueFixture;
/** As `fsck` opens it, with one connection. */
let single: Database;
before(async () => {
  fixture = await openQueueFixture({ fresh: true });
  single = openDatabase({
    connection: () => ({ connectionString: fixture.url }),
    settings: walkSettings,
    onError() {},
    max: 1,
  });
});
after(async () => {
  await single.close();
  await fixture.close();
});

async function walk(pass: Pass): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let after: unknown; ; ) {
    const page = await pass.look({ after, until: undefined });
    findings.push(...page.findings);
    if (page.last === undefined) return findings;
    after = page.last;
  }
}

test('accepts a delivery with more attempts than its log keeps, and misses none of those', async () => {
  await fixture.clear();
  await fixture.makeEndpoint();
  await fixture.makeEvents(1);
  for (let number = 1; number <= mostAttempts + 2; number += 1) {
    assert.deepEqual(await walk(deliveriesPass(single.db)), [], `after ${number - 1} attempts`);
    const [delivery] = await fixture.claim();
    assert.ok(delivery);
    await fixture.queue.complete([
      { delivery, status: 'pending', retryInMs: -1, attempt: attempt(number, 500) },
    ]);
  }
  assert.deepEqual(await walk(deliveriesPass(single.db)), []);
  const { rows } = await fixture.pool.query('select first_attempt, attempts from webhook_deliveries');
  const without = (place: number) => `attempts = attempts - ${place}`;
  const changes = [
    'first_attempt = null',
    "first_attempt = 'not JSON'",
    without(0),
    without(1),
    without(mostAttempts - 2),
  ];
  for (const change of changes) {
    await fixture.pool.query(`update webhook_deliveries set ${change}`);
    const rules = (await walk(deliveriesPass(single.db))).map(({ rule }) => rule);
    assert.deepEqual(rules, ['delivery_attempts'], change);
    await fixture.pool.query('update webhook_deliveries set first_attempt = $1, attempts = $2::jsonb', [
      rows[0].first_attempt,
      JSON.stringify(rows[0].attempts),
    ]);
  }
});

test('reads each delivery once, even if PostgreSQL expects hardly any', async () => {
  await fixture.clear();
  await fixture.makeEndpoint();
  await fixture.makeEvents(1);
  const [partition] = (
    await fixture.pool.query('select tableoid::regclass::text as name from webhook_deliveries limit 1')
  ).rows;
  await fixture.pool.query(`alter table ${partition.name} set (autovacuum_enabled = off)`);
  await fixture.pool.query('analyze webhook_deliveries');
  const deliveries = 6_000;
  await fixture.makeEvents(deliveries - 1);
  const entries = await countEntries(single.pool, {
    index: `${partition.name}_pkey`,
    work: async () => assert.deepEqual(await walk(deliveriesPass(single.db)), []),
  });
  assert.ok(entries >= deliveries && entries < 1.5 * deliveries, `${entries} entries read`);
});
