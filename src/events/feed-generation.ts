/** The generation of the event feed: a restore assigns positions a second time, so earlier cursors must become invalid. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { AppError } from '../runtime/errors.ts';

export interface FeedGeneration {
  name: string;
  beganAt: Date;
}

/** It changes only while no service runs on the database, so reading it once at start-up is enough. */
export async function readFeedGeneration(db: Db): Promise<FeedGeneration> {
  const { generation, began_at } = await db
    .selectFrom('event_feed')
    .select(['generation', 'began_at'])
    .executeTakeFirstOrThrow();
  return { name: generation, beganAt: began_at };
}

/** Random instead of counted: the same backup may be restored twice, and readers may have followed either feed. */
export async function renewFeedGeneration(db: Db): Promise<void> {
  await sql`update event_feed set generation = gen_random_uuid()::text, began_at = now()`.execute(db);
}

/** The error for a cursor of another generation. */
export function cursorFromBefore({ beganAt }: FeedGeneration): AppError {
  return new AppError(
    'invalid_cursor',
    `This cursor is from before the service was restored from a backup (${beganAt.toISOString()}). Events from after that backup are gone, and other events have taken their place. Read the feed again without a cursor and skip the events whose id you know, or read it with order=newest back to an event that you know.`,
  );
}
