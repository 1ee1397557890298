/** What an archive of this folder must hold, written beside it when it is made and asked for whenever it is restored. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Proof } from '../../src/proof/verify/proof.ts';
import type { SavedPasskey } from '../support/clients/soft-passkey.ts';
import type { Service } from '../support/service/service.ts';

export interface Summary {
  /** What opens the key file beside the archive. */
  passphrase: string;
  /** As `holdfast backup` noted it. */
  createdAt: string;
  /** Of each table, as they are in the archive. */
  rows: Record<string, number>;
  /** By the names that `reads` uses. */
  keys: Record<string, string>;
  /** Keys that must be refused with 401. */
  refusedKeys: Record<string, string>;
  people: Person[];
  reads: Read[];
  files: FileRead[];
  /** Proofs as they were given out then; all of them must verify for ever, unless they are void. */
  proofs: (AskedProof & { key: string; document: Proof })[];
  /** In PEM: the root certificate of the timestamp authority of then. */
  timestampRoot?: string;
  /** Workers who sign one more entry with the passkeys that they had. */
  signers?: Signer[];
  /** For everybody who has their address, and a part of what they show. */
  pages?: { path: string; text: string }[];
  /** What was still to come when the backup was made, and must come after it is restored. */
  pending: { key: string; path: string; member: string; oneOf: string[] }[];
  /** The delivery that waited for its next attempt. */
  waitingDelivery: { key: string; id: string; attempts: number };
}

export interface Person {
  name: string;
  email: string;
  password: string;
  /** In base32, of whoever signs in with a second factor. */
  totpSecret: string | null;
  /** By workspace. */
  roles: Record<string, string>;
  /** With which they sign in as well. */
  passkey?: SavedPasskey;
  /** What they are asked once they have signed in, because no key may ask it. */
  reads?: Omit<Read, 'key'>[];
}

export interface Signer {
  key: string;
  worker: string;
  /** Of the sign-offs of an entry that they have not signed yet. */
  path: string;
  passkey: SavedPasskey;
}

/** A question and the members that its answer must have; more may be added to an answer by later versions. */
export interface Read {
  key: string;
  path: string;
  /** For the one list that is asked for with POST. */
  body?: object;
  expected: unknown;
}

export type Question = Omit<Read, 'expected'>;

export interface AskedProof {
  of: string;
  path: string;
  /** What it is the proof of, where that is text. */
  content: string | null;
}

/** What a part of the product has been filled with. */
export interface Filled {
  reads: Question[];
  /** Of what is final on the chain by the time that they are asked for. */
  proofs: AskedProof[];
}

export interface FileRead {
  key: string;
  fileId: string;
  version: number;
  /** Null: its content was erased, or never given. */
  sha256: string | null;
}

/** Whatever a mere look changes. */
const volatile = new Set(['lastUsedAt']);

/** An answer without what changes by itself. */
export function lasting(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(lasting);
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(
    Object.entries(answer)
      .filter(([name]) => !volatile.has(name))
      .map(([name, value]) => [name, lasting(value)]),
  );
}

/** Lists have to have the same things in the same order; things may have more members than they had. */
export function assertHolds(actual: unknown, expected: unknown, place: string): void {
  if (typeof expected !== 'object' || expected === null) {
    assert.deepEqual(actual, expected, `${place} is ${JSON.stringify(actual)}`);
  } else if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual), `${place} is no list`);
    assert.equal(actual.length, expected.length, `${place} has another length`);
    for (const [at, value] of expected.entries()) assertHolds(actual[at], value, `${place}[${at}]`);
  } else {
    assert.ok(typeof actual === 'object' && actual !== null, `${place} is ${JSON.stringify(actual)}`);
    for (const [name, value] of Object.entries(expected)) {
      assertHolds((actual as Record<string, unknown>)[name], value, `${place}.${name}`);
    }
  }
}

/** Whether it is a log: looks at other things may be written into it, so logs are read first. */
export function isLog({ path }: Pick<Read, 'path'>): boolean {
  return /\/(audit-log|access-log)\b/.test(path);
}

/** Whether it is a proof: these are compared as such. */
export function isProof({ path }: Pick<Read, 'path'>): boolean {
  return /\/proof\b/.test(path);
}

type Call = Service['call'];

/** The answer to a read; throws when it is not given. */
export async function ask(
  call: Call,
  keys: Summary['keys'],
  { key, path, body }: Question,
): Promise<unknown> {
  const options = { key: keys[key] ?? assert.fail(`there is no key ${key}`), ...(body && { body }) };
  const { status, text, json } = await call(body ? 'POST' : 'GET', path, options);
  assert.equal(status, 200, `${path}: ${text}`);
  return json;
}

/** Null when there is nothing to be downloaded. */
export async function downloadedDigest(
  url: string,
  keys: Summary['keys'],
  { key, fileId, version }: Omit<FileRead, 'sha256'>,
): Promise<string | null> {
  const path = `/api-v1/platform/files/${fileId}/content?version=${version}`;
  const response = await fetch(url + path, { headers: { 'x-api-key': keys[key] ?? '' } });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status === 404) return null;
  assert.equal(response.status, 200, `${path}: ${bytes}`);
  return createHash('sha256').update(bytes).digest('hex');
}
