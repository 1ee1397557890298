/** The `curl` line of a request, run by a real shell. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { toCurl } from './curl.ts';

test('prints a request so that a shell passes exactly its parts to curl', () => {
  const odd = `it's "$HOME" \`id\` \\ \n %00 {}é`;
  const line = toCurl({
    method: 'POST',
    url: `http://127.0.0.1:1/a?b=${encodeURIComponent(odd)}`,
    headers: { 'x-odd': odd },
    body: odd,
  });
  const printed = execFileSync('sh', ['-c', line.replace(/^curl/, 'printf "%s\\0"')]).toString();
  assert.deepEqual(printed.split('\0').slice(0, -1), [
    ...['-isS', '--path-as-is', '-X', 'POST', `http://127.0.0.1:1/a?b=${encodeURIComponent(odd)}`],
    ...['-H', `x-odd: ${odd}`, '--data-raw', odd],
  ]);
});
