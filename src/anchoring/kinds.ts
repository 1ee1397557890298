/**
 * All anchored kinds on one screen: the table that each kind's leaves belong to, and the event when one is confirmed. The
 * joins, the checks and the events are derived from it. A new kind needs a definition here, its label in proof/kinds.ts, and
 * a room with a table of its own that commits each row together with `pendingLeaf`.
 */
import type { Tables } from '../db/tables.ts';
import type { EventType } from '../events/catalogue.ts';
import type { Kind } from '../proof/kinds.ts';

export interface AnchoredKind {
  /**
   * The table with a row for each leaf, and its columns with the subject's id and the version of the leaf (null: always 1).
   */
  rows: { table: keyof Tables; subject: string; version: string | null } | null;
  /** The event that announces a confirmation: the member with the subject's id, and members taken from the leaf's claims. */
  confirmed: { type: EventType; subject: string; claims?: Record<string, string> } | null;
}

export const anchoredKinds: Record<Kind, AnchoredKind> = {
  record: {
    rows: { table: 'records', subject: 'id', version: 'version' },
    confirmed: { type: 'record.anchor.confirmed', subject: 'record_id' },
  },
  file: {
    rows: { table: 'file_versions', subject: 'file_id', version: 'version' },
    confirmed: { type: 'file.anchor.confirmed', subject: 'file_id' },
  },
  asset: {
    rows: { table: 'asset_versions', subject: 'asset_id', version: 'version' },
    confirmed: null,
  },
  // Files and assets announce their transfers when they change hands: see holdings/transfers/.
  transfer: {
    rows: { table: 'transfers', subject: 'subject_id', version: 'number' },
    confirmed: null,
  },
  validation: {
    rows: { table: 'file_validations', subject: 'file_id', version: 'number' },
    confirmed: null,
  },
  maintenance: {
    rows: { table: 'maintenances', subject: 'id', version: null },
    confirmed: {
      type: 'maintenance.anchor.confirmed',
      subject: 'maintenance_id',
      claims: { asset_id: 'assetId' },
    },
  },
  signoff: {
    rows: { table: 'signoffs', subject: 'maintenance_id', version: 'number' },
    confirmed: null,
  },
  // That a passkey is the worker's, or no longer.
  passkey: {
    rows: { table: 'passkey_statements', subject: 'worker_id', version: 'number' },
    confirmed: null,
  },
  dossier: { rows: { table: 'dossiers', subject: 'id', version: null }, confirmed: null },
  // Each leaf is of a point in the log, which its claims state.
  'audit-log': { rows: null, confirmed: null },
};
