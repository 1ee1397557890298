/** How workspaces take turns, and how much work each may queue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createWorkspaceTurns } from './workspace-turns.ts';

test('workspaces take turns, one piece of work at a time, and each may queue only so many', async () => {
  const turns = createWorkspaceTurns({ mostOfWorkspace: 3, refusal: () => new Error('too many') });
  const done: string[] = [];
  let running = 0;
  const piece = (workspaceId: string, name: string, fails = false) =>
    turns(workspaceId, async () => {
      running += 1;
      assert.equal(running, 1);
      await setImmediate();
      running -= 1;
      done.push(name);
      if (fails) throw new Error(name);
      return name;
    });
  const all = [
    piece('a', 'a1', true),
    piece('a', 'a2'),
    piece('a', 'a3'),
    piece('b', 'b1'),
    piece('c', 'c1'),
  ];
  await assert.rejects(piece('a', 'a4'), /too many/);
  const ended = await Promise.allSettled(all);
  assert.deepEqual(
    ended.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual(done, ['a1', 'b1', 'c1', 'a2', 'a3']);
  assert.equal(await piece('a', 'a5'), 'a5', 'what ended makes room');
});
