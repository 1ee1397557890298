/** Which partition bounds of a backup are accepted as SQL, and which are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partitionBound } from './partition-bound.ts';

test('accepts the bounds that PostgreSQL prints, unchanged', () => {
  for (const bound of [
    'DEFAULT',
    "FOR VALUES FROM ('2026-11-15 00:00:00+00') TO ('2026-11-16 00:00:00+00')",
    "FOR VALUES FROM (MINVALUE) TO ('it''s')",
    "FOR VALUES IN ('a', 'b', NULL, -1.5)",
  ]) {
    assert.equal(partitionBound(bound), bound);
  }
});

test('refuses anything else', () => {
  for (const bound of [
    '',
    'FOR VALUES IN ()',
    'FOR VALUES IN (pg_sleep(1))',
    "FOR VALUES IN ('a') partition by range (id)",
    "FOR VALUES FROM ('a') TO ('b') with (fillfactor=10)",
    "FOR VALUES IN ((select 'a'))",
    "FOR VALUES IN ('a'); drop table vaults",
    "FOR VALUES IN (E'a')",
  ]) {
    assert.throws(() => partitionBound(bound), /cannot be read/, bound);
  }
});
