/**
 * The first attempt of a delivery as the log stores it: a line of two JSON arrays, with a tab between them. JSON escapes
 * tabs, so SQL can read the first part alone, which leaves out the response.
 */
import type { Attempt } from './deliveries.ts';

export type AttemptHead = Omit<Attempt, 'responseHeaders' | 'responseBody'>;

export function writeFirstAttempt(attempt: Attempt): string {
  const { number, at, durationMs, statusCode, error, responseHeaders, responseBody } = attempt;
  const head = JSON.stringify([number, at, durationMs, statusCode, error]);
  return `${head}\t${JSON.stringify([responseHeaders, responseBody])}`;
}

export function readFirstAttempt(line: string): Attempt {
  const end = line.indexOf('\t');
  const [responseHeaders, responseBody] = JSON.parse(line.slice(end + 1));
  return { ...readAttemptHead(line.slice(0, end)), responseHeaders, responseBody };
}

export function readAttemptHead(head: string): AttemptHead {
  const [number, at, durationMs, statusCode, error] = JSON.parse(head);
  return { number, at, durationMs, statusCode, error };
}
