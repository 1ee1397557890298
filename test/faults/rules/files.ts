/** Every file that was asked for is stored once in each of its versions, its bytes with it; none that was refused is. */
import { readdir } from 'node:fs/promises';
import { oraclePatienceMs } from '../client.ts';
import { hashOf } from '../content.ts';
import { filesPath } from '../file-load.ts';
import type { Fixture } from '../fixture.ts';
import type { FileEntry } from '../journal.ts';
import { blobDir } from '../nodes.ts';
import type { Rule } from '../rule.ts';
import { expectNone } from '../violation.ts';

interface Row {
  id: string;
  name: string;
  version: number;
  newest: number;
  address: string;
  hash: string;
  size: string | null;
  stored: boolean;
  current: boolean;
}

export const filesAreStored: Rule = {
  name: 'every file asked for is stored once, and nothing else is',
  when: 'restart',
  async check({ store, journal }) {
    const rows = await store.query<Row>(
      `select f.id, n.name, n.version, f.version as newest, v.address, '0x' || encode(n.content_hash, 'hex') as hash,
         n.size, n.blob_id is not null as stored, n.current
       from file_versions n
       left join files f on f.workspace_id = n.workspace_id and f.id = n.file_id
       left join vaults v on v.workspace_id = n.workspace_id and v.id = n.vault_id order by n.version`,
    );
    const stored = Map.groupBy(rows, ({ name }) => name);
    expectNone(
      'refused, but stored',
      [...journal.refusedFiles].filter((name) => rows.some((row) => row.name.includes(name))),
    );
    expectNone(
      'files that are not stored exactly as they were acknowledged',
      journal.files
        .map((entry) => ({ entry, found: stored.get(entry.name) ?? [] }))
        .filter(
          ({ entry, found }) =>
            found.length !== entry.versions.length ||
            found.some((row, place) => !isAsSent(entry, row, place)),
        ),
    );
    const asked = new Set(journal.files.map(({ name }) => name));
    expectNone(
      'stored, but never asked for',
      rows.filter(({ name }) => !asked.has(name)),
    );
  },
};

function isAsSent(entry: FileEntry, row: Row, place: number): boolean {
  const version = entry.versions[place];
  return (
    version !== undefined &&
    row.version === place + 1 &&
    row.newest === entry.versions.length &&
    row.id === entry.id &&
    row.address === version.vault.address &&
    row.hash === version.content.contentHash &&
    row.stored === version.stored &&
    row.size === (version.stored ? String(version.content.size) : null) &&
    row.current === (row.version === entry.versions.length)
  );
}

export const everyBlobHasItsObject: Rule = {
  name: 'every blob has its object, equal bytes of a vault are one, and no blob is without a file',
  when: 'restart',
  async check({ store, home }) {
    const objects = new Set(await objectsIn(home));
    const blobs = await store.query<{ name: string; vault_id: string; hash: string; needed: boolean }>(
      `select b.workspace_id || '/' || b.id as name, b.vault_id, encode(b.content_hash, 'hex') as hash, exists (
         select 1 from file_versions v where v.workspace_id = b.workspace_id and v.blob_id = b.id
       ) as needed
       from blobs b`,
    );
    expectNone(
      'blobs without their object, or without a file',
      blobs.filter(({ name, needed }) => !objects.has(name) || !needed),
    );
    const once = Map.groupBy(blobs, ({ vault_id, hash }) => `${vault_id} ${hash}`);
    expectNone(
      'bytes that a vault has more than once',
      [...once.values()].filter((same) => same.length > 1),
    );
  },
};

/** Whatever a kill left between an object and its row; the sweep may not take it before a day is over. */
export const orphansAreFew: Rule = {
  name: 'the store has no objects beyond those of blobs and of uploads that were killed',
  when: 'end',
  async check({ store, home, journal, count }) {
    const blobs = await store.query<{ name: string }>(
      "select workspace_id || '/' || id as name from blobs where erased_at is null",
    );
    const known = new Set(blobs.map(({ name }) => name));
    const orphans = (await objectsIn(home)).filter((name) => !known.has(name));
    // Also one that would have been refused.
    const { unknown, unavailable } = journal.requests;
    expectNone('objects that nobody can have left behind', orphans.slice(unknown + unavailable));
    count('objects left to the sweep', orphans.length);
  },
};

async function objectsIn(home: string): Promise<string[]> {
  const names = await readdir(blobDir(home), { recursive: true });
  return names.filter((name) => /\/blb_\w+$/.test(name));
}

const atOnce = 8;

export const everyContentComesBack: Rule = {
  name: 'the content of every version downloads as it was sent',
  when: 'end',
  async check(fixture) {
    const wrong: unknown[] = [];
    const queue = fixture.journal.files
      .flatMap((entry) => entry.versions.map((sent, place) => ({ entry, sent, version: place + 1 })))
      .filter(({ sent }) => sent.stored)
      .values();
    let bytes = 0;
    const work = async () => {
      for (const { entry, sent, version } of queue) {
        const got = await download(fixture, `${filesPath}/${entry.id}/content?version=${version}`);
        if (got.status !== 200 || hashOf(got.bytes) !== sent.content.contentHash)
          wrong.push({
            file: entry.id,
            version,
            status: got.status,
            sent: sent.content,
            got: got.bytes.length,
          });
        bytes += got.bytes.length;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expectNone('contents that are not what was sent', wrong);
    fixture.count('bytes downloaded and compared', bytes);
  },
};

function download({ client }: Fixture, path: string) {
  return client({ method: 'GET', path, patienceMs: oraclePatienceMs });
}
