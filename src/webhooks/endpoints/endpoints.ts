/** Webhook endpoints: where events are sent, which types, and the secret that signs them. */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import { locks } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { type AddressGuard, BlockedTarget } from '../../egress/address-guard.ts';
import { eventWrite } from '../../events/events.ts';
import type { Keyring } from '../../keys/keyring.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import type { Wakeup } from '../../runtime/loop.ts';
import { skipWaiting } from '../deliveries/queue-admin.ts';
import { newWebhookSecret } from '../exchange/signature.ts';
import {
  createEndpointSecrets,
  type RotatedSecret,
  type SecretOwner,
  type SigningSecrets,
} from './endpoint-secrets.ts';
import {
  createHealthWriter,
  type Endpoint,
  failingTooLong,
  findEndpoint,
  refuseTooMany,
  toEndpoint,
} from './endpoints.store.ts';
import { compileFilter } from './event-filter.ts';
import { maskUrl } from './masked-url.ts';
import type { Tester, TestOutcome } from './test-event.ts';

export interface EndpointInput {
  url: string;
  eventTypes: string[];
  filter: string | null;
  description: string;
  enabled: boolean;
  rateLimit: number | null;
}

export const endpointLimits = { urlLength: 2000, descriptionLength: 2000, requestsPerSecond: 10_000 };

export function statusOf({ enabled, failingSince }: Endpoint): 'active' | 'failing' | 'disabled' {
  return !enabled ? 'disabled' : failingSince ? 'failing' : 'active';
}

export interface MadeEndpoint {
  endpoint: Endpoint;
  secret: string;
  test: TestOutcome;
}

export interface Endpoints {
  /** `also`: rows to commit with the endpoint. */
  create(caller: Caller, input: EndpointInput, also: (made: MadeEndpoint) => Write[]): Promise<MadeEndpoint>;
  list(workspaceId: string, page: { before: string | undefined; limit: number }): Promise<Endpoint[]>;
  get(workspaceId: string, id: string): Promise<Endpoint>;
  update(
    caller: Caller,
    id: string,
    change: Partial<EndpointInput>,
  ): Promise<{ endpoint: Endpoint; test: TestOutcome | null }>;
  remove(caller: Caller, id: string): Promise<void>;
  secret(caller: Caller, id: string): Promise<string>;
  /** The old secret also signs for one more day. `also`: rows to commit with it. */
  rotateSecret(caller: Caller, id: string, also: (rotated: RotatedSecret) => Write[]): Promise<void>;
  test(caller: Caller, id: string): Promise<TestOutcome>;
  /** Called by the service itself: the endpoint answered 410, or failed for too long. */
  disable(endpoint: { workspaceId: string; id: string; url: URL }, reason: 'gone' | 'failing'): Promise<void>;
  setFailing(id: string, failing: boolean): Promise<void>;
  secretsOf(endpoint: SecretOwner): Promise<SigningSecrets>;
}

export interface EndpointsDeps {
  db: Db;
  keyring: Keyring;
  guard: AddressGuard;
  tester: Tester;
  eventWakeup: Pick<Wakeup, 'wake'>;
}

export function createEndpoints({ db, keyring, guard, tester, eventWakeup }: EndpointsDeps): Endpoints {
  const writeHealth = createHealthWriter(db);
  const secrets = createEndpointSecrets({ db, keyring });

  async function vet(url: string): Promise<string> {
    try {
      return (await guard.vetUrl(url)).href;
    } catch (error) {
      if (error instanceof BlockedTarget) throw new AppError('invalid_request', `url: ${error.message}`);
      // A name that cannot be resolved now may exist later: the test reports it, and the endpoint is saved.
      const later = new URL(url);
      later.hash = '';
      return later.href;
    }
  }

  return {
    async create(caller, input, also) {
      const { workspaceId } = caller;
      const filter = filterColumns(input.filter);
      await refuseTooMany(db, workspaceId);
      const url = await vet(input.url);
      const id = newId('whe');
      const secret = newWebhookSecret();
      const { outcome, write } = await tester.send({ workspaceId, id, url }, { secret, previousSecrets: [] });
      const at = new Date();
      const endpoint: Endpoint = {
        id,
        ...input,
        url,
        disabledReason: input.enabled ? null : 'owner',
        failingSince: null,
        createdAt: at,
        updatedAt: at,
      };
      const made = { endpoint, secret, test: outcome };
      await db.transaction().execute(async (db) => {
        // Counted again: others may have been created during the test.
        await sql`select pg_advisory_xact_lock(${locks.webhookEndpoints}, hashtext(${workspaceId}))`.execute(
          db,
        );
        await refuseTooMany(db, workspaceId);
        await insertAll(db, [
          {
            table: 'webhook_endpoints',
            row: {
              workspace_id: workspaceId,
              id,
              url,
              description: input.description,
              event_types: input.eventTypes,
              ...filter,
              enabled: input.enabled,
              disabled_reason: endpoint.disabledReason,
              rate_limit: input.rateLimit,
              created_at: at,
              updated_at: at,
            },
          },
          secrets.seal({ workspaceId, id }, secret),
          write,
          auditWrite(caller, {
            action: 'webhook_endpoint.create',
            targetId: id,
            details: {
              url: maskUrl(url),
              eventTypes: input.eventTypes,
              ...(input.filter !== null && { filter: input.filter }),
            },
          }),
          ...also(made),
        ]);
      });
      return made;
    },

    async list(workspaceId, { before, limit }) {
      let select = db
        .selectFrom('webhook_endpoints')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('deleted_at', 'is', null)
        .orderBy('id', 'desc')
        .limit(limit);
      if (before !== undefined) select = select.where('id', '<', before);
      return (await select.execute()).map(toEndpoint);
    },

    get: async (workspaceId, id) => toEndpoint(await findEndpoint(db, { workspaceId, id })),

    async update(caller, id, change) {
      const { workspaceId } = caller;
      const filter = change.filter === undefined ? {} : filterColumns(change.filter);
      const before = await findEndpoint(db, { workspaceId, id });
      const url = change.url === undefined ? before.url : await vet(change.url);
      // No test when it is being disabled: its owner wants nothing sent, and need not wait for a hanging receiver.
      const tested =
        change.enabled === false && url === before.url
          ? null
          : await tester.send({ workspaceId, id, url }, await secrets.signing({ workspaceId, id }));
      const endpoint = await db.transaction().execute(async (db) => {
        const row = await findEndpoint(db, { workspaceId, id, lock: true });
        const enabled = change.enabled ?? row.enabled;
        const disabledReason = enabled ? null : (row.disabled_reason ?? 'owner');
        const updated = await db
          .updateTable('webhook_endpoints')
          .set({
            // Another change may have been saved during the test.
            url: change.url === undefined ? row.url : url,
            event_types: change.eventTypes ?? row.event_types,
            ...filter,
            description: change.description ?? row.description,
            enabled,
            disabled_reason: disabledReason,
            rate_limit: change.rateLimit === undefined ? row.rate_limit : change.rateLimit,
            // Its owner has changed it, so its failures are forgotten.
            ...((enabled && !row.enabled) || (change.url !== undefined && url !== row.url)
              ? { failing_since: null }
              : {}),
            revision: row.revision + 1,
            updated_at: new Date(),
          })
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow();
        const details = { ...change, ...(change.url !== undefined && { url: maskUrl(url) }) };
        await insertAll(db, [
          ...(tested ? [tested.write] : []),
          auditWrite(caller, { action: 'webhook_endpoint.update', targetId: id, details }),
        ]);
        return toEndpoint(updated);
      });
      // Makes the dispatcher read the change at once for deliveries that it already holds.
      eventWakeup.wake();
      if (!endpoint.enabled) await skipWaiting(db, 'endpoint_id', id);
      return { endpoint, test: tested?.outcome ?? null };
    },

    async remove(caller, id) {
      await db.transaction().execute(async (db) => {
        await findEndpoint(db, { workspaceId: caller.workspaceId, id, lock: true });
        await db
          .updateTable('webhook_endpoints')
          .set({ deleted_at: new Date(), updated_at: new Date() })
          .where('workspace_id', '=', caller.workspaceId)
          .where('id', '=', id)
          .execute();
        await insertAll(db, [auditWrite(caller, { action: 'webhook_endpoint.delete', targetId: id })]);
      });
      eventWakeup.wake();
      await skipWaiting(db, 'endpoint_id', id);
    },

    async secret(caller, id) {
      const { workspaceId } = caller;
      await findEndpoint(db, { workspaceId, id });
      const secret = await secrets.open({ workspaceId, id });
      await insertAll(db, [auditWrite(caller, { action: 'webhook_endpoint.read_secret', targetId: id })]);
      return secret;
    },

    async rotateSecret(caller, id, also) {
      const { workspaceId } = caller;
      await db.transaction().execute(async (db) => {
        const row = await findEndpoint(db, { workspaceId, id, lock: true });
        const rotated = await secrets.rotate(db, { workspaceId, id });
        await db
          .updateTable('webhook_endpoints')
          .set({ revision: row.revision + 1, updated_at: new Date() })
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', id)
          .execute();
        await insertAll(db, [
          auditWrite(caller, { action: 'webhook_endpoint.rotate_secret', targetId: id }),
          ...also(rotated),
        ]);
      });
    },

    async test(caller, id) {
      const { workspaceId } = caller;
      const row = await findEndpoint(db, { workspaceId, id });
      const { outcome, write } = await tester.send(
        { workspaceId, id, url: row.url },
        await secrets.signing({ workspaceId, id }),
      );
      const details = { delivered: outcome.delivered, statusCode: outcome.statusCode };
      await insertAll(db, [
        write,
        auditWrite(caller, { action: 'webhook_endpoint.test', targetId: id, details }),
      ]);
      return outcome;
    },

    async disable({ workspaceId, id, url }, reason) {
      const isDisabled = await db.transaction().execute(async (db) => {
        const at = new Date();
        const disabled = await db
          .updateTable('webhook_endpoints')
          .set((set) => ({
            enabled: false,
            disabled_reason: reason,
            revision: set('revision', '+', 1),
            updated_at: at,
          }))
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', id)
          .where('enabled', '=', true)
          // Failures of the old URL do not count against the new one.
          .where('url', '=', url.href)
          // Checked again here: another node may have seen a success since.
          .where(reason === 'failing' ? sql<boolean>`${sql.raw(failingTooLong)}` : sql.lit(true))
          .returning('url')
          .executeTakeFirst();
        if (!disabled) return false;
        const caller: Caller = {
          workspaceId,
          actor: { kind: 'system', id: 'webhooks' },
          scopes: [],
          requestId: null,
        };
        await insertAll(db, [
          eventWrite({
            workspaceId,
            type: 'endpoint.disabled',
            at,
            data: { endpoint_id: id, url: maskUrl(disabled.url), reason, disabled_at: at.toISOString() },
          }),
          auditWrite(caller, { action: 'webhook_endpoint.disable', targetId: id, details: { reason } }),
        ]);
        return true;
      });
      if (!isDisabled) return;
      eventWakeup.wake();
      await skipWaiting(db, 'endpoint_id', id);
    },

    setFailing: (id, failing) => writeHealth({ id, failing }),

    secretsOf: (endpoint) => secrets.signing(endpoint),
  };
}

function filterColumns(filter: string | null): { filter: string | null; filter_path: string | null } {
  return { filter, filter_path: filter === null ? null : compileFilter(filter) };
}
