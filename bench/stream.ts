/**
 * A steady stream of requests from a process of its own: each goes out when its time has come, whether those before it
 * were answered or not. When too many are without an answer it waits, and what it did not get to is left out.
 */
import { startChild } from './child.ts';

export interface Stream {
  url: string;
  /** null: each goes out when one before it was answered. */
  perSecond: number | null;
  seconds: number;
  /** Before that, and not counted. */
  warmUpSeconds?: number;
  /** Requests at once, on as many connections. */
  inFlight: number;
  /** Gone round in this order. */
  requests: StreamRequest[];
  /** Whether the answers are wanted too. */
  keepAnswers?: boolean;
}

export interface StreamRequest {
  method: 'PATCH' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface StreamResult {
  /** From the first request to the last answer. */
  seconds: number;
  succeeded: number;
  /** Answers over that time. */
  perSecond: number;
  p99Ms: number;
  /** The first other answer or error. */
  fault: string | null;
  /** Those that succeeded, as text, and when they came (milliseconds since 1970); empty unless they are wanted. */
  answers: { at: number; text: string }[];
}

export interface StreamSource {
  pid: number;
  run(stream: Stream): Promise<StreamResult>;
  stop(): Promise<void>;
}

/** After the last request, for answers that are late. */
const longestLateMs = 30_000;

export async function startStreamSource(): Promise<StreamSource> {
  const child = startChild<Stream, StreamResult>(new URL('./stream.process.ts', import.meta.url));
  return {
    pid: child.pid,
    run: (stream) => child.ask(stream, ((stream.warmUpSeconds ?? 0) + stream.seconds) * 1000 + longestLateMs),
    stop: child.stop,
  };
}
