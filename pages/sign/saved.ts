/**
 * Requests to sign that this device keeps, so that they can be signed without network, and the signatures that wait to be sent.
 * In IndexedDB, which the page and its service worker share.
 */
import type { Schemas } from './call.ts';
import type { Assertion } from './passkey.ts';

export type OpenRequest = Schemas['OpenSignRequest'];

/** What was signed, as it is sent. */
export interface Captured {
  /** ISO 8601. */
  signedAt: string;
  assertion: Assertion;
}

export interface SavedFile {
  fileId: string;
  /** The media type. */
  type: string;
  bytes: ArrayBuffer;
}

export interface SavedRequest {
  /** Of the link. */
  token: string;
  request: OpenRequest;
  /** How far the clock of the service was ahead of this one, in milliseconds. */
  aheadMs: number;
  /** In milliseconds since 1970, by this device. */
  savedAt: number;
  files: SavedFile[];
  state: 'open' | 'waiting' | 'sent' | 'refused';
  /** While it waits. */
  captured: Captured | null;
  /** Once it is sent, as the service took it. */
  signoff: Pick<Schemas['Signoff'], 'role' | 'signedAt' | 'workerName'> | null;
  /** Why it was refused, as the service says it. */
  refusal: string | null;
}

const databaseName = 'holdfast-sign';
const storeName = 'requests';

/** Between pages and the service worker. */
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(databaseName);
const listeners = new Set<() => void>();
channel?.addEventListener('message', tell);

/** Called after each change, also by another page or the service worker. */
export function onSavedChange(listener: () => void): void {
  listeners.add(listener);
}

/** Oldest first; empty where the browser keeps nothing. */
export async function readAllSaved(): Promise<SavedRequest[]> {
  const all = inStore('readonly', (store) => done(store.getAll() as IDBRequest<SavedRequest[]>));
  return (await all.catch(() => [])).sort((one, next) => one.savedAt - next.savedAt);
}

/** Null if there is none, or where the browser keeps nothing. */
export async function readSaved(token: string): Promise<SavedRequest | null> {
  const found = inStore('readonly', (store) => done(storedAs(store, token)));
  return (await found.catch(() => undefined)) ?? null;
}

/** Throws where the browser keeps nothing, or has no space left. */
export async function writeSaved(saved: SavedRequest): Promise<void> {
  await inStore('readwrite', (store) => done(store.put(saved)));
  announce();
}

/** Changes one that is in one of these states; another page may have changed it. Null if it is not. */
export async function changeSaved(
  token: string,
  from: readonly SavedRequest['state'][],
  change: Partial<SavedRequest>,
): Promise<SavedRequest | null> {
  const changed = await inStore('readwrite', async (store) => {
    const saved = await done(storedAs(store, token));
    if (!saved || !from.includes(saved.state)) return null;
    const changed = { ...saved, ...change };
    await done(store.put(changed));
    return changed;
  });
  if (changed !== null) announce();
  return changed;
}

export async function removeSaved(token: string): Promise<void> {
  await inStore('readwrite', (store) => done(store.delete(token))).catch(() => undefined);
  announce();
}

/** Removes what nobody can sign any more. What waits stays until the service has refused it. */
export async function removeEnded(): Promise<void> {
  for (const { token, state, request, aheadMs } of await readAllSaved()) {
    const isEnded = Date.parse(request.expiresAt) <= Date.now() + aheadMs;
    if (isEnded && state !== 'waiting') await removeSaved(token);
  }
}

function storedAs(store: IDBObjectStore, token: string): IDBRequest<SavedRequest | undefined> {
  return store.get(token);
}

function announce(): void {
  channel?.postMessage('changed');
  tell();
}

function tell(): void {
  for (const listener of listeners) listener();
}

/** Once it is on the disk. */
async function inStore<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => Promise<T>): Promise<T> {
  const database = await openDatabase();
  const transaction = database.transaction(storeName, mode, { durability: 'strict' });
  const ended = new Promise<void>((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(transaction.error));
  });
  const [result] = await Promise.all([act(transaction.objectStore(storeName)), ended]);
  return result;
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
  asked.addEventListener('upgradeneeded', () =>
    asked.result.createObjectStore(storeName, { keyPath: 'token' }),
  );
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
