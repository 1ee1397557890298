/**
 * Groups rows into units: what one request makes. The same input gives the same units again, however its bytes arrive, so
 * that an interrupted import can send the very same request.
 */
import { requestLimits } from '../input/request-limits.ts';

/** What was read, with its place in the input. */
export interface Placed {
  line: number;
  /** Bytes of the input up to here. */
  end: number;
}

/** Nothing can or need be made of it. */
export type Left = { fault: string } | { skipped: string };

export interface Body {
  json: string;
  bytes: number;
  values: number;
}

export type Row = Placed & (Body | Left);

export interface UnitLimits {
  rows: number;
  bytes: number;
  values: number;
}

/** With room for what surrounds the records. */
export const recordUnits: UnitLimits = {
  rows: requestLimits.recordsInBatch,
  bytes: requestLimits.dataBytes - 1_000,
  values: requestLimits.jsonValues - 100,
};

/** Others are bounded, too: they are held until the rows before them are reported. */
const mostRows = 5_000;

export function isGood<R extends Placed>(row: R): row is Exclude<R, Left> {
  return !('fault' in row) && !('skipped' in row);
}

/** A single row may exceed the bounds of bytes and values. */
export async function* unitsOf(batches: AsyncIterable<Row[]>, limits: UnitLimits): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  let used = { rows: 0, bytes: 0, values: 0 };
  for await (const batch of batches) {
    for (const row of batch) {
      const needed = isGood(row) ? { rows: 1, bytes: row.bytes + 1, values: row.values } : none;
      const next = {
        rows: used.rows + needed.rows,
        bytes: used.bytes + needed.bytes,
        values: used.values + needed.values,
      };
      const isFull = next.rows > limits.rows || next.bytes > limits.bytes || next.values > limits.values;
      if ((needed !== none && used.rows > 0 && isFull) || rows.length >= mostRows) {
        yield rows;
        rows = [];
        used = needed;
      } else used = next;
      rows.push(row);
    }
  }
  if (rows.length > 0) yield rows;
}

const none = { rows: 0, bytes: 0, values: 0 };
