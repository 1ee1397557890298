/** The archive of dossiers: complete, never ahead of its reader, and cancelled with it. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import yauzl from 'yauzl';
import { waitUntil } from '../../../test/support/service/process.ts';
import { createDossierArchive } from './dossier-archive.ts';

const mebibyte = 1024 * 1024;

/** Counts the pieces taken, and notes whether the generator was closed. */
function flow(pieces: number) {
  const state = { taken: 0, ended: false };
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      for (; state.taken < pieces; state.taken += 1) yield randomBytes(64 * 1024);
    } finally {
      state.ended = true;
    }
  }
  return { state, content: content() };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

test('files come out unchanged, and are listed with their sizes and hashes', async () => {
  const archive = createDossierArchive(new Date('2026-01-02T03:04:05Z'));
  const read = buffer(archive.stream);
  const large = randomBytes(300_000);
  const files = { 'a.txt': Buffer.from('Grüße'), 'b/empty': Buffer.alloc(0), 'b/large.bin': large };
  const pieces = [large.subarray(0, 100_000), large.subarray(100_000)];
  await archive.add('a.txt', Buffer.from('Grüße'));
  await archive.add('b/empty', Readable.from([]));
  await archive.add('b/large.bin', Readable.from(pieces), { size: large.length });
  archive.end();
  const zip = await yauzl.fromBufferPromise(await read);
  const found: Record<string, Buffer> = {};
  for await (const entry of zip.eachEntry()) {
    found[entry.fileName] = await buffer(await zip.openReadStreamPromise(entry));
  }
  assert.deepEqual(found, files);
  assert.deepEqual(
    archive.contents,
    Object.entries(files).map(([path, bytes]) => ({
      path,
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })),
  );
});

test('takes almost nothing ahead of the reader, and ends the source when the reader is gone', async () => {
  const archive = createDossierArchive(new Date());
  const { state, content } = flow(16_000);
  const added = archive.add('endless', content);
  archive.stream.read();
  // Until nothing moves any more, or far too much has been taken.
  let before = -1;
  while (before !== state.taken && state.taken < 1_000) {
    before = state.taken;
    await turns(2_000);
  }
  assert.ok(state.taken * 64 * 1024 < 2 * mebibyte, `${state.taken} pieces were taken ahead of the reader`);
  archive.stream.destroy();
  await assert.rejects(added);
  await waitUntil(() => state.ended);
  await assert.rejects(archive.add('more', Buffer.from('x')), /nobody reads/);
});

test('a failing source breaks off the archive', async () => {
  const archive = createDossierArchive(new Date());
  const read = buffer(archive.stream);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('begun');
    throw new Error('the disk is gone');
  }
  await archive.add('a', broken()).catch(archive.fail);
  await assert.rejects(read, /the disk is gone/);
});
