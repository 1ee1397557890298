/** How the requests of a workspace are counted per minute. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OwnLimits, usualLimits } from '../../runtime/budgets.ts';
import type { Caller } from '../../runtime/caller.ts';
import type { AppError } from '../../runtime/errors.ts';
import { createRequestBudget } from './request-budget.ts';

test('counts the requests of a workspace per minute, whoever sends them', () => {
  let time = 0;
  const budget = createRequestBudget({ ...usualLimits, requests_per_minute: 3 }, () => time);
  const by = (id: string, workspaceId: string, limits: OwnLimits = {}): Caller => ({
    workspaceId,
    actor: { kind: 'api_key', id },
    scopes: [],
    requestId: null,
    limits,
  });
  for (const key of ['key_1', 'key_2', 'key_3']) budget.count(by(key, 'ws_1'));
  time = 20_000;
  assert.throws(
    () => budget.count(by('key_4', 'ws_1')),
    (error: AppError) => error.code === 'rate_limited' && error.retryAfterSeconds === 40,
  );
  budget.count(by('key_5', 'ws_2'));
  // With a higher limit set by the operator, or none.
  budget.count(by('key_1', 'ws_1', { requests_per_minute: 10 }));
  budget.count(by('key_1', 'ws_1', { requests_per_minute: null }));
  assert.deepEqual(budget.used('ws_2'), { used: 1, resetsAt: new Date(80_000) });
  time = 60_000;
  budget.count(by('key_4', 'ws_1'));
  assert.deepEqual(budget.used('ws_1'), { used: 1, resetsAt: new Date(120_000) });
  assert.deepEqual(budget.used('ws_3'), { used: 0, resetsAt: null });
});
