/** How many exports there are at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../errors.ts';
import { createExportLimit } from './export-limit.ts';

const is = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code && (error.retryAfterSeconds ?? 0) > 0;

test('a workspace and a node write so many exports at once, and another one when one is over', () => {
  const limit = createExportLimit({ ofNode: 3, ofWorkspace: 2 });
  const leave = limit.enter('ws_1');
  limit.enter('ws_1');
  assert.throws(() => limit.enter('ws_1'), is('rate_limit_exceeded'));
  limit.enter('ws_2');
  assert.throws(() => limit.enter('ws_3'), is('service_unavailable'));
  leave();
  leave();
  limit.enter('ws_3');
  assert.throws(() => limit.enter('ws_2'), is('service_unavailable'));
});
