/** Copies erasures into the journal beside the blobs that their own request could not copy. */
import { type Changes, type Loop, repeating } from '../../runtime/loop.ts';
import type { ErasureJournal } from './erasures.ts';

export function erasureJournalLoop(journal: ErasureJournal, changes: Changes): Loop {
  return {
    // A temporarily unavailable store must not make the node report itself as not ready.
    dispensable: true,
    ...repeating({ name: 'erasure-journal', restMs: 10_000, changes, step: () => journal.step() }),
  };
}
