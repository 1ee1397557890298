/** Erases what vaults no longer keep: a round of each rule every hour, in small steps, on one node at a time. */
import { type Loop, repeating } from '../../runtime/loop.ts';
import type { RetentionWork } from './retention.ts';

export function retentionLoop(work: RetentionWork): Loop {
  return { dispensable: true, ...repeating({ name: 'retention', restMs: 60_000, step: () => work.step() }) };
}
