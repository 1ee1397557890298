/** The table of error codes. */
import { errorKinds } from '../../src/runtime/errors.ts';
import { table } from './markdown.ts';

export function errorsTable(): string {
  return table(
    ['errorCode', 'status', 'when', 'retry'],
    Object.entries(errorKinds).map(([code, { status, when, retry }]) => [
      `\`${code}\``,
      String(status),
      when,
      retry,
    ]),
  );
}
