/** The audit log: who did what to what. Each entry is committed together with the change it describes. */
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Db } from '../../db/database.ts';
import type { Write } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { newId } from '../../runtime/ids.ts';
import type { AuditAction } from './actions.ts';
import { findPlaces, keyOf } from './audit-segments.ts';

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
  action: AuditAction;
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
  /** No entries before this id. */
  end?: string | undefined;
  limit: number;
}

/** Entries that one search goes through. */
const searchedAtOnce = 10_000;

/** Where a search for the action or the actor of entries ends, which have no index; undefined: at the oldest. */
export async function endOfSearch(
  db: Db,
  { workspaceId, before }: { workspaceId: string; before: string | undefined },
  searched = searchedAtOnce,
): Promise<string | undefined> {
  let select = db
    .selectFrom('audit_entries')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .orderBy('id', 'desc')
    .offset(searched - 1)
    .limit(1);
  if (before !== undefined) select = select.where('id', '<', before);
  return (await select.executeTakeFirst())?.id;
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
  if (query.end !== undefined) select = select.where('id', '>=', query.end);
  const rows = await select.execute();
  // A filter may pick a few of very many.
  const places = await findPlaces(db, rows, { closeMs: 50 });
  return rows.map((row) => {
    const place = places.get(keyOf(row))?.[0];
    return {
      id: row.id,
      workspaceId: row.workspace_id,
      at: row.at,
      actor: { kind: row.actor_kind, id: row.actor_id },
      action: row.action,
      targetId: row.target_id,
      requestId: row.request_id,
      details: row.details,
      digest: row.digest.toString('hex'),
      sequence: place?.sequence ?? null,
      hash: place?.hash.toString('hex') ?? null,
    };
  });
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
