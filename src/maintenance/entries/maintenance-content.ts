/** The content of an entry: its document, the salted hash, and the rows to commit at its place in the asset's chain. */
import { firstLeaf, pendingLeaf } from '../../anchoring/batching/pending.ts';
import type { Write } from '../../db/writes.ts';
import { recordContent } from '../../holdings/records/record-content.ts';
import { newId, timeOf } from '../../runtime/ids.ts';
import {
  type AttachedFile,
  entryFormat,
  type MaintenanceEntry,
  type Requirement,
  type Usage,
} from '../signing/maintenance-entry.ts';
import { type EntryPlace, entryClaims } from './entry-chain.ts';

export interface NewEntry {
  workspaceId: string;
  assetId: string;
  /** The asset's owner. */
  vault: { id: string; address: string };
  worker: { id: string; address: string; name: string };
  type: string;
  summary: string;
  performedAt: Date;
  data: Record<string, unknown>;
  /** The usage that the data state. */
  usage: Usage | null;
  files: AttachedFile[];
  supersedes: string | null;
  requires: Requirement;
}

export interface MadeEntry {
  maintenanceId: string;
  maintenanceHash: `0x${string}`;
  recordedAt: Date;
  /** The leaf and the rows, which are to be committed together while the asset's chain is locked. */
  at(place: EntryPlace): { leaf: Buffer; writes: Write[] };
}

export function makeEntry(entry: NewEntry): MadeEntry {
  const { workspaceId, assetId, vault, worker, type, summary, performedAt, data, usage, files, supersedes } =
    entry;
  const { requires } = entry;
  const maintenanceId = newId('mnt');
  const recordedAt = timeOf(maintenanceId);
  const document: MaintenanceEntry = {
    format: entryFormat,
    workspaceId,
    assetId,
    maintenanceId,
    type,
    summary,
    performedAt: performedAt.toISOString(),
    recordedAt: recordedAt.toISOString(),
    workerAddress: worker.address,
    workerName: worker.name,
    data,
    files,
    supersedes,
    requires,
  };
  const { data: text, salt, digest, bytes } = recordContent(document, 'entry');
  const row = {
    workspace_id: workspaceId,
    id: maintenanceId,
    asset_id: assetId,
    vault_id: vault.id,
    worker_id: worker.id,
    worker_address: worker.address,
    worker_name: worker.name,
    type,
    summary,
    performed_at: performedAt,
    usage_hours: usage?.hours ?? null,
    usage_cycles: usage?.cycles ?? null,
    supersedes,
    entry: text,
    salt,
    hash: digest,
    created_at: recordedAt,
  };
  return {
    maintenanceId,
    maintenanceHash: `0x${digest.toString('hex')}`,
    recordedAt,
    at(place) {
      const { leaf, write } = pendingLeaf({
        workspaceId,
        kind: 'maintenance',
        subjectId: maintenanceId,
        version: 1,
        vault,
        digest,
        canonicalization: 'jcs',
        // Of the same subject there is none; the claims name the entry before.
        previousLeaf: firstLeaf,
        claims: entryClaims(assetId, place),
        storedBytes: bytes,
      });
      return { leaf, writes: [{ table: 'maintenances', row: { ...row, number: place.number } }, write] };
    },
  };
}
