/** An entry on its way to the document thread: as text, which is copied fast whatever it contains. */
import type { KeptEntry, KeptSignoff } from './dossier-entries.ts';

export type PrintedSignoff = Omit<KeptSignoff, 'text' | 'salt'>;
export type PrintedEntry = Omit<KeptEntry, 'text' | 'salt' | 'signoffs'> & { signoffs: PrintedSignoff[] };

type SentSignoff = Omit<KeptSignoff, 'document' | 'salt'>;
export type SentEntry = Omit<KeptEntry, 'entry' | 'salt' | 'signoffs'> & { signoffs: SentSignoff[] };

export function sendEntry({ entry: _entry, salt: _salt, signoffs, ...sent }: KeptEntry): SentEntry {
  return { ...sent, signoffs: signoffs.map(({ document: _document, salt: _salt, ...signoff }) => signoff) };
}

export function readEntry({ text, signoffs, ...sent }: SentEntry): PrintedEntry {
  return {
    ...sent,
    entry: JSON.parse(text),
    signoffs: signoffs.map(({ text, ...signoff }) => ({ ...signoff, document: JSON.parse(text) })),
  };
}
