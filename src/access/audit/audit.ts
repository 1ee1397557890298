/** The audit log: who did what to what. Each entry is committed together with the change it describes. */
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { sql } from 'kysely';
import { locks, tryWithLock } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { createLowWater, type LowWater, oldestOpen } from '../../db/low-water.ts';
import type { Write } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { newId } from '../../runtime/ids.ts';

export interface AuditEntry {
  id: string;
  workspaceId: string;
  at: Date;
  actor: { kind: string; id: string };
  action: string;
  targetId: string;
  requestId: string | null;
  details: Record<string, unknown>;
  digest: string;
  sequence: number | null;
  hash: string | null;
}

export interface AuditedChange {
  /** In the form noun.verb. */
  action: string;
  targetId: string;
  details?: Record<string, unknown>;
}

export function auditWrite(caller: Caller, { action, targetId, details = {} }: AuditedChange): Write {
  const row = {
    workspace_id: caller.workspaceId,
    id: newId('aud'),
    at: new Date(),
    actor_kind: caller.actor.kind,
    actor_id: caller.actor.id,
    action,
    target_id: targetId,
    request_id: caller.requestId,
    details: withoutLargeValues(details),
  };
  return { table: 'audit_entries', row: { ...row, digest: entryDigest(row) } };
}

/** The log holds only the digest of larger values; the resource itself keeps them. */
const longestDetails = 4096;
const longestValue = 1024;

function withoutLargeValues(details: Record<string, unknown>): Record<string, unknown> {
  if (JSON.stringify(details).length <= longestDetails) return details;
  return Object.fromEntries(Object.entries(details).map(([name, value]) => [name, shortened(value, 3)]));
}

function shortened(value: unknown, depth: number): unknown {
  const text = JSON.stringify(value) ?? '';
  if (text.length <= longestValue) return value;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const members = isObject && depth > 0 ? Object.entries(value) : [];
  if (members.length > 0 && members.length <= 20)
    return Object.fromEntries(members.map(([name, one]) => [name.slice(0, 100), shortened(one, depth - 1)]));
  return { sha256: hash('sha256', canonicalize(value) ?? ''), bytes: Buffer.byteLength(text) };
}

export interface AuditQuery {
  workspaceId: string;
  action?: string | undefined;
  actorId?: string | undefined;
  targetId?: string | undefined;
  /** Id of the last entry of the previous page. */
  before?: string | undefined;
  limit: number;
}

/** Newest first. */
export async function listAuditEntries(db: Db, query: AuditQuery): Promise<AuditEntry[]> {
  let select = db
    .selectFrom('audit_entries')
    .selectAll()
    .where('workspace_id', '=', query.workspaceId)
    .orderBy('id', 'desc')
    .limit(query.limit);
  if (query.action !== undefined) select = select.where('action', '=', query.action);
  if (query.actorId !== undefined) select = select.where('actor_id', '=', query.actorId);
  if (query.targetId !== undefined) select = select.where('target_id', '=', query.targetId);
  if (query.before !== undefined) select = select.where('id', '<', query.before);
  const rows = await select.execute();
  return rows.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    at: row.at,
    actor: { kind: row.actor_kind, id: row.actor_id },
    action: row.action,
    targetId: row.target_id,
    requestId: row.request_id,
    details: row.details,
    digest: row.digest.toString('hex'),
    sequence: row.sequence,
    hash: row.hash?.toString('hex') ?? null,
  }));
}

export interface ChainingOptions {
  lowWater?: LowWater;
  /** Entries per call. */
  limit?: number;
}

/** Chains new entries, separately for each workspace; true when there may be more, `again` while another node does so. */
export async function chainAuditEntries(
  db: Db,
  { lowWater = createLowWater(), limit = 2000 }: ChainingOptions = {},
): Promise<boolean | 'again'> {
  return tryWithLock(db, locks.auditChain, async (db) => {
    const rows = await findUnchained(db, { lowWater, limit });
    if (rows.length === 0) return false;
    const heads = await chainHeads(db, [...new Set(rows.map((row) => row.workspace_id))]);
    const links = rows.map((row) => {
      const head = heads.get(row.workspace_id) ?? { sequence: 0, hash: firstHash };
      const next = { sequence: head.sequence + 1, hash: chainHash(head.hash, row.digest) };
      heads.set(row.workspace_id, next);
      return { workspaceId: row.workspace_id, id: row.id, ...next };
    });
    await sql`
      update audit_entries e set sequence = link.sequence, hash = link.hash
      from unnest(
        ${links.map(({ workspaceId }) => workspaceId)}::text[], ${links.map(({ id }) => id)}::text[],
        ${links.map(({ sequence }) => sequence)}::bigint[], ${links.map(({ hash }) => hash)}::bytea[]
      ) as link (workspace_id, id, sequence, hash)
      where e.workspace_id = link.workspace_id and e.id = link.id`.execute(db);
    return rows.length === limit;
  });
}

interface Unchained {
  workspace_id: string;
  id: string;
  digest: Buffer;
}

/** In order of their ids. */
async function findUnchained(db: Db, { lowWater, limit }: Required<ChainingOptions>): Promise<Unchained[]> {
  const { rows } = await sql<{ oldest_open: number; written_in: number | null } & Unchained>`
    select looked.oldest_open, waiting.* from (select ${oldestOpen} as oldest_open) as looked
    left join lateral (
      select written_in, workspace_id, id, digest from audit_entries
      where sequence is null and written_in >= ${lowWater.find()} order by written_in, id limit ${limit}
    ) as waiting on true`.execute(db);
  const waiting = rows.filter(({ written_in }) => written_in !== null);
  const lowest = waiting[0]?.written_in ?? null;
  lowWater.looked({ oldestOpen: rows[0]?.oldest_open ?? 0, lowest });
  return waiting.sort((a, b) => (a.id < b.id ? -1 : 1));
}

interface Head {
  sequence: number;
  hash: Buffer;
}

async function chainHeads(db: Db, workspaceIds: string[]): Promise<Map<string, Head>> {
  const { rows } = await sql<Head & { workspace_id: string }>`
    select w.id as workspace_id, head.sequence, head.hash
    from unnest(${workspaceIds}::text[]) as w (id)
    cross join lateral (
      select sequence, hash from audit_entries e
      where e.workspace_id = w.id and sequence is not null order by sequence desc limit 1
    ) as head`.execute(db);
  return new Map(rows.map(({ workspace_id, sequence, hash }) => [workspace_id, { sequence, hash }]));
}

export interface DigestedRow {
  workspace_id: string;
  id: string;
  at: Date;
  actor_kind: string;
  actor_id: string;
  action: string;
  target_id: string;
  request_id: string | null;
  details: Record<string, unknown>;
}

/** SHA-256 of the entry as a canonical JSON array (RFC 8785); docs/audit-log.md describes how to verify it. */
export function entryDigest(row: DigestedRow): Buffer {
  const texts = [
    'holdfast/audit@1',
    row.workspace_id,
    row.id,
    row.at.toISOString(),
    row.actor_kind,
    row.actor_id,
    row.action,
    row.target_id,
    row.request_id,
  ];
  // Strings have only one JSON form here; only the details need canonical ordering.
  const entry = `${JSON.stringify(texts).slice(0, -1)},${canonicalize(row.details)}]`;
  return Buffer.from(hash('sha256', entry), 'hex');
}

/** The hash that precedes the first entry of a workspace. */
export const firstHash = Buffer.alloc(32);

export function chainHash(previousHash: Buffer, digest: Buffer): Buffer {
  return Buffer.from(hash('sha256', Buffer.concat([previousHash, digest])), 'hex');
}
