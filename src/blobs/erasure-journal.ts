/**
 * The journal of erasures: objects beside the blobs that name what was erased, and never what it was. They outlive the
 * database, so that a restore of an older backup erases the same things again.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { newId } from '../runtime/ids.ts';
import type { BlobStore } from './blob-store.ts';
import { journalFolder } from './object-names.ts';

export interface JournalledErasure {
  workspaceId: string;
  kind: 'record' | 'file';
  id: string;
  versions: number[];
  /** ISO 8601 time. */
  erasedAt: string;
}

/** The id of the service secret that authenticates the journal. It is in every backup, and survives new master keys. */
export const journalSecret = 'erasure-journal';

const Entry = Type.Object({
  workspaceId: Type.String(),
  kind: Type.Union([Type.Literal('record'), Type.Literal('file')]),
  id: Type.String(),
  versions: Type.Array(Type.Integer({ minimum: 1 })),
  erasedAt: Type.String(),
});
const Sealed = Type.Object({
  erasures: Type.String(),
  hmacSha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});

/** Durable when it resolves. */
export async function appendErasures(
  store: BlobStore,
  erasures: JournalledErasure[],
  key: Buffer,
): Promise<void> {
  const text = JSON.stringify(erasures);
  const object = JSON.stringify({ erasures: text, hmacSha256: macOf(text, key).toString('hex') });
  await store.put(`${journalFolder}/${newId('ers')}`, bytesOf(object));
}

/**
 * One object after the other, oldest first; `null` for one that was not written by this installation, or was changed.
 * Without a key, all are taken as they are.
 */
export async function* readErasures(
  store: BlobStore,
  key: Buffer | null,
): AsyncGenerator<{ name: string; erasures: JournalledErasure[] | null }> {
  const names: string[] = [];
  for await (const { name } of store.list(journalFolder)) names.push(name);
  for (const name of names.sort()) {
    yield { name, erasures: parse(await readText(store.get(name)), key) };
  }
}

/** Copies what the journal of one store has, and that of another lacks. */
export async function copyErasures(from: BlobStore, to: BlobStore): Promise<void> {
  const present = new Set<string>();
  for await (const { name } of to.list(journalFolder)) present.add(name);
  for await (const { name } of from.list(journalFolder))
    if (!present.has(name)) await to.put(name, from.get(name));
}

function parse(text: string, key: Buffer | null): JournalledErasure[] | null {
  try {
    const sealed = Value.Parse(Sealed, JSON.parse(text));
    const mac = Buffer.from(sealed.hmacSha256, 'hex');
    if (key && !timingSafeEqual(macOf(sealed.erasures, key), mac)) return null;
    return Value.Parse(Type.Array(Entry), JSON.parse(sealed.erasures));
  } catch {
    return null;
  }
}

function macOf(text: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
