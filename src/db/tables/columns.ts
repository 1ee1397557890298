/** What columns are read as and written as. */
import type { ColumnType } from 'kysely';

/** Read as Date, written as Date or ISO text, filled by the database when left out. */
export type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>;
export type NullableTimestamp = ColumnType<
  Date | null,
  Date | string | null | undefined,
  Date | string | null
>;
/** Inserted through writes.ts as its value; a Kysely update gives JSON text, because pg takes arrays for its own. */
export type Json<T> = ColumnType<T, T | undefined, string>;
