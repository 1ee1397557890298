/** An entry on its way to the document thread: as text, which is copied fast whatever it contains. */
import type { DossierClocks } from './dossier-clocks.ts';
import type { KeptEntry, KeptSignoff } from './dossier-entries.ts';

export type PrintedSignoff = Omit<KeptSignoff, 'text' | 'salt'>;
export type PrintedEntry = Omit<SentEntry, 'text' | 'signoffs'> &
  Pick<KeptEntry, 'entry'> & { signoffs: PrintedSignoff[] };

type SentSignoff = Omit<KeptSignoff, 'document' | 'salt'>;
export interface SentEntry extends Omit<KeptEntry, 'entry' | 'salt' | 'signoffs'> {
  signoffs: SentSignoff[];
  /** Nobody but the operator of the service vouches for the time of its anchor. */
  developmentEvidence: boolean;
}

export function sendEntry(
  { entry: _entry, salt: _salt, signoffs, ...sent }: KeptEntry,
  clocks: Pick<DossierClocks, 'isDevelopment'>,
): SentEntry {
  return {
    ...sent,
    signoffs: signoffs.map(({ document: _document, salt: _salt, ...signoff }) => signoff),
    developmentEvidence: clocks.isDevelopment(sent.anchor),
  };
}

export function readEntry({ text, signoffs, ...sent }: SentEntry): PrintedEntry {
  return {
    ...sent,
    entry: JSON.parse(text),
    signoffs: signoffs.map(({ text, ...signoff }) => ({ ...signoff, document: JSON.parse(text) })),
  };
}
