/** Webhook endpoints: where events are sent, which types, and the secret that signs them. */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
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
import { newKeyPair, type WebhookKeyPair } from '../exchange/key-pair.ts';
import { newWebhookSecret } from '../exchange/signature.ts';
import { createEndpointKeys, type EndpointKeys } from './endpoint-keys.ts';
import { checkOptions, type EndpointOptions } from './endpoint-options.ts';
import { createEndpointSecrets, type SecretOwner } from './endpoint-secrets.ts';
import {
  createHealthWriter,
  type Endpoint,
  type EndpointRow,
  failingTooLong,
  findEndpoint,
  lockEndpoints,
  type Ordering,
  refuseLongFilters,
  refuseTooMany,
  toEndpoint,
} from './endpoints.store.ts';
import { maskUrl } from './masked-url.ts';
import { createEndpointSending, type SealedParts, type Sending } from './sending.ts';
import type { Tester, TestOutcome } from './test-event.ts';

export interface EndpointInput extends EndpointOptions {
  url: string;
  eventTypes: string[];
  description: string;
  enabled: boolean;
  rateLimit: number | null;
  /** Also sign with a key pair. */
  ed25519: boolean;
  ordering: Ordering;
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

export interface Endpoints extends EndpointKeys {
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
  test(caller: Caller, id: string): Promise<TestOutcome>;
  /** Called by the service itself: the endpoint answered 410, or failed for too long. */
  disable(endpoint: { workspaceId: string; id: string; url: URL }, reason: 'gone' | 'failing'): Promise<void>;
  setFailing(id: string, failing: boolean): Promise<void>;
  sendingOf(endpoint: SecretOwner): Promise<Sending>;
}

export interface EndpointsDeps {
  db: Db;
  keyring: Keyring;
  guard: AddressGuard;
  tester: Tester;
  eventWakeup: Pick<Wakeup, 'wake'>;
  /** Begins and ends the lines of ordered endpoints, in the transaction of the change. */
  lines: {
    open(db: Db, endpoint: SecretOwner): Promise<void>;
    end(db: Db, endpointId: string): Promise<void>;
  };
}

export function createEndpoints(deps: EndpointsDeps): Endpoints {
  const { db, keyring, guard, tester, eventWakeup, lines } = deps;
  const writeHealth = createHealthWriter(db);
  const secrets = createEndpointSecrets({ db, keyring });
  const sendings = createEndpointSending({ keyring, secrets });

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

  /** As it will be after the change, for the test that comes before it. */
  async function sendingAfter(
    before: EndpointRow,
    change: Partial<EndpointInput>,
    { sealed, keyPair }: { sealed: SealedParts; keyPair: WebhookKeyPair | null },
  ): Promise<Sending> {
    const withKeys = (change.ed25519 ?? before.ed25519) && keyPair === null;
    const present = await sendings.open(
      { workspaceId: before.workspace_id, id: before.id },
      {
        ...before,
        ed25519: withKeys,
      },
    );
    return {
      ...present,
      ...(keyPair && { privateKeys: [keyPair.privateKey] }),
      ...(sealed.headers && { headers: sealed.headers }),
      ...(sealed.client !== undefined && { client: sealed.client }),
    };
  }

  return {
    ...createEndpointKeys({ db, secrets }),

    async create(caller, input, also) {
      const { workspaceId } = caller;
      const { columns, sealed, details } = await checkOptions(givenOptions(input));
      const id = newId('whe');
      await refuseTooMany(db, workspaceId);
      await refuseLongFilters(db, { workspaceId, id, filter: input.filter });
      const url = await vet(input.url);
      const secret = newWebhookSecret();
      const keyPair = input.ed25519 ? newKeyPair() : null;
      const { outcome, write } = await tester.send(
        { workspaceId, id, url },
        {
          ...{ secret, previousSecrets: [], privateKeys: keyPair ? [keyPair.privateKey] : [] },
          ...{ headers: sealed.headers ?? [], client: sealed.client ?? null },
        },
      );
      const at = new Date();
      const endpoint: Endpoint = {
        id,
        url,
        eventTypes: input.eventTypes,
        filter: input.filter,
        description: input.description,
        enabled: input.enabled,
        rateLimit: input.rateLimit,
        ed25519: input.ed25519,
        publicKey: keyPair?.publicKey ?? null,
        headerNames: columns.header_names ?? [],
        clientCertificate: columns.client_certificate ?? null,
        ordering: input.ordering,
        disabledReason: input.enabled ? null : 'owner',
        failingSince: null,
        createdAt: at,
        updatedAt: at,
      };
      const made = { endpoint, secret, test: outcome };
      await db.transaction().execute(async (db) => {
        // Counted again: others may have been created during the test.
        await lockEndpoints(db, workspaceId);
        await refuseTooMany(db, workspaceId);
        await refuseLongFilters(db, { workspaceId, id, filter: input.filter });
        await insertAll(db, [
          {
            table: 'webhook_endpoints',
            row: {
              workspace_id: workspaceId,
              id,
              url,
              description: input.description,
              event_types: input.eventTypes,
              ...columns,
              enabled: input.enabled,
              disabled_reason: endpoint.disabledReason,
              rate_limit: input.rateLimit,
              ed25519: input.ed25519,
              ordering: input.ordering,
              public_key: keyPair?.publicKey ?? null,
              created_at: at,
              updated_at: at,
            },
          },
          secrets.seal({ workspaceId, id }, secret),
          ...(keyPair ? [secrets.sealKey({ workspaceId, id }, keyPair.privateKey)] : []),
          write,
          auditWrite(caller, {
            action: 'webhook_endpoint.create',
            targetId: id,
            details: {
              url: maskUrl(url),
              eventTypes: input.eventTypes,
              ...details,
            },
          }),
          ...also(made),
        ]);
        await sendings.save(db, { workspaceId, id }, sealed);
        if (input.ordering === 'resource') await lines.open(db, { workspaceId, id });
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
      const { columns, sealed, details: checked } = await checkOptions(change);
      const before = await findEndpoint(db, { workspaceId, id });
      await refuseLongFilters(db, { workspaceId, id, filter: change.filter });
      const url = change.url === undefined ? before.url : await vet(change.url);
      refuseMovedHeaders(before, change, url);
      const keyPair = change.ed25519 && before.public_key === null ? newKeyPair() : null;
      // No test when it is being disabled: its owner wants nothing sent, and need not wait for a hanging receiver.
      const tested =
        change.enabled === false && url === before.url
          ? null
          : await tester.send(
              { workspaceId, id, url },
              await sendingAfter(before, change, { sealed, keyPair }),
            );
      const endpoint = await db.transaction().execute(async (db) => {
        // Counted again: others may have been changed during the test.
        if (change.filter) await lockEndpoints(db, workspaceId);
        const row = await findEndpoint(db, { workspaceId, id, lock: true });
        await refuseLongFilters(db, { workspaceId, id, filter: change.filter });
        refuseMovedHeaders(row, change, url);
        const enabled = change.enabled ?? row.enabled;
        const disabledReason = enabled ? null : (row.disabled_reason ?? 'owner');
        const { client_certificate: certificate, ...plain } = columns;
        const updated = await db
          .updateTable('webhook_endpoints')
          .set({
            // Another change may have been saved during the test.
            url: change.url === undefined ? row.url : url,
            event_types: change.eventTypes ?? row.event_types,
            ...plain,
            ...(certificate !== undefined && { client_certificate: JSON.stringify(certificate) }),
            ed25519: change.ed25519 ?? row.ed25519,
            ordering: change.ordering ?? row.ordering,
            public_key: row.public_key ?? keyPair?.publicKey ?? null,
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
        const { headers: _, clientCertificate: __, ...shown } = change;
        const details = { ...shown, ...checked, ...(change.url !== undefined && { url: maskUrl(url) }) };
        // Another change may have made a key pair meanwhile, which stays.
        const isNewKey = keyPair !== null && row.public_key === null;
        await sendings.save(db, { workspaceId, id }, sealed);
        if (updated.ordering !== row.ordering)
          await (updated.ordering === 'resource' ? lines.open(db, { workspaceId, id }) : lines.end(db, id));
        await insertAll(db, [
          ...(tested ? [tested.write] : []),
          ...(isNewKey ? [secrets.sealKey({ workspaceId, id }, keyPair.privateKey)] : []),
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

    async test(caller, id) {
      const { workspaceId } = caller;
      const row = await findEndpoint(db, { workspaceId, id });
      const { outcome, write } = await tester.send(
        { workspaceId, id, url: row.url },
        await sendings.open({ workspaceId, id }, row),
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

    async sendingOf({ workspaceId, id }) {
      return sendings.open({ workspaceId, id }, await findEndpoint(db, { workspaceId, id }));
    },
  };
}

/** Who may change an endpoint may not read the values of its headers, and so may not have them sent to another receiver. */
function refuseMovedHeaders(row: EndpointRow, change: Partial<EndpointInput>, url: string): void {
  if (change.url === undefined || change.headers !== undefined || row.header_names.length === 0) return;
  if (new URL(url).origin === new URL(row.url).origin) return;
  throw new AppError(
    'invalid_request',
    'headers: The endpoint sends headers of its own, whose values belong to the receiver at the old address. Give them again with the new address, or [] to send none.',
  );
}

/** Without those that a new endpoint does not have. */
function givenOptions({ filter, headers, clientCertificate }: EndpointOptions): Partial<EndpointOptions> {
  return {
    ...(filter !== null && { filter }),
    ...(headers.length > 0 && { headers }),
    ...(clientCertificate !== null && { clientCertificate }),
  };
}
