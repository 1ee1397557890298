/** Waits for what a fault has to bring about; a Violation when it does not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../support/service/process.ts';
import { Violation } from './violation.ts';

/** Of a fault, for one thing that has to happen: ten times what it takes where the machine has nothing else to do. */
export const patienceMs = 90_000;

export async function expectSoon<T>(
  what: string,
  ask: () => T | null | false | Promise<T | null | false>,
  { facts = async () => [] }: { facts?: () => Promise<unknown[]> } = {},
): Promise<T> {
  try {
    return await waitUntil(ask, patienceMs);
  } catch (cause) {
    throw new Violation(`not within ${patienceMs} ms: ${what}`, [String(cause), ...(await facts())]);
  }
}

/** A call that hangs, a fee that is raised, and what an operator would have to mend each take up to 30 s. */
const longestStandstillMs = 120_000;
const lookEveryMs = 50;

/** Waits until nothing is left, however long that takes, as long as something changes in it. */
export async function expectNoneLeft(
  what: string,
  left: () => Promise<unknown[]>,
  { facts = async () => [] }: { facts?: () => Promise<unknown[]> } = {},
): Promise<void> {
  let before = '';
  for (let changedAt = performance.now(); ; await sleep(lookEveryMs)) {
    const now = await left();
    if (now.length === 0) return;
    const text = JSON.stringify(now);
    if (text !== before) changedAt = performance.now();
    before = text;
    if (performance.now() - changedAt > longestStandstillMs)
      throw new Violation(`nothing changes in ${longestStandstillMs} ms: ${what}`, [
        ...now.slice(0, 10),
        ...(await facts()),
      ]);
  }
}
