/** The reporter of a warm worker: sends each outcome to the runner. */
import type { TestEvent } from 'node:test/reporters';
import { outcomesOf } from './outcomes.ts';
import type { WarmMessage } from './warm-worker.ts';

const reported = new Map<string, PromiseWithResolvers<void>>();

/** Resolves once all outcomes of the file have been sent. */
export function fileReported(file: string): Promise<void> {
  return waitingFor(file).promise;
}

// biome-ignore lint/style/noDefaultExport: node:test takes a reporter from there
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const read = outcomesOf(1);
  const tell = (message: WarmMessage) => process.send?.(message);
  for await (const event of source) {
    const outcome = read(event);
    if (outcome !== null) tell({ outcome });
    const { type, data } = event;
    if (type === 'test:dequeue') tell({ began: data.name });
    if ((type === 'test:pass' || type === 'test:fail') && data.nesting === 0) waitingFor(data.name).resolve();
  }
  // A generator has to yield something.
  yield '';
}

function waitingFor(file: string): PromiseWithResolvers<void> {
  const known = reported.get(file) ?? Promise.withResolvers<void>();
  reported.set(file, known);
  return known;
}
