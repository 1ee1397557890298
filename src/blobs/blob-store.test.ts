/** The contract of every blob store, tested against each of them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type S3Server, startS3Server } from '../../test/support/clients/s3-server.ts';
import { BlobMissing, type BlobStore, StoreFailed } from './blob-store.ts';
import { openDiskStore } from './disk-store.ts';
import { openS3Store } from './s3-store.ts';

interface Fixture {
  store: BlobStore;
  /** Everything in the store, finished or not. */
  everything(): Promise<string[]>;
  /** The same store, unable to store anything. */
  broken(): Promise<BlobStore>;
  close(): Promise<void>;
}

const beds: Record<string, () => Promise<Fixture>> = { disk: openDiskFixture, S3: openS3Bed };

for (const [kind, openFixture] of Object.entries(beds)) {
  describe(`the blob store on ${kind}`, () => {
    let fixture: Fixture;
    let store: BlobStore;
    before(async () => {
      fixture = await openFixture();
      ({ store } = fixture);
    });
    after(() => fixture?.close());

    for (const size of [0, 1, 70_000, 9 << 20]) {
      test(`returns ${size} bytes as they were put, whole and in part`, async () => {
        const bytes = randomBytes(size);
        const name = `ws_1/blb_${size}`;
        assert.deepEqual(await store.put(name, pieces(bytes)), { bytes: size });
        assert.ok((await gather(store.get(name))).equals(bytes));
        for (const [start, end] of [
          [0, 2],
          [size >> 1, size],
          [1, size - 1],
          [size - 1, size + 100],
          [5, 5],
        ] as const) {
          if (start < 0 || start >= size) continue;
          assert.ok(
            (await gather(store.get(name, { start, end }))).equals(
              bytes.subarray(start, Math.max(start, end)),
            ),
          );
        }
        await store.remove(name);
      });
    }

    test('reports a missing object, and removing it is not an error', async () => {
      await assert.rejects(gather(store.get('ws_1/blb_none')), BlobMissing);
      await assert.rejects(gather(store.get('ws_1/blb_none', { start: 3, end: 9 })), BlobMissing);
      await store.remove('ws_1/blb_none');
    });

    test('lists stored objects with size and time until they are removed', async () => {
      const began = await diskTime();
      const names = ['ws_1/blb_a', 'ws_1/blb_b', 'ws_2/blb_a'];
      for (const [place, name] of names.entries()) await store.put(name, pieces(Buffer.alloc(place)));
      const listed = await listOf(store);
      assert.deepEqual(
        listed.map(({ name, bytes }) => [name, bytes]),
        names.map((name, place) => [name, place]),
      );
      const ended = await diskTime();
      // S3 reports the time in whole seconds.
      const toTheSecond = ({ modifiedAt }: { modifiedAt: Date }) => Math.floor(modifiedAt.getTime() / 1000);
      for (const second of listed.map(toTheSecond)) {
        assert.ok(second >= toTheSecond(began) && second <= toTheSecond(ended));
      }
      for (const name of names) await store.remove(name);
      assert.deepEqual(await listOf(store), []);
    });

    test('passes on the error of a source that fails midway, and leaves nothing', async () => {
      const cut = new Error('cut off');
      for (const before of [0, 1, 20]) {
        async function* failing() {
          for (let piece = 0; piece < before; piece += 1) yield randomBytes(1 << 20);
          throw cut;
        }
        await assert.rejects(store.put('ws_1/blb_cut', failing()), (error) => error === cut);
        assert.deepEqual(await fixture.everything(), []);
      }
    });

    test('an abort ends a put whose source hangs, and leaves nothing', async () => {
      const stopping = new AbortController();
      async function* silent() {
        yield randomBytes(100);
        setImmediate(() => stopping.abort(new Error('gone')));
        await new Promise(() => {});
      }
      await assert.rejects(store.put('ws_1/blb_gone', silent(), { signal: stopping.signal }), /gone/);
      await assert.rejects(store.put('ws_1/blb_gone', silent(), { signal: stopping.signal }), /gone/);
      assert.deepEqual(await fixture.everything(), []);
    });

    test('names cannot point outside the store', async () => {
      for (const name of ['../x', '/x', 'a/../x', 'a//x', '', 'a/x\0', 'a/.', 'ü']) {
        await assert.rejects(
          async () => store.put(name, pieces(Buffer.alloc(1))),
          /no name of an object/,
          name,
        );
        await assert.rejects(async () => gather(store.get(name)), /no name of an object/, name);
        await assert.rejects(async () => store.remove(name), /no name of an object/, name);
      }
      assert.deepEqual(await fixture.everything(), []);
    });

    test('a store that cannot write throws StoreFailed', async () => {
      const broken = await fixture.broken();
      await assert.rejects(broken.put('ws_1/blb_x', pieces(randomBytes(9 << 20))), StoreFailed);
      await broken.close();
    });

    test('concurrent puts do not mix', async () => {
      const contents = Array.from({ length: 8 }, () => randomBytes(200_000));
      await Promise.all(contents.map((bytes, place) => store.put(`ws_3/blb_${place}`, pieces(bytes))));
      for (const [place, bytes] of contents.entries()) {
        assert.ok((await gather(store.get(`ws_3/blb_${place}`))).equals(bytes));
        await store.remove(`ws_3/blb_${place}`);
      }
    });
  });
}

test('removes unfinished files of dead processes at once, and those of other machines once old', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-parts-'));
  const store = await openDiskStore(dir);
  try {
    const { promise: let_, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    async function* waiting() {
      yield Buffer.alloc(10);
      begin();
      await let_;
    }
    const putting = store.put('ws_1/blb_now', waiting());
    await begun;
    const [own = ''] = (await readdir(join(dir, 'ws_1'))).filter((name) => name.endsWith('.part'));
    const host = /\.([0-9a-f]{8})-/.exec(own)?.[1];
    // Linux assigns no pid this high.
    const dead = `blb_dead.${host}-4194999-1.part`;
    const elsewhere = 'blb_far.00000000-1-1.part';
    const now = new Date();
    for (const name of [dead, elsewhere]) {
      await writeFile(join(dir, 'ws_1', name), 'x');
      await utimes(join(dir, 'ws_1', name), now, now);
    }

    assert.equal(await store.removeUnfinished(60_000), 1);
    assert.deepEqual((await readdir(join(dir, 'ws_1'))).sort(), [elsewhere, own].sort());
    assert.equal(await store.removeUnfinished(0), 1);
    letGo();
    assert.deepEqual(await putting, { bytes: 10 });
    assert.deepEqual(await readdir(join(dir, 'ws_1')), ['blb_now']);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test('a full disk is a StoreFailed, and no partial file remains', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-full-'));
  try {
    const program = `
      import { openDiskStore } from ${JSON.stringify(new URL('./disk-store.ts', import.meta.url).href)};
      const store = await openDiskStore(${JSON.stringify(dir)});
      async function* bytes() { for (let piece = 0; piece < 80; piece += 1) yield Buffer.alloc(65_536); }
      await store.put('ws_1/blb_x', bytes()).catch((error) => console.log(error.name, error.cause.code));`;
    // Limits the files of this process to a mebibyte: the closest thing to a full disk that needs no privileges.
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -f 2048 && exec "$0" --input-type=module-typescript -e "$1"',
      process.execPath,
      program,
    ]);
    assert.equal(stdout.trim(), 'StoreFailed EFBIG');
    assert.deepEqual(await readdir(join(dir, 'ws_1')), []);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

async function openDiskFixture(): Promise<Fixture> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-blobs-'));
  const isFile = (path: string) => /blb_/.test(path);
  return {
    store: await openDiskStore(join(dir, 'blobs')),
    everything: async () => (await readdir(join(dir, 'blobs'), { recursive: true })).filter(isFile),
    async broken() {
      // A file in place of a directory: this fails for everybody, root included.
      await writeFile(join(dir, 'blobs', 'ws_1x'), '');
      const store = await openDiskStore(join(dir, 'blobs'));
      return { ...store, put: (_name, bytes) => store.put('ws_1x/blb_x', bytes) };
    },
    close: () => rm(dir, { recursive: true, force: true }),
  };
}

async function openS3Bed(): Promise<Fixture> {
  const server: S3Server = await startS3Server();
  const store = openS3Store(server.config);
  return {
    store,
    everything: async () => [
      ...(await server.unfinished()),
      ...(await listOf(store)).map(({ name }) => name),
    ],
    broken: async () => openS3Store({ ...server.config, bucket: 'no-such-bucket' }),
    async close() {
      await store.close();
      await server.close();
    },
  };
}

/** The modification time of a file written now. */
async function diskTime(): Promise<{ modifiedAt: Date }> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-time-'));
  const { mtime } = await stat(dir);
  await rm(dir, { recursive: true });
  return { modifiedAt: mtime };
}

async function* pieces(bytes: Buffer) {
  for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
}

async function gather(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of bytes) all.push(piece);
  return Buffer.concat(all);
}

async function listOf(store: BlobStore) {
  const all = [];
  for await (const object of store.list()) all.push(object);
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}
