/**
 * No notice is raised without a reason: a service in steady use for a minute, or for an hour with HOLDFAST_TEST_STEADY_MINUTES=60.
 * Whatever is wrong is told four times as early as usual.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { usualHoldMs } from '../../src/notices/signs.store.ts';
import { openAssetFixture } from '../support/fixtures/asset-fixture.ts';
import { notices } from '../support/fixtures/notices-fixture.ts';
import { longOnly } from '../support/service/long.ts';
import { startService } from '../support/service/service.ts';

const minutes = Number(process.env.HOLDFAST_TEST_STEADY_MINUTES ?? 1);
const perSecond = 3;

test('a service in steady use tells nobody anything', {
  skip: longOnly,
  timeout: (minutes + 5) * 60_000,
}, async () => {
  const service = await startService({
    chain: true,
    env: { HOLDFAST_ANCHOR_INTERVAL_MS: '10000' },
    noticeTimes: { holdMs: usualHoldMs / 4 },
  });
  try {
    const { address: vaultAddress } = await openAssetFixture(service).newVault();
    const end = performance.now() + minutes * 60_000;
    for (let number = 1; performance.now() < end; number += 1) {
      const body = { vaultAddress, data: { number } };
      const { status, text } = await service.call('POST', '/api-v1/platform/records', { body });
      assert.equal(status, 202, text);
      await sleep(1_000 / perSecond);
    }
    assert.deepEqual(await notices(service), []);
    const { rows } = await service.sql(
      `select count(*) filter (where type = 'record.anchor.confirmed')::int as confirmed,
              count(*) filter (where envelope like '%notice_id%')::int as told from events`,
    );
    assert.equal(rows[0].told, 0, 'a notice was raised and cleared');
    assert.ok(rows[0].confirmed > 0, 'nothing was anchored');
  } finally {
    await service.close();
  }
});
