/** Metrics whose value is read on each scrape. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { counter, gauge } from './metric.ts';

test('a value that is unknown is omitted, before the first one and after', async () => {
  let value: number | null = null;
  const registry = new Registry();
  registry.registerMetric(counter('holdfast_chain_reorgs_total', () => value));
  registry.registerMetric(gauge('holdfast_chain_indexed_block', () => value));
  const shown = async () =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('holdfast_'));

  assert.deepEqual(await shown(), []);
  for (const known of [17, 18, 0]) {
    value = known;
    const lines = [`holdfast_chain_reorgs_total ${known}`, `holdfast_chain_indexed_block ${known}`];
    assert.deepEqual(await shown(), lines);
  }
  value = null;
  assert.deepEqual(await shown(), []);
});
