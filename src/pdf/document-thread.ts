/**
 * Draws documents in a separate thread: layout takes up to 100 µs per character, during which no request would be
 * answered. Workspaces take turns. The thread starts when first needed, and is replaced if it does not respond.
 */
import { Worker } from 'node:worker_threads';
import { AppError } from '../runtime/errors.ts';
import type { Step, StepAnswer } from './serve-drawings.ts';

export interface DocumentOrder {
  workspaceId: string;
  /** A kind that the thread knows. */
  kind: string;
  /** Copied to the thread, as are items. */
  input: unknown;
  /** For documents of any length: consumed as the document is read. */
  items?: AsyncIterable<unknown>;
  /** Never refused, because the whole that it belongs to is already limited. */
  part?: boolean;
}

export interface DocumentThread {
  /** In pieces, drawn as they are read. AppError service_unavailable if there are too many, or one takes too long. */
  write(order: DocumentOrder): AsyncGenerator<Uint8Array>;
  /** Ends the thread; running documents fail. */
  close(): Promise<void>;
}

export interface DocumentThreadOptions {
  /** How long one step may take; a typical one takes some 50 ms. */
  longestStepMs?: number;
  /** Documents in progress, in total and per workspace. */
  most?: number;
  mostOfWorkspace?: number;
  /** Memory limit of the thread; beyond it the thread is ended. */
  memoryMb?: number;
}

/** A step of one document; the next one is requested only after its answer. */
interface Waiting {
  step: Step;
  /** The thread where the document was begun; null if this step begins it. */
  begunIn: Worker | null;
  resolve(answer: Drawn): void;
  reject(error: unknown): void;
}

interface Drawn {
  bytes: Uint8Array;
  next: 'part' | 'item' | 'end';
  thread: Worker;
}

const retryAfterSeconds = 5;

export function createDocumentThread(file: URL, options: DocumentThreadOptions = {}): DocumentThread {
  const { longestStepMs = 30_000, most = 256, mostOfWorkspace = 32, memoryMb = 512 } = options;
  /** In order of turns. */
  const lines = new Map<string, Waiting[]>();
  const underWay = new Map<string, number>();
  let all = 0;
  let thread: Worker | null = null;
  let current: Waiting | null = null;
  let timer: NodeJS.Timeout | undefined;
  let lastId = 0;
  let closed = false;

  function startThread(): Worker {
    const started = new Worker(file, {
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
    });
    started.unref();
    started.on('message', (answer: StepAnswer) => {
      if (thread !== started || current?.step.id !== answer.id) return;
      const { resolve, reject } = finish(current);
      if ('error' in answer) reject(answer.error);
      else resolve({ ...answer, thread: started });
    });
    started.on('error', (error) => giveUp(started, error));
    started.on('exit', () => giveUp(started, new Error('the thread that makes documents ended')));
    return started;
  }

  function finish(done: Waiting): Waiting {
    clearTimeout(timer);
    current = null;
    thread?.unref();
    // After the code that awaits this step, so that its next step is already queued.
    setImmediate(startNext);
    return done;
  }

  /** The next thread draws documents that are not begun yet; those begun in this one are lost. */
  function giveUp(ended: Worker, error: unknown): void {
    if (thread !== ended) return;
    const lost = current && finish(current);
    thread = null;
    lost?.reject(error);
  }

  /** Workspaces take turns, however many steps each of them has queued. */
  function takeNext(): Waiting | undefined {
    const [line] = lines;
    if (!line) return undefined;
    const [workspaceId, [next, ...later]] = line;
    lines.delete(workspaceId);
    if (later.length > 0) lines.set(workspaceId, later);
    if (!next || next.begunIn === null || next.begunIn === thread) return next;
    next.reject(new AppError('service_unavailable', lostInWords, { retryAfterSeconds }));
    return takeNext();
  }

  function startNext(): void {
    if (current || closed) return;
    const next = takeNext();
    if (!next) return;
    thread ??= startThread();
    const used = thread;
    current = next;
    // While a step is running, the process must not exit for lack of other work.
    used.ref();
    timer = setTimeout(() => {
      giveUp(used, new AppError('service_unavailable', tooLongInWords, { retryAfterSeconds }));
      void used.terminate();
    }, longestStepMs);
    try {
      used.postMessage(next.step);
    } catch (error) {
      // The input cannot be copied.
      finish(next).reject(error);
    }
  }

  function ask(workspaceId: string, step: Step, begunIn: Worker | null): Promise<Drawn> {
    if (closed) return Promise.reject(closing());
    return new Promise((resolve, reject) => {
      const line = lines.get(workspaceId) ?? [];
      line.push({ step, begunIn, resolve, reject });
      lines.set(workspaceId, line);
      startNext();
    });
  }

  function enter({ workspaceId, part = false }: DocumentOrder): () => void {
    const own = underWay.get(workspaceId) ?? 0;
    if (!part && (own >= mostOfWorkspace || all >= most)) {
      const whose = own >= mostOfWorkspace ? 'for this workspace' : 'on this node';
      throw new AppError(
        'service_unavailable',
        `Too many documents are being generated ${whose} right now. Try again shortly.`,
        { retryAfterSeconds },
      );
    }
    underWay.set(workspaceId, own + 1);
    all += 1;
    return () => {
      all -= 1;
      const rest = (underWay.get(workspaceId) ?? 1) - 1;
      if (rest === 0) underWay.delete(workspaceId);
      else underWay.set(workspaceId, rest);
    };
  }

  return {
    async *write(order) {
      const { workspaceId, kind, input } = order;
      const leave = enter(order);
      lastId += 1;
      const id = lastId;
      const items = order.items?.[Symbol.asyncIterator]();
      let drawn: Drawn | null = null;
      try {
        drawn = await ask(workspaceId, { id, begin: { kind, input } }, null);
        for (;;) {
          if (drawn.bytes.length > 0) yield drawn.bytes;
          if (drawn.next === 'end') return;
          const item = drawn.next === 'item' ? await items?.next() : undefined;
          const goOn: unknown = item?.done ? undefined : item?.value;
          drawn = await ask(workspaceId, { id, goOn }, drawn.thread);
        }
      } finally {
        leave();
        if (drawn && drawn.next !== 'end' && drawn.thread === thread) thread.postMessage({ id, drop: true });
        await items?.return?.();
      }
    },
    async close() {
      closed = true;
      const ending = thread;
      thread = null;
      clearTimeout(timer);
      const left = [...(current ? [current] : []), ...[...lines.values()].flat()];
      current = null;
      lines.clear();
      for (const { reject } of left) reject(closing());
      await ending?.terminate();
    },
  };
}

const tooLongInWords = 'The document took too long to generate. Try again later.';
const lostInWords = 'Generating the document was interrupted. Try again.';

function closing(): AppError {
  return new AppError('service_unavailable', 'The service is shutting down.', { retryAfterSeconds });
}
