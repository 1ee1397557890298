/** Reads ranges of blocks without having more than a page of them in memory. */
import type { Results, StoredBlock } from '../results/results.store.ts';
import { invalid } from './faults.ts';

const pageBytes = 1_000_000;
const longestMs = 5_000;

/** In order. Gives up after some seconds, with a fault that says what to do about it. */
export async function* blocksInPages(
  { from, to }: { from: number; to: number },
  results: Pick<Results, 'blocks'>,
  now: () => number = () => performance.now(),
): AsyncGenerator<StoredBlock> {
  const began = now();
  let next = from;
  while (next <= to) {
    if (now() - began > longestMs) {
      throw invalid(`no answer within ${longestMs} ms: use a smaller range of blocks`);
    }
    const page = await results.blocks({ from: next, to, mostBytes: pageBytes });
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    next = last.number + 1;
  }
}
