/** The limit of concurrent exports. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../runtime/errors.ts';
import { createExportLimit } from './export-limit.ts';

test('limits concurrent exports of a workspace and of a node, and frees a place when one ends', () => {
  const limit = createExportLimit(3);
  const is = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;
  const leave = limit.enter('ws_1', 2);
  limit.enter('ws_1', 2);
  assert.throws(() => limit.enter('ws_1', 2), is('budget_exceeded'));
  assert.equal(limit.count('ws_1'), 2);
  limit.enter('ws_2', 2);
  assert.throws(
    () => limit.enter('ws_3', null),
    (error: unknown) => is('service_unavailable')(error) && (error as AppError).retryAfterSeconds === 10,
  );
  leave();
  leave();
  assert.equal(limit.count('ws_1'), 1);
  limit.enter('ws_3', null);
  assert.throws(() => limit.enter('ws_2', 2), is('service_unavailable'));
});
