/** A row of the benchmark: one piece of work, measured beside its peers or held against a limit. */
import type { Fixture } from './fixture.ts';

export interface Row {
  name: string;
  /** What is measured, as the table says it. */
  what: string;
  /** Throws when something broke, which is another thing than being slow. */
  measure(fixture: Fixture): Promise<Outcome>;
}

export interface Outcome {
  /** A line of the table each. */
  comparisons: Comparison[];
  /** Single measurements, for the JSON. */
  details: object;
}

export interface Comparison {
  /** What is looked at here, in a word or two. */
  figure: string;
  /** null: there is a limit instead of a peer. A text says why there is none today. */
  peer: Figure | string | null;
  holdfast: Figure;
  /** Holdfast to peer. */
  ratio: number | null;
  /** As the table says it; null: only to be looked at. */
  toReach: string | null;
  /** null: nothing to reach, or no peer to hold it against. */
  reached: boolean | null;
}

export interface Figure {
  value: number;
  unit:
    | 'req/s'
    | 'records/s'
    | 'deliveries/s'
    | 'events/s'
    | 'blocks/s'
    | 'leaves/s'
    | 'pages/s'
    | 's'
    | 'ms'
    | 'µs'
    | 'B'
    | 'MB'
    | 'MB/s'
    | 'gas'
    | '% of a core'
    | 'statements';
  p99Ms: number | null;
}
