/**
 * The attempts of a delivery as the log stores them. The first is a line of two JSON arrays, with a tab between them. JSON
 * escapes tabs, so SQL can read the first part alone, which leaves out the response.
 */

/** A delivery that is retried by hand many times keeps its first attempt and the newest ones: each may have 200 KB. */
export const mostAttempts = 30;

export interface Attempt {
  number: number;
  at: string;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  responseHeaders: Record<string, string>;
  responseBody: string;
}

export type AttemptHead = Omit<Attempt, 'responseHeaders' | 'responseBody'>;

export function writeFirstAttempt(attempt: Attempt): string {
  const { number, at, durationMs, statusCode, error, responseHeaders, responseBody } = attempt;
  // PostgreSQL, which reads the first part, cannot unescape NUL and halves of characters.
  const readable = error?.replaceAll('\0', '').toWellFormed() ?? null;
  const head = JSON.stringify([number, at, durationMs, statusCode, readable]);
  return `${head}\t${JSON.stringify([responseHeaders, responseBody])}`;
}

function readFirstAttempt(line: string): Attempt {
  const end = line.indexOf('\t');
  const [responseHeaders, responseBody] = JSON.parse(line.slice(end + 1));
  return { ...readAttemptHead(line.slice(0, end)), responseHeaders, responseBody };
}

export function readAttemptHead(head: string): AttemptHead {
  const [number, at, durationMs, statusCode, error] = JSON.parse(head);
  return { number, at, durationMs, statusCode, error };
}

/** The log keeps the first attempt apart from the others. */
export function toAttempts(row: { first_attempt: string | null; attempts: unknown }): Attempt[] {
  const others = row.attempts as Attempt[];
  return row.first_attempt === null ? others : [readFirstAttempt(row.first_attempt), ...others];
}
