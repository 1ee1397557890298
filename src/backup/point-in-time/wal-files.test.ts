/** The archived log is looked through before a restore relies on it: gaps, damage and missing ends are refused. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { verifyWal } from './wal-files.ts';

/** Like a segment that was archived early: some content that hardly compresses, and zeros. */
function segment(seed: string): Buffer {
  const plain = Buffer.alloc(16 * 1024 * 1024);
  for (let at = 0; at < 65_536; at += 32)
    createHash('sha256').update(`${seed} ${at}`).digest().copy(plain, at);
  return gzipSync(plain, { level: 1 });
}

const first = '0000000100000000000000FE';
const whole: Record<string, Buffer> = {
  '0000000100000000000000FD.gz': Buffer.from('before the base: nobody reads it'),
  [`${first}.gz`]: segment('a'),
  [`${first}.00000028.backup.gz`]: Buffer.from('not a segment'),
  '0000000100000000000000FF.gz': segment('b'),
  // Of another timeline, which begins within the segment before it.
  '0000000200000000000000FF.gz': segment('c'),
  '000000020000000100000000.gz': segment('d'),
};
const last = '0000000100000000000000FF.gz';

async function verify(change: (dir: string) => Promise<unknown> = async () => {}): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-wal-'));
  try {
    await mkdir(join(dir, 'wal'));
    for (const [name, bytes] of Object.entries(whole)) await writeFile(join(dir, 'wal', name), bytes);
    await change(join(dir, 'wal'));
    return await verifyWal(dir, first, { onProgress() {} });
  } finally {
    await rm(dir, { recursive: true });
  }
}

test('a log without gaps is accepted, across timelines and the carry of a number', async () => {
  assert.equal(await verify(), 4);
});

test('a log with a gap is refused, also at its beginning', async () => {
  const gone =
    (...names: string[]) =>
    async (wal: string) => {
      for (const name of names) await rm(join(wal, name));
    };
  await assert.rejects(
    verify(gone(last, '0000000200000000000000FF.gz')),
    /has a gap: segments before 0{7}20{7}10{8}\.gz/,
  );
  await assert.rejects(verify(gone(`${first}.gz`)), /has a gap: segments before 0{7}1/);
  const all = Object.keys(whole).filter((name) => name.slice(0, 24) >= first);
  await assert.rejects(verify(gone(...all)), /does not have 0000000100000000000000FE\.gz/);
});

test('damaged segments are refused, whatever the damage', async () => {
  const changed = (change: (bytes: Buffer) => Buffer) => async (wal: string) =>
    writeFile(join(wal, last), change(await readFile(join(wal, last))));
  const bitOfContent = changed((bytes) => {
    bytes[10_000] = (bytes[10_000] ?? 0) ^ 1;
    return bytes;
  });
  for (const damage of [
    bitOfContent,
    changed((bytes) => bytes.subarray(0, bytes.length >> 1)),
    changed(() => Buffer.alloc(0)),
    changed(() => gzipSync(Buffer.alloc(1_000))),
  ])
    await assert.rejects(verify(damage), new RegExp(`archived log is damaged: .*${last} cannot be used`));
});
