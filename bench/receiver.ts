/** The receiver of webhooks, in a process of its own and the same for every sender: it counts what really arrives. */
import { startChild } from './child.ts';

export type ReceiverQuestion =
  | { ask: 'listen' }
  /** Forgets what came before; from now on these paths count. */
  | { ask: 'expect'; paths: string[] }
  /** Answered when each of these paths has so many different events, or when the time is over. */
  | { ask: 'arrivals'; events: number; timeoutMs: number }
  /** Requests to this path are left without an answer; null: all are answered, those that waited as well. */
  | { ask: 'hang'; path: string | null };

export interface Arrivals {
  /** Between the first and the last of those that were expected. */
  seconds: number;
  /** All requests, those that came twice included. */
  requests: number;
  /** Different event ids, by path. */
  byPath: Record<string, number>;
  /** From the envelope's timestamp to here, by path, in milliseconds. */
  latenciesMs: Record<string, number[]>;
  /** The first request to each path, to check its signatures. */
  samples: Sample[];
}

export interface Sample {
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface Receiver {
  pid: number;
  url: string;
  expect(paths: string[]): Promise<void>;
  arrivals(expected: { events: number; timeoutMs: number }): Promise<Arrivals>;
  hang(path: string | null): Promise<void>;
  stop(): Promise<void>;
}

const soonMs = 20_000;

export async function startReceiver(): Promise<Receiver> {
  const child = startChild<ReceiverQuestion, unknown>(new URL('./receiver.process.ts', import.meta.url));
  try {
    const url = (await child.ask({ ask: 'listen' }, soonMs)) as string;
    return {
      pid: child.pid,
      url,
      async expect(paths) {
        await child.ask({ ask: 'expect', paths }, soonMs);
      },
      arrivals: async ({ events, timeoutMs }) =>
        (await child.ask({ ask: 'arrivals', events, timeoutMs }, timeoutMs + soonMs)) as Arrivals,
      async hang(path) {
        await child.ask({ ask: 'hang', path }, soonMs);
      },
      stop: child.stop,
    };
  } catch (error) {
    await child.stop();
    throw error;
  }
}
