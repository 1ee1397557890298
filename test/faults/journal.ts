/** What the load client knows: which requests were acknowledged, which refused, and which nobody can tell. */

/** A vault or worker that was asked for; its name is its own, and its Idempotency-Key too. */
export interface Thing {
  kind: 'vault' | 'worker';
  name: string;
  state: 'unknown' | 'acknowledged';
  /** How often the answer was lost before it was acknowledged. */
  lost: number;
  /** As acknowledged. */
  address: string;
  /** The moves of a vault that were acknowledged, oldest first. */
  moves: Move[];
  /** A move that was sent and not acknowledged yet. */
  moving: Move | null;
  description: string;
}

export type Move = 'deactivate' | 'reactivate';

/** A record that was asked for; its externalId is its own. */
export interface RecordEntry {
  externalId: string;
  vault: Thing;
  /** As acknowledged. */
  id: string;
  /** How often an answer about it was lost. */
  lost: number;
  /** Oldest first. */
  versions: { data: Record<string, unknown>; acknowledged: boolean }[];
}

/**
 * `unknown`: the connection was lost. `unavailable`: told to come back later, which says nothing about what was stored
 * either, since the database may have gone away just after its commit. `unsent`: nobody was listening.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown' | 'unavailable' | 'unsent';

export interface Journal {
  things: Thing[];
  /** Names of things whose creation was refused. */
  refused: Set<string>;
  records: RecordEntry[];
  /** Their externalIds. */
  refusedRecords: Set<string>;
  /** Requests by how they ended. */
  requests: Record<Outcome, number>;
  /** What nobody should ever see, noted where it was seen. */
  complaints: string[];
}

export function createJournal(): Journal {
  return {
    things: [],
    refused: new Set(),
    records: [],
    refusedRecords: new Set(),
    requests: { acknowledged: 0, refused: 0, unknown: 0, unavailable: 0, unsent: 0 },
    complaints: [],
  };
}
