/**
 * Checks maintenance entries and sign-offs: hashes, signatures, leaves, that the columns match the hashed text, and that the
 * entries of each asset form a chain.
 */

import { sql } from 'kysely';
import { joinLeaf, judgeLeaf, type LeafColumns, leafColumns } from '../../anchoring/anchored.check.ts';
import { isLeaf, leafKey } from '../../anchoring/anchored.ts';
import { firstLeaf } from '../../anchoring/batching/pending.ts';
import { writtenLeaves } from '../../anchoring/leaves/written-leaves.check.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { writtenIds } from '../../db/written-since.ts';
import { recordDigest } from '../../proof/content.ts';
import type { SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import type { Check, Finding, Pass } from '../../runtime/check.ts';
import type { MaintenanceEntry, Usage } from '../signing/maintenance-entry.ts';
import { verifySignoff } from '../signing/signoff.ts';
import { entryClaims } from './entry-chain.ts';

export function maintenancesCheck(db: Db): Check {
  return { name: 'maintenances', passes: [entriesPass(db), signoffsPass(db)] };
}

interface EntryRow extends LeafColumns {
  workspace_id: string;
  id: string;
  asset_id: string;
  number: number;
  vault_id: string;
  worker_address: string;
  worker_name: string;
  type: string;
  summary: string;
  performed_at: Date;
  usage_hours: number | null;
  usage_cycles: number | null;
  supersedes: string | null;
  created_at: Date;
  entry: string;
  salt: Buffer;
  hash: Buffer;
  has_asset: boolean;
  /** Null: nothing is superseded, or the superseded entry does not exist. */
  superseded_asset: string | null;
  leaf_claims: string | null;
  /** Whether the asset has an entry with the number before, and the leaf of that entry. */
  has_previous: boolean;
  previous_entry: Buffer | null;
}

function entriesPass(db: Db): Pass {
  return rowsPass<EntryRow>({
    db,
    what: 'maintenance entries',
    table: 'maintenances',
    written: [writtenIds(db, 'maintenances', 'mnt')],
    key: [
      { column: 'm.workspace_id', member: 'workspace_id' },
      { column: 'm.id', member: 'id' },
    ],
    read: ({ where, end }) => sql<EntryRow>`
      select m.workspace_id, m.id, m.asset_id, m.number, m.vault_id, m.worker_address, m.worker_name, m.type, m.summary,
             m.performed_at, m.usage_hours, m.usage_cycles, m.supersedes, m.created_at, m.entry, m.salt, m.hash,
             exists (
               select 1 from assets a where a.workspace_id = m.workspace_id and a.asset_id = m.asset_id
             ) as has_asset,
             old.asset_id as superseded_asset, leaf.claims as leaf_claims, p.id is not null as has_previous,
             l.leaf as previous_entry, ${leafColumns}
      from maintenances m
      left join lateral (
        select o.asset_id from maintenances o where o.workspace_id = m.workspace_id and o.id = m.supersedes limit 1
      ) as old on true
      left join lateral (
        select p.workspace_id, p.id from maintenances p
        where p.workspace_id = m.workspace_id and p.asset_id = m.asset_id and p.number = m.number - 1 limit 1
      ) as p on true
      left join anchor_leaves l on ${sql.raw(isLeaf(leafKey('maintenance', 'p')))} ${joinLeaf('maintenance', 'm')}
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgeEntry),
  });
}

const restore = 'The row was changed in the database: restore it from a backup.';

function judgeEntry(row: EntryRow): Finding[] {
  const { workspace_id: workspace, id: maintenance } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, maintenance },
      message: `The maintenance entry ${maintenance} ${what}.`,
      advice: restore,
    });
  if (digestOf(row.salt, row.entry) !== fromBytea(row.hash)) {
    find('maintenance_changed', 'has a document that does not match its hash');
  } else if (!saysTheSame(row, JSON.parse(row.entry))) {
    find('maintenance_shown_wrong', 'is listed with facts that differ from those that were hashed');
  }
  judgeLeaf('maintenance', row, { digest: row.hash, vaultId: row.vault_id }, find);
  if (!row.has_asset)
    find('maintenance_without_asset', `belongs to the asset ${row.asset_id}, which does not exist`);
  if (row.supersedes !== null && row.superseded_asset !== row.asset_id) {
    find(
      'maintenance_supersedes_nothing',
      `supersedes ${row.supersedes}, which is not an entry of its asset`,
    );
  }
  judgePlace(row, find);
  return findings;
}

/** An entry without a leaf, or after one without, is reported as such. */
function judgePlace(row: EntryRow, find: (rule: string, what: string) => void): void {
  const { number, asset_id: assetId, has_previous, previous_entry, leaf_claims } = row;
  const isFirst = number === 1;
  if (!isFirst && !has_previous) {
    find('maintenance_gap', `is number ${number} of its asset, which has no number ${number - 1}`);
    return;
  }
  const previousEntry = isFirst ? firstLeaf : previous_entry;
  if (leaf_claims === null || previousEntry === null) return;
  const expected = Object.entries(entryClaims(assetId, { number, previousEntry }));
  const claims = readClaims(leaf_claims);
  if (expected.every(([name, value]) => claims[name] === value)) return;
  find('maintenance_unchained', 'claims another asset, another number, or follows another entry');
}

/** The check of the leaves reports claims that were changed. */
function readClaims(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function saysTheSame(row: EntryRow, entry: MaintenanceEntry): boolean {
  const usage = entry.data.usage as Usage | undefined;
  return (
    entry.workspaceId === row.workspace_id &&
    entry.maintenanceId === row.id &&
    entry.assetId === row.asset_id &&
    entry.type === row.type &&
    entry.summary === row.summary &&
    entry.workerAddress === row.worker_address &&
    entry.workerName === row.worker_name &&
    entry.performedAt === row.performed_at.toISOString() &&
    (usage?.hours ?? null) === row.usage_hours &&
    (usage?.cycles ?? null) === row.usage_cycles &&
    entry.recordedAt === row.created_at.toISOString() &&
    entry.supersedes === row.supersedes
  );
}

interface SignoffRow {
  workspace_id: string;
  maintenance_id: string;
  number: number;
  role: string;
  document: string;
  salt: Buffer;
  hash: Buffer;
  /** Of the entry; null when it does not exist. */
  asset_id: string | null;
  entry_hash: Buffer | null;
  first: boolean;
  leaf_digest: Buffer | null;
  /** Whether the leaf follows the leaf of the entry. */
  follows: boolean | null;
}

function signoffsPass(db: Db): Pass {
  return rowsPass<SignoffRow>({
    db,
    what: 'sign-offs',
    table: 'signoffs',
    written: [
      writtenIds(db, 'signoffs', 'mnt', 'maintenance_id'),
      writtenLeaves(db, ['signoff'], { olderThan: 'mnt' }),
    ],
    key: [
      { column: 's.workspace_id', member: 'workspace_id' },
      { column: 's.maintenance_id', member: 'maintenance_id' },
      { column: 's.number', member: 'number' },
    ],
    // Recovering a signer takes about a millisecond.
    pageRows: 200,
    read: ({ where, end }) => sql<SignoffRow>`
      select s.workspace_id, s.maintenance_id, s.number, s.role, s.document, s.salt, s.hash, m.asset_id,
             m.hash as entry_hash,
             not exists (
               select 1 from signoffs p
               where p.workspace_id = s.workspace_id and p.maintenance_id = s.maintenance_id and p.number = s.number - 1
             ) as first,
             leaf.digest as leaf_digest, leaf.previous_leaf = l.leaf as follows
      from signoffs s
      left join lateral (
        select asset_id, hash from maintenances where workspace_id = s.workspace_id and id = s.maintenance_id limit 1
      ) as m on true ${joinLeaf('signoff', 's')}
      left join anchor_leaves l on ${sql.raw(isLeaf({ ...leafKey('signoff', 's'), kind: "'maintenance'", version: '1' }))}
      where ${where} ${end}`,
    async judge(rows) {
      const findings: Finding[] = [];
      for (const row of rows) findings.push(...(await judgeSignoff(row)));
      return findings;
    },
  });
}

async function judgeSignoff(row: SignoffRow): Promise<Finding[]> {
  const { workspace_id: workspace, maintenance_id: maintenance, number } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, maintenance, number },
      message: `The sign-off ${number} of the maintenance entry ${maintenance} ${what}.`,
      advice: restore,
    });
  if (digestOf(row.salt, row.document) !== fromBytea(row.hash)) {
    find('signoff_changed', 'has a document that does not match its hash');
  } else {
    const document = JSON.parse(row.document) as SignoffDocument;
    const [fault] = await verifySignoff(document, {
      workspaceId: workspace,
      assetId: row.asset_id ?? '',
      maintenanceId: maintenance,
      maintenanceHash: row.entry_hash ? fromBytea(row.entry_hash) : '0x',
    });
    if (fault !== undefined) find('signoff_invalid', `does not verify: ${fault}`);
    else if (document.role !== row.role)
      find('signoff_shown_wrong', 'counts in a different role than the one signed');
  }
  if (row.leaf_digest === null) find('signoff_without_leaf', 'has no leaf: it will never be anchored');
  else if (!row.leaf_digest.equals(row.hash) || !row.follows) {
    find('signoff_leaf_differs', 'has a leaf with a different hash, or one that does not follow its entry');
  }
  if (row.first !== (number === 1)) find('signoff_gap', 'has no previous sign-off');
  return findings;
}

/** Null when the text is not JSON or has no canonical form. */
function digestOf(salt: Buffer, text: string): string | null {
  try {
    return recordDigest(salt, JSON.parse(text));
  } catch {
    return null;
  }
}
