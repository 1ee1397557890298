/** Portal links in SQL: found by the hash of their token, and valid until they expire, by the clock of the database. */
import { createHash } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import type { Write } from '../../db/writes.ts';

/** What its holder may do beside looking, testing and retrying. */
export interface PortalRights {
  mayChangeUrl: boolean;
  /** See it, and rotate it. */
  mayManageSecret: boolean;
}

export interface PortalLink extends PortalRights {
  id: string;
  /** For whom it was made. */
  description: string;
  createdAt: Date;
  expiresAt: Date;
  lastUsedAt: Date | null;
}

/** A link that somebody holds. */
export interface HeldLink extends PortalRights {
  workspaceId: string;
  id: string;
  endpointId: string;
  expiresAt: Date;
  hasExpired: boolean;
}

interface Owner {
  workspaceId: string;
  endpointId: string;
}

const lastUseIsKept = sql`interval '1 minute'`;

export function linkWrite({ workspaceId, endpointId }: Owner, token: string, link: PortalLink): Write {
  return {
    table: 'webhook_portal_links',
    row: {
      workspace_id: workspaceId,
      id: link.id,
      endpoint_id: endpointId,
      token_hash: hashOf(token),
      description: link.description,
      may_change_url: link.mayChangeUrl,
      may_manage_secret: link.mayManageSecret,
      created_at: link.createdAt,
      expires_at: link.expiresAt,
    },
  };
}

/** Newest first, expired ones too. `before`: the id after which the page begins. */
export async function linksOf(
  db: Db,
  { workspaceId, endpointId }: Owner,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<PortalLink[]> {
  let select = db
    .selectFrom('webhook_portal_links')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('endpoint_id', '=', endpointId)
    .orderBy('id', 'desc')
    .limit(limit);
  if (before !== undefined) select = select.where('id', '<', before);
  return (await select.execute()).map(toLink);
}

/** Forgets those that have expired; gives the number of the others, and the time. */
export async function countOpen(db: Db, owner: Owner): Promise<{ open: number; now: Date }> {
  await db
    .deleteFrom('webhook_portal_links')
    .where('workspace_id', '=', owner.workspaceId)
    .where('endpoint_id', '=', owner.endpointId)
    .where('expires_at', '<=', sql<Date>`now()`)
    .execute();
  const { rows } = await sql<{ open: number; now: Date }>`
    select count(*)::integer as open, now() as now from webhook_portal_links
    where workspace_id = ${owner.workspaceId} and endpoint_id = ${owner.endpointId}`.execute(db);
  return rows[0] ?? { open: 0, now: new Date() };
}

/** Whether there was one. */
export async function deleteLink(db: Db, { workspaceId, endpointId }: Owner, id: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('webhook_portal_links')
    .where('workspace_id', '=', workspaceId)
    .where('endpoint_id', '=', endpointId)
    .where('id', '=', id)
    .executeTakeFirst();
  return deleted.numDeletedRows > 0n;
}

/** Of an endpoint that still exists; notes that it is being used. */
export async function findHeld(db: Db, token: string): Promise<HeldLink | null> {
  const row = await db
    .selectFrom('webhook_portal_links as l')
    .innerJoin('webhook_endpoints as e', (join) =>
      join.onRef('e.workspace_id', '=', 'l.workspace_id').onRef('e.id', '=', 'l.endpoint_id'),
    )
    .where('l.token_hash', '=', hashOf(token))
    .where('e.deleted_at', 'is', null)
    .selectAll('l')
    .select(sql<boolean>`l.expires_at <= now()`.as('has_expired'))
    .select(
      sql<boolean>`l.last_used_at is null or l.last_used_at < now() - ${lastUseIsKept}`.as('is_new_use'),
    )
    .executeTakeFirst();
  if (!row) return null;
  if (row.is_new_use && !row.has_expired) {
    await db
      .updateTable('webhook_portal_links')
      .set({ last_used_at: sql<Date>`now()` })
      .where('token_hash', '=', row.token_hash)
      .execute();
  }
  const { workspace_id: workspaceId, endpoint_id: endpointId, has_expired: hasExpired } = row;
  const { id, expiresAt, mayChangeUrl, mayManageSecret } = toLink(row);
  return { workspaceId, id, endpointId, expiresAt, hasExpired, mayChangeUrl, mayManageSecret };
}

function toLink(row: Selectable<Tables['webhook_portal_links']>): PortalLink {
  return {
    id: row.id,
    description: row.description,
    mayChangeUrl: row.may_change_url,
    mayManageSecret: row.may_manage_secret,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
