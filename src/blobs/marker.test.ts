/** A node with another blob store than its installation is noticed at its start, and later by its readiness. */
import assert from 'node:assert/strict';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openTestDatabase } from '../../test/support/service/database.ts';
import { type BlobStore, StoreFailed } from './blob-store.ts';
import { openDiskStore } from './disk-store.ts';
import { requireMarker, watchMarker } from './marker.ts';

const log = { warn() {} };

async function open(t: TestContext) {
  const { db, close } = await openTestDatabase();
  const scratch = await mkdtemp(join(tmpdir(), 'holdfast-marker-'));
  t.after(async () => {
    await close();
    await rm(scratch, { recursive: true });
  });
  return { db, scratch, shared: await openDiskStore(join(scratch, 'shared')) };
}

test('nodes with one store agree, and one with a disk of its own is refused', async (t) => {
  const { db, scratch, shared } = await open(t);
  const id = await requireMarker({ db, store: shared, log });
  assert.equal(await requireMarker({ db, store: shared, log }), id);
  const own = await openDiskStore(join(scratch, 'own'));
  await assert.rejects(requireMarker({ db, store: own, log }), {
    name: 'OperatorError',
    message: new RegExp(
      `^The blob store is not the one of this installation: .*"installation".*${id}.*HOLDFAST_BLOB_URL`,
    ),
  });
  const listed = [];
  for await (const object of shared.list()) listed.push(object);
  assert.deepEqual(listed, []);
});

test('a start that was killed before the marker was written does not stop the next one', async (t) => {
  const { db, shared } = await open(t);
  const failing: BlobStore = { ...shared, put: () => Promise.reject(new Error('killed')) };
  await assert.rejects(requireMarker({ db, store: failing, log }), /killed/);
  const id = await requireMarker({ db, store: shared, log });
  assert.equal(await watchMarker(shared, id)(), 'up');
});

test('a store that is away at the start does not stop the service', async (t) => {
  const { db, shared } = await open(t);
  const id = await requireMarker({ db, store: shared, log });
  const warned: string[] = [];
  const away: BlobStore = {
    ...shared,
    // biome-ignore lint/correctness/useYield: it fails before the first byte
    async *get() {
      throw new StoreFailed('read', new Error('unplugged'));
    },
  };
  assert.equal(
    await requireMarker({ db, store: away, log: { warn: (_, message) => warned.push(message) } }),
    id,
  );
  assert.deepEqual(warned, ['the blob store cannot be reached']);
  assert.equal(await watchMarker(away, id)(), 'away');
});

test('a disk that is gone or another one is noticed while the service runs', async (t) => {
  const { db, scratch, shared } = await open(t);
  const id = await requireMarker({ db, store: shared, log });
  let time = 0;
  const look = watchMarker(shared, id, () => time);
  assert.equal(await look(), 'up');
  await rename(join(scratch, 'shared'), join(scratch, 'unmounted'));
  assert.equal(await look(), 'up', 'an answer counts for ten seconds');
  time += 10_000;
  assert.equal(await look(), 'foreign');
  await rename(join(scratch, 'unmounted'), join(scratch, 'shared'));
  time += 10_000;
  assert.equal(await look(), 'up');
});
