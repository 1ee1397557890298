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

test('a passphrase file is one line, without the line break that an editor adds', async () => {
  assert.equal(await fromFile(' correct horse \n'), ' correct horse ');
  assert.equal(await fromFile('correct horse\r\n'), 'correct horse');
  assert.equal(await fromFile('correct horse'), 'correct horse');
});

test('refuses an empty passphrase, and a file that is missing or has several lines', async () => {
  for (const text of ['', '\n', '   \n'])
    await assert.rejects(fromFile(text), /passphrase is empty|is empty: /);
  await assert.rejects(fromFile('-----BEGIN KEY-----\nabc\n'), /more than one line/);
  await assert.rejects(readPassphrase({ file: join(dir, 'nowhere'), what: 'it' }), /cannot be read/);
});
