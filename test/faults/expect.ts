/** Waits for what a fault has to bring about; a Violation when it does not. */
import { waitUntil } from '../process.ts';
import { Violation } from './violation.ts';

export async function expectSoon<T>(
  what: string,
  ask: () => T | null | false | Promise<T | null | false>,
  { patienceMs, facts = async () => [] }: { patienceMs: number; facts?: () => Promise<unknown[]> },
): Promise<T> {
  try {
    return await waitUntil(ask, patienceMs);
  } catch (cause) {
    throw new Violation(`not within ${patienceMs} ms: ${what}`, [String(cause), ...(await facts())]);
  }
}
