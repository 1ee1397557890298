/** Endpoints in SQL: their rows, their limit, their health, and who subscribes to anchor events. */
import { type Selectable, sql } from 'kysely';
import { limitInSql } from '../../access/workspaces/workspace-limits.ts';
import { locks } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { gather } from '../../db/gather.ts';
import type { Tables } from '../../db/tables.ts';
import { anchorEventTypes } from '../../events/catalogue.ts';
import { typePatterns, typesOf } from '../../events/type-patterns.ts';
import { budgetExceeded } from '../../runtime/budgets.ts';
import { AppError } from '../../runtime/errors.ts';
import type { CertificateFacts } from './client-certificate.ts';

export type Ordering = 'none' | 'resource';

export interface Endpoint {
  id: string;
  url: string;
  /** Types, and patterns such as `record.*`. */
  eventTypes: string[];
  /** The expression that events must fulfil; null: none. */
  filter: string | null;
  description: string;
  enabled: boolean;
  disabledReason: 'owner' | 'gone' | 'failing' | null;
  rateLimit: number | null;
  /** Signs with its key pair too. */
  ed25519: boolean;
  publicKey: string | null;
  headerNames: string[];
  clientCertificate: CertificateFacts | null;
  /** resource: the events of each resource one after the other. */
  ordering: Ordering;
  failingSince: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export type EndpointRow = Selectable<Tables['webhook_endpoints']>;

export function toEndpoint(row: EndpointRow): Endpoint {
  return {
    id: row.id,
    url: row.url,
    eventTypes: row.event_types,
    filter: row.filter,
    description: row.description,
    enabled: row.enabled,
    disabledReason: row.disabled_reason,
    rateLimit: row.rate_limit,
    ed25519: row.ed25519,
    publicKey: row.ed25519 ? row.public_key : null,
    headerNames: row.header_names,
    clientCertificate: row.client_certificate,
    ordering: row.ordering,
    failingSince: row.failing_since,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export async function findEndpoint(
  db: Db,
  { workspaceId, id, lock = false }: { workspaceId: string; id: string; lock?: boolean },
): Promise<EndpointRow> {
  let select = db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null);
  if (lock) select = select.forUpdate();
  const row = await select.executeTakeFirst();
  if (!row) throw new AppError('resource_not_found', `There is no webhook endpoint ${id}.`);
  return row;
}

export async function refuseTooMany(db: Db, workspaceId: string): Promise<void> {
  const { rows } = await sql<{ count: number; limit: number | null }>`
    select count(*) as count, ${limitInSql(workspaceId, 'endpoints')} as limit from webhook_endpoints
    where workspace_id = ${workspaceId} and deleted_at is null`.execute(db);
  const { count = 0, limit = null } = rows[0] ?? {};
  if (limit !== null && count >= limit) throw budgetExceeded('endpoints', limit);
}

/** `filter`: of the endpoint `id`, which may exist with another one. A shorter one is always allowed. */
export async function refuseLongFilters(
  db: Db,
  { workspaceId, id, filter }: { workspaceId: string; id: string; filter: string | null | undefined },
): Promise<void> {
  if (!filter) return;
  const { rows } = await sql<{ others: number; own: number; limit: number | null }>`
    select coalesce(sum(length(filter)) filter (where id <> ${id}), 0)::bigint as others,
      coalesce(sum(length(filter)) filter (where id = ${id}), 0)::bigint as own,
      ${limitInSql(workspaceId, 'filter_characters')} as limit
    from webhook_endpoints where workspace_id = ${workspaceId} and deleted_at is null`.execute(db);
  const { others = 0, own = 0, limit = null } = rows[0] ?? {};
  const length = [...filter].length;
  if (limit !== null && length > own && others + length > limit)
    throw budgetExceeded('filter_characters', limit);
}

/** Until the end of the transaction, so that what is counted stays as it is. */
export async function lockEndpoints(db: Db, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${locks.webhookEndpoints}, hashtext(${workspaceId}))`.execute(db);
}

/**
 * An endpoint is disabled after five days of failures. A day without an attempt proves nothing, so the five days start
 * again after it. All times come from the database's clock, which all nodes share.
 */
const quietSpell = "interval '1 day'";
export const failingTooLong = `failing_since < now() - interval '5 days' and last_failure_at > now() - ${quietSpell}`;

export interface HealthChange {
  id: string;
  failing: boolean;
}

/** Many endpoints may fail at the same moment. Batching these writes keeps them from delaying the API. */
export function createHealthWriter(db: Db): (change: HealthChange) => Promise<void> {
  return gather<HealthChange, void>({
    maxInFlight: 1,
    maxItems: 500,
    isItemFault: () => false,
    async run(changes) {
      await sql`
        update webhook_endpoints e
        set failing_since = case
              when not c.failing then null
              when c.succeeded or e.last_failure_at < now() - ${sql.raw(quietSpell)} then now()
              else coalesce(e.failing_since, now())
            end,
            last_failure_at = case when c.failing then now() else e.last_failure_at end
        from json_to_recordset(${JSON.stringify(lastOfEach(changes))}) as c (id text, failing boolean, succeeded boolean)
        where e.id = c.id and (c.failing or e.failing_since is not null)`.execute(db);
      return changes.map(() => undefined);
    },
  });
}

/** One row per endpoint: its last state, and whether any of the changes was a success. */
function lastOfEach(changes: HealthChange[]): (HealthChange & { succeeded: boolean })[] {
  const last = new Map<string, HealthChange & { succeeded: boolean }>();
  for (const { id, failing } of changes) {
    const succeeded = !failing || (last.get(id)?.succeeded ?? false);
    last.set(id, { id, failing, succeeded });
  }
  return [...last.values()];
}

const anchorPatterns = typePatterns.filter((pattern) =>
  typesOf([pattern]).some((type) => anchorEventTypes.includes(type)),
);

/** How many endpoints of each workspace subscribe to any anchor event. */
export async function countAnchorSubscribers(db: Db, workspaceIds: string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ workspace_id: string; count: number }>`
    select workspace_id, count(*)::integer as count from webhook_endpoints
    where workspace_id = any (${workspaceIds}::text[]) and deleted_at is null and event_types && ${anchorPatterns}::text[]
    group by workspace_id`.execute(db);
  return new Map(rows.map(({ workspace_id, count }) => [workspace_id, count]));
}
