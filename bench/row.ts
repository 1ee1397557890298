/** A row of the benchmark: one piece of work, measured beside its peers or held against a limit. */
import type { Fixture } from './fixture.ts';
import type { CpuMicros } from './spent.ts';

export interface Row {
  name: string;
  /** What is measured, as the table says it. */
  what: string;
  /** Throws when something broke, which is another thing than being slow. */
  measure(fixture: Fixture): Promise<Outcome>;
  /** The same by services of two checkouts in turns. Absent: there is nothing to compare that way. */
  against?(sides: Versions): Promise<Outcome>;
}

/** Two checkouts, with a fixture each that starts services from there. */
export interface Versions {
  /** The commit that is compared with; the place of the peer in the table. */
  before: Fixture;
  now: Fixture;
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
  /** For one operation: what the unit counts, unless the comparison says otherwise. */
  cpuMicros?: CpuMicros | null;
}
