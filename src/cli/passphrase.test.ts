/** How a passphrase file is read, and which are refused. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readPassphrase } from './passphrase.ts';

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-passphrase-'));
});
after(() => rm(dir, { recursive: true, force: true }));

async function fromFile(text: string): Promise<string> {
  const file = join(dir, 'passphrase');
  await writeFile(file, text);
  return readPassphrase({ file, what: 'a passphrase' });
}

test('a passphrase file is its one line, without the line break that an editor leaves', async () => {
  assert.equal(await fromFile(' correct horse \n'), ' correct horse ');
  assert.equal(await fromFile('correct horse\r\n'), 'correct horse');
  assert.equal(await fromFile('correct horse'), 'correct horse');
});

test('an empty passphrase is refused, and so is a file that is something else', async () => {
  for (const text of ['', '\n', '   \n'])
    await assert.rejects(fromFile(text), /passphrase is empty|is empty: /);
  await assert.rejects(fromFile('-----BEGIN KEY-----\nabc\n'), /more than one line/);
  await assert.rejects(readPassphrase({ file: join(dir, 'nowhere'), what: 'it' }), /cannot be read/);
});
