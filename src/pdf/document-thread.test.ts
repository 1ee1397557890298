/** The document thread: takes turns, has limits, never runs ahead of its readers, and is replaced when it hangs. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { afterEach, test } from 'node:test';
import { createDocumentThread, type DocumentThread, type DocumentThreadOptions } from './document-thread.ts';

const file = new URL('../../test/support/fixtures/document-thread-fixture.ts', import.meta.url);
let thread: DocumentThread | null = null;
afterEach(async () => {
  await thread?.close();
  thread = null;
});

function open(options: DocumentThreadOptions = {}): DocumentThread {
  thread = createDocumentThread(file, options);
  return thread;
}

/** The complete text of a document. */
function write(kind: string, input: unknown = null, workspaceId = 'one'): Promise<string> {
  assert.ok(thread);
  return text(thread.write({ workspaceId, kind, input }));
}

function threads(): number {
  // Not in the types: skips the lookup of host names.
  Object.assign(process.report, { excludeNetwork: true });
  return (process.report.getReport() as { workers: unknown[] }).workers.length;
}

const unavailable = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Error && 'code' in error);
  assert.equal(error.code, 'service_unavailable');
  assert.match(error.message, message);
  return true;
};

test('the first document starts the thread, and close ends it', async () => {
  open();
  assert.equal(threads(), 0);
  assert.equal(await write('text', 'one'), 'one');
  assert.equal(await write('text', 'two'), 'two');
  assert.equal(threads(), 1);
  await thread?.close();
  assert.equal(threads(), 0);
  await assert.rejects(write('text', 'late'), unavailable(/shutting down/));
});

test('documents in progress fail on close, and leave no thread', async () => {
  open();
  await write('text', 'begun');
  const endless = assert.rejects(write('endless'), unavailable(/shutting down/));
  const waiting = assert.rejects(write('text', 'behind it'), unavailable(/shutting down/));
  await thread?.close();
  await Promise.all([endless, waiting]);
  assert.equal(threads(), 0);
});

test('a document takes its items as it is read, and releases them when the reader stops', async () => {
  open();
  let taken = 0;
  let ended = false;
  async function* items() {
    try {
      for (;;) yield String(++taken);
    } finally {
      ended = true;
    }
  }
  assert.ok(thread);
  const pieces = thread.write({ workspaceId: 'one', kind: 'list', input: 'Many:', items: items() });
  let read = '';
  for await (const piece of pieces) {
    read += Buffer.from(piece);
    assert.ok(taken < 11);
    // The thread does other work while nobody reads this document.
    assert.equal(await write('text', 'other'), 'other');
    if (taken === 10) break;
  }
  assert.equal(read, 'Many: 1 2 3 4 5 6 7 8 9 10');
  assert.equal(ended, true);
});

test('a document ends with its items, and breaks off if they cannot be read', async () => {
  open();
  async function* items() {
    yield 'a';
    yield 'b';
  }
  async function* broken() {
    yield 'a';
    throw new Error('the database is away');
  }
  assert.ok(thread);
  const order = { workspaceId: 'one', kind: 'list', input: 'Two:' };
  assert.equal(await text(thread.write({ ...order, items: items() })), 'Two: a b.');
  await assert.rejects(text(thread.write({ ...order, items: broken() })), /the database is away/);
  assert.equal(await text(thread.write({ ...order, items: items() })), 'Two: a b.');
});

test('reports a document that cannot be drawn to its caller, and draws the next one', async () => {
  open();
  await assert.rejects(write('faulty'), /it cannot be drawn/);
  await assert.rejects(write('unheard-of'), /no documents of the kind/);
  await assert.rejects(
    write('text', () => {}),
    /could not be cloned/,
  );
  assert.equal(await write('text', 'fine'), 'fine');
});

test('ends a document that takes too long, and makes those behind it in another thread', async () => {
  open({ longestStepMs: 5_000 });
  assert.ok(thread);
  async function* items() {
    yield 'a';
    yield 'b';
  }
  // Begun earlier: the rest of it is lost with the thread.
  const begun = thread.write({ workspaceId: 'two', kind: 'list', input: 'Lost:', items: items() });
  await begun.next();
  const endless = assert.rejects(write('endless'), unavailable(/took too long/));
  const behind = write('text', 'behind it', 'three');
  await endless;
  assert.equal(await behind, 'behind it');
  await assert.rejects(text(begun), unavailable(/was interrupted/));
  assert.equal(await write('text', 'after it'), 'after it');
});

test('ends a document that uses too much memory, and no other', async () => {
  open({ memoryMb: 24 });
  await assert.rejects(write('large'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  assert.equal(await write('text', 'after it'), 'after it');
});

test('workspaces take turns, however many documents one of them requests', async () => {
  open();
  const done: string[] = [];
  const made = (workspaceId: string, input: string) =>
    write('text', input, workspaceId).then((text) => done.push(text));
  await Promise.all([
    ...Array.from({ length: 20 }, (_, place) => made('one', `one ${place}`)),
    made('two', 'two'),
    made('three', 'three'),
  ]);
  assert.deepEqual(done.slice(0, 5), ['one 0', 'one 1', 'two', 'three', 'one 2']);
  assert.equal(done.at(-1), 'one 19');
});

test('limits the documents in progress for one workspace and for all together', async () => {
  open({ mostOfWorkspace: 3, most: 4 });
  const some = ['one', 'one', 'one', 'two'].map((workspaceId) => write('text', 'made', workspaceId));
  await assert.rejects(write('text', 'x', 'one'), unavailable(/for this workspace/));
  await assert.rejects(write('text', 'x', 'three'), unavailable(/on this node/));
  assert.ok(thread);
  // Part of something that is already limited.
  const part = thread.write({ workspaceId: 'one', kind: 'text', input: 'part', part: true });
  assert.equal(await text(part), 'part');
  assert.deepEqual(await Promise.all(some), ['made', 'made', 'made', 'made']);
  assert.equal(await write('text', 'again', 'one'), 'again');
});
