/** The types with which columns are read and written. */
import type { ColumnType } from 'kysely';

/** Read as Date, written as Date or ISO text; the database fills in the default. */
export type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>;
export type NullableTimestamp = ColumnType<
  Date | null,
  Date | string | null | undefined,
  Date | string | null
>;
/**
 * An insert through writes.ts takes the value; a Kysely update takes JSON text, because pg turns arrays into PostgreSQL
 * arrays.
 */
export type Json<T> = ColumnType<T, T | undefined, string>;
