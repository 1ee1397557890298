/**
 * What the rooms that own the facts tell about things that are wrong. `src/notices/` raises and clears notices from it, and
 * decides when people are told.
 */
import type { Db } from '../db/database.ts';
import type { EventData, NoticeType } from './catalogue.ts';

/** What a room states; the rest of the event's data is the same for all notices. */
export type NoticeData<T extends NoticeType> = Omit<EventData[T], 'notice_id' | 'state' | 'since'>;

/** Something about the whole installation that is wrong now. */
export type Sign = { [T in NoticeType]: SignOf<T> }[NoticeType];

interface SignOf<T extends NoticeType> {
  type: T;
  /** Two signs of one type and subject are the same. */
  subject: string;
  data: NoticeData<T>;
  /** Not bad enough to raise a notice, but enough to keep one. Without it, figures close to a limit would flap. */
  weak?: boolean;
  /** How long it has to last before it is told; usually long enough for a restart, a takeover or a failover. */
  holdMs?: number;
}

/** Looks at the installation. When it throws, what it last told still holds: a fault neither raises nor clears. */
export interface Watch {
  name: string;
  look(): Promise<Sign[]>;
}

export interface Thing {
  workspaceId: string;
  id: string;
}

/** What is wrong with a thing now. */
export interface Finding<T extends NoticeType = NoticeType> extends Thing {
  /** What of the thing, such as one of its intervals; `since`: when it became so, if that is known. */
  wrong: { subject: string; data: NoticeData<T>; since: Date | null }[];
  /** When time alone may change this; null: never. */
  lookAgainAt: Date | null;
}

/** Looks at things of workspaces, after a change or when their time has come. */
export interface ThingWatch<T extends NoticeType = NoticeType> {
  /** As the triggers of `migrations/0042_notices.sql` name it. */
  kind: string;
  type: T;
  /** One for each thing that exists. Times are compared with `now`, the clock of the database. */
  look(db: Db, things: Thing[], now: Date): Promise<Finding<T>[]>;
}

/** The workspaces and ids as arrays, for `unnest`. */
export function columnsOfThings(things: Thing[]): [string[], string[]] {
  return [things.map(({ workspaceId }) => workspaceId), things.map(({ id }) => id)];
}
