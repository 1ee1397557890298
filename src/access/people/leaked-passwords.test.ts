/** Leaked passwords are found in a sorted file by halving, and in a folder by prefix. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { AppError, OperatorError } from '../../runtime/errors.ts';
import { isCommonPassword } from './common-passwords.ts';
import { openLeakedPasswords } from './leaked-passwords.ts';
import { createPasswordRules } from './password-rules.ts';

const dir = mkdtempSync(join(tmpdir(), 'holdfast-leaked-'));
after(() => rmSync(dir, { recursive: true }));

const digestOf = (password: string) => hash('sha1', password).toUpperCase();
const leaked = Array.from({ length: 400 }, (_, n) => `leaked password ${n}`);
const lines = leaked.map((password, n) => `${digestOf(password)}:${1 + ((n * 7919) % 1_000_000)}`).sort();

function fileOf(name: string, text: string): string {
  const file = join(dir, name);
  writeFileSync(file, text);
  return file;
}

for (const [what, end] of [
  ['line feeds', '\n'],
  ['carriage returns', '\r\n'],
] as const) {
  test(`each line of a sorted file with ${what} is found, also the first and the last, and nothing else`, async () => {
    const list = openLeakedPasswords(fileOf(`sorted-${end.length}`, lines.join(end) + end));
    for (const password of leaked) assert.ok(await list.has(password), password);
    for (const password of leaked) assert.ok(!(await list.has(`${password}!`)), password);
  });
}

test('a file without an end of line, of one line, and an empty one can be searched', async () => {
  const [first = ''] = leaked;
  assert.ok(await openLeakedPasswords(fileOf('open-end', lines.join('\n'))).has(leaked[17] ?? ''));
  assert.ok(await openLeakedPasswords(fileOf('one', `${digestOf(first)}:3`)).has(first));
  assert.ok(!(await openLeakedPasswords(fileOf('none', '')).has(first)));
});

test('a folder by prefix is searched, and padding does not count', async () => {
  const folder = join(dir, 'folder');
  mkdirSync(folder);
  writeFileSync(join(folder, '00000'), `${'0'.repeat(35)}:1\n`);
  const [first = '', second = '', third = ''] = leaked;
  const put = (password: string, ending: string, count: number) =>
    writeFileSync(
      join(folder, `${digestOf(password).slice(0, 5)}${ending}`),
      `${'0'.repeat(35)}:1\r\n${digestOf(password).slice(5)}:${count}\r\n`,
    );
  put(first, '', 4);
  put(second, '.txt', 1);
  put(third, '.txt', 0);
  const list = openLeakedPasswords(folder);
  assert.deepEqual(await Promise.all([first, second, third].map((one) => list.has(one))), [
    true,
    true,
    false,
  ]);
  // A folder has every prefix: one that lacks is a fault, not an answer.
  await assert.rejects(list.has('not there'), (error) => (error as AppError).code === 'service_unavailable');
});

test('a list that is not one is noticed', async () => {
  assert.throws(() => openLeakedPasswords(dir), /no file 00000/);
  const text = 'a line of text that is no hash\n'.repeat(1_000);
  assert.throws(() => openLeakedPasswords(fileOf('text', text)), OperatorError);
  const later = openLeakedPasswords(fileOf('later', `${lines[0]}\n${text}`));
  await assert.rejects(later.has('x'), (error) => error instanceof AppError);
});

test('the rules refuse leaked passwords with a code of their own, with and without a list', async () => {
  const owner = { name: 'Ada Lovelace', email: 'ada.lovelace@example.com' };
  const codeOf = async (password: string, leakedPasswords: string | null) => {
    try {
      await createPasswordRules({ leakedPasswords }).require(password, owner);
      return null;
    } catch (error) {
      return (error as AppError).code;
    }
  };
  const file = fileOf('rules', `${digestOf('seven quiet lanterns')}:2\n`);
  assert.equal(await codeOf('seven quiet lanterns', file), 'password_leaked');
  assert.equal(await codeOf('seven quiet lanterns', null), null);
  for (const password of ['correct horse battery staple', 'Butterfly2024!', 'ManchesterUnited1'])
    assert.equal(await codeOf(password, null), 'password_leaked', password);
  assert.ok(!isCommonPassword('correct horse battery'));
  for (const password of ['lovelace and seven lanterns', 'my ada.lovelace lantern box'])
    assert.equal(await codeOf(password, null), 'invalid_request', password);
});
