/** Requests of an import: each is sent until it is answered for good, also when the session ends meanwhile. */
import { type Answer, persist } from '../../../src/bulk/attempts.ts';
import { ImportStopped } from '../../../src/bulk/run.ts';
import { ApiError } from '../api/call.ts';
import { untilSession } from '../api/session-end.ts';

export interface Service {
  /** Throws ImportStopped when it is stopped before an answer. */
  ask(send: () => Promise<unknown>): Promise<Answer>;
  stopping: AbortSignal;
}

/** `tell`: why it waits; null: it works again. */
export function createService(stopping: AbortSignal, tell: (trouble: string | null) => void): Service {
  const attempts = {
    // Whoever looks at the page sees that it waits, and can stop it.
    giveUpMs: Number.POSITIVE_INFINITY,
    wait: (ms: number) => pause(ms, stopping),
    now: Date.now,
    stopping,
    tell,
  };
  async function answered(send: () => Promise<unknown>): Promise<Answer> {
    for (;;) {
      // Whoever signs in on another tab meanwhile is not the one who imports.
      await untilSession(stopping);
      if (stopping.aborted) throw new ImportStopped('It was interrupted.');
      try {
        return { status: 202, retryAfter: null, body: await send() };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { status, retryAfter, message, code } = error;
        if (status === 0) throw new Error('no connection');
        if (status !== 401) return { status, retryAfter, body: { message, errorCode: code } };
      }
    }
  }
  return { ask: (send) => persist(() => answered(send), attempts), stopping };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
