/**
 * The journals of imports, in IndexedDB: what was sent, and what came of it. Neither content nor keys are in it. Each entry is
 * on the disk before what it tells of is relied on.
 */
import type { RecordInput } from '../../../src/bulk/record-input.ts';
import type { Journal, JournalState, Made } from '../../../src/bulk/run.ts';

export interface KeptImport {
  /** Follows from the workspace, the input and all options. */
  id: string;
  workspaceId: string;
  /** Of the file or the folder. */
  name: string;
  vaultAddress: string;
  totalBytes: number;
  begunAt: number;
  /** Rows that went in, or may have. */
  rows: number;
  complete: boolean;
  /** Null: files. */
  input: RecordInput | null;
  hashOnly: boolean;
}

export interface BrowserJournal extends Journal {
  /** What was made of this part of the input before; null: nothing. */
  madeOf(part: string): Promise<Made | null>;
}

const databaseName = 'holdfast-imports';

interface Entry {
  import: string;
  key: string;
  state: JournalState;
  part?: string;
}

/** Newest first. */
export async function listImports(workspaceId: string): Promise<KeptImport[]> {
  const all = await inStore('imports', 'readonly', (store) => done<KeptImport[]>(store.getAll()));
  return all.filter((one) => one.workspaceId === workspaceId).sort((a, b) => b.begunAt - a.begunAt);
}

export function findImport(id: string): Promise<KeptImport | null> {
  return inStore('imports', 'readonly', async (store) => (await done<KeptImport>(store.get(id))) ?? null);
}

export async function keepImport(kept: KeptImport): Promise<void> {
  await inStore('imports', 'readwrite', (store) => done(store.put(kept)));
}

export async function forgetImport(id: string): Promise<void> {
  const all = IDBKeyRange.bound([id], [id, []]);
  await whileNoOther(id, async () => {
    await inStore('requests', 'readwrite', (store) => done(store.delete(all)));
    await inStore('imports', 'readwrite', (store) => done(store.delete(id)));
  });
}

/** Refuses while another tab runs the import. */
export async function whileNoOther<T>(id: string, act: () => Promise<T>): Promise<T> {
  const name = `holdfast-import ${id}`;
  const ended = await navigator.locks.request(name, { ifAvailable: true }, async (lock) =>
    lock === null ? null : { result: await act() },
  );
  if (ended === null) throw new Error('Another tab of this browser is running this import. Look there.');
  return ended.result;
}

/** Another import of a file with this name into this vault; null: there is none. */
export async function findOther({
  id,
  workspaceId,
  name,
  vaultAddress,
}: KeptImport): Promise<KeptImport | null> {
  const isOther = (one: KeptImport) =>
    one.id !== id &&
    one.input !== null &&
    one.name === name &&
    one.vaultAddress === vaultAddress &&
    one.rows > 0;
  return (await listImports(workspaceId)).find(isOther) ?? null;
}

export function journalOf(id: string): BrowserJournal {
  return {
    async find(key) {
      const get = (store: IDBObjectStore) => done<Entry | undefined>(store.get([id, key]));
      return (await inStore('requests', 'readonly', get))?.state ?? null;
    },
    async note(key, state, part) {
      const entry: Entry = { import: id, key, state, ...(part !== undefined && { part }) };
      await inStore('requests', 'readwrite', (store) => done(store.put(entry)));
    },
    async madeOf(part) {
      const get = (store: IDBObjectStore) => done<Entry[]>(store.index('part').getAll([id, part]));
      for (const { key, state } of await inStore('requests', 'readonly', get))
        if (state.state === 'made') return { key, ids: state.ids };
      return null;
    },
  };
}

async function inStore<T>(
  name: 'imports' | 'requests',
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => Promise<T>,
): Promise<T> {
  try {
    const database = await openDatabase();
    const transaction = database.transaction(name, mode, { durability: 'strict' });
    const ended = new Promise<void>((resolve, reject) => {
      transaction.addEventListener('complete', () => resolve());
      transaction.addEventListener('abort', () => reject(transaction.error));
    });
    const [result] = await Promise.all([act(transaction.objectStore(name)), ended]);
    return result;
  } catch (cause) {
    throw new Error(
      `This browser does not keep the journal of the import (${(cause as Error)?.message ?? 'no reason given'}). Free some space, or use a window that is not private.`,
      { cause },
    );
  }
}

let opened: Promise<IDBDatabase> | null = null;

function openDatabase(): Promise<IDBDatabase> {
  opened ??= makeDatabase().catch((error) => {
    opened = null;
    throw error;
  });
  return opened;
}

async function makeDatabase(): Promise<IDBDatabase> {
  const asked = indexedDB.open(databaseName, 1);
  asked.addEventListener('upgradeneeded', () => {
    asked.result.createObjectStore('imports', { keyPath: 'id' });
    const requests = asked.result.createObjectStore('requests', { keyPath: ['import', 'key'] });
    requests.createIndex('part', ['import', 'part']);
  });
  const database = await done(asked);
  // A newer version of the page must not wait for this one.
  database.addEventListener('versionchange', () => {
    database.close();
    opened = null;
  });
  database.addEventListener('close', () => {
    opened = null;
  });
  return database;
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
}
