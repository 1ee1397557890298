/** A row of the benchmark: one piece of work, measured beside a peer or held against a limit. */
import type { Stage } from './stage.ts';

export interface Row {
  name: string;
  /** What is measured, as the table says it. */
  what: string;
  /** Throws when something broke, which is another thing than being slow. */
  measure(stage: Stage): Promise<Outcome>;
}

export interface Outcome {
  /** null: the row has a limit instead of a peer. */
  peer: Figure | null;
  holdfast: Figure;
  /** Holdfast to peer. */
  ratio: number | null;
  /** As the table says it. */
  toReach: string;
  reached: boolean;
  /** Single measurements, for the JSON. */
  details: object;
}

export interface Figure {
  value: number;
  unit: 'req/s' | 's';
  p99Ms: number | null;
}
