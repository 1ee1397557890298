/** Snapshots of PostgreSQL: which of the transactions that write had ended at a moment. */

export interface Snapshot {
  /** As PostgreSQL writes it: the oldest open transaction, the next one to begin, and all that are open. */
  text: string;
  next: number;
  open: ReadonlySet<number>;
}

export function parseSnapshot(text: string): Snapshot {
  const [, next = '', open = ''] = text.split(':');
  return { text, next: Number(next), open: new Set(open === '' ? [] : open.split(',').map(Number)) };
}

/** A snapshot that shows the same, but nothing of transactions after this one. */
export function upTo({ open }: Snapshot, last: number): string {
  const stillOpen = [...open].filter((number) => number <= last);
  return `${stillOpen[0] ?? last + 1}:${last + 1}:${stillOpen.join(',')}`;
}

/** Beyond this, some of them are certainly not to be ignored. */
const mostCompared = 64;

/** Whether a transaction, other than those to ignore, has ended between two snapshots. Until it ends, nobody sees its rows. */
export function hasEnded(before: Snapshot, after: Snapshot, ignored: readonly number[] = []): boolean {
  if (before.text === after.text) return false;
  const begun = after.next - before.next;
  // Numbers that go back belong to another server, which has taken over.
  if (begun < 0 || begun > mostCompared) return true;
  const ids = [...before.open, ...Array.from({ length: begun }, (_, place) => before.next + place)];
  return ids.some((id) => !after.open.has(id) && !ignored.includes(id));
}
