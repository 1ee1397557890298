/** What the load client knows: which requests were acknowledged, which refused, and which nobody can tell. */
import type { Content } from './content.ts';

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

/** A file that was asked for; its name is its own. */
export interface FileEntry {
  name: string;
  /** As acknowledged. */
  id: string;
  /** How often an answer about it was lost. */
  lost: number;
  /** Oldest first. */
  versions: FileVersionEntry[];
  /** Whose it is, as far as was seen. */
  owner: Thing;
  /** Those that were acknowledged, each to whom. */
  transfers: { id: string; to: Thing }[];
  /** A transfer was asked for, and not seen to be completed. */
  underWay: boolean;
  validations: ValidationEntry[];
}

export interface FileVersionEntry {
  content: Content;
  /** False: only the hash was given. */
  stored: boolean;
  /** Whose it was then. */
  vault: Thing;
  /** Its Idempotency-Key. */
  key: string;
  acknowledged: boolean;
}

/** One that was acknowledged. */
export interface ValidationEntry {
  id: string;
  version: number;
  /** Whether what was presented is the version. */
  integrity: boolean;
  /** Who was said to own it; null: whoever did. */
  vault: Thing | null;
}

/** An asset that was asked for, with a worker assigned to it; its name is its id. */
export interface AssetEntry {
  name: string;
  vault: Thing;
  worker: Thing;
  lost: number;
  acknowledged: boolean;
  entries: MaintenanceRecord[];
}

/** A maintenance entry; its summary is its own. */
export interface MaintenanceRecord {
  summary: string;
  /** As acknowledged. */
  id: string;
  /** Whether it was signed as performed. */
  signed: boolean;
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
  files: FileEntry[];
  /** Their names. */
  refusedFiles: Set<string>;
  assets: AssetEntry[];
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
    files: [],
    refusedFiles: new Set(),
    assets: [],
    requests: { acknowledged: 0, refused: 0, unknown: 0, unavailable: 0, unsent: 0 },
    complaints: [],
  };
}
