/** /platform/vaults */

import { Type } from 'typebox';
import { fromBytea, type HexText, toBytea } from '../../db/bytea.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency, Remake } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { bytesOf } from '../../runtime/page-budget.ts';
import { address, dateTime, like, name, named, plainText, sample, text } from '../../runtime/schemas.ts';
import type { Vault, VaultStatus } from './vaults.store.ts';
import type { Vaults } from './vaults.ts';

const status = Type.Unsafe<VaultStatus>(Type.String({ enum: ['active', 'inactive'] }));

const vaultName = 'Harbour cranes';
const vaultDescription = 'Papers and logbooks of the cranes at pier 4';
const vaultCreatedAt = '2026-03-02T08:30:00.000Z';

const VaultSchema = named(
  { title: 'Vault', description: 'A wallet whose private key the service holds' },
  Type.Object({
    id: text(sample.vaultId),
    name: text(vaultName),
    description: text(vaultDescription),
    address: text(sample.vaultAddress, { description: 'Address of the wallet, EIP-55' }),
    walletAddress: text(sample.vaultAddress, { description: 'The same as address' }),
    status,
    createdAt: like(dateTime, vaultCreatedAt),
    updatedAt: like(dateTime, vaultCreatedAt),
  }),
);

const givenName = like(name, vaultName);
const description = like(plainText({ maxLength: 2000 }), vaultDescription);
const vaultPath = Type.Object({ vaultAddress: address });

const url = `${apiBase}/platform/vaults`;

export interface VaultRoutesDeps {
  vaults: Vaults;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function vaultRoutes(app: Api, { vaults, cursors, idempotency }: VaultRoutesDeps): void {
  /** Name and description are in the payload; the rest never changes, and no vault is ever deleted. */
  const remake: Remake = async (request, made) => {
    const { name, description = '' } = request.body as { name: string; description?: string };
    const { id, address, createdAt } = await vaults.get(callerOf(request).workspaceId, fromBytea(made));
    return toJson({ id, name, description, address, status: 'active', createdAt, updatedAt: createdAt });
  };

  app.post(
    url,
    {
      config: { scope: 'vaults:write', idempotent: true, oneCommit: true, remake, freshSession: false },
      schema: {
        operationId: 'createVault',
        summary: 'Create a vault',
        description: 'Creates a new wallet; its private key never leaves the service.',
        tags: ['vaults'],
        body: Type.Object(
          { name: givenName, description: Type.Optional(description) },
          { additionalProperties: false },
        ),
        response: { 201: VaultSchema },
      },
    },
    async (request, reply) => {
      const { name, description = '' } = request.body;
      const answer = idempotency.answer(request, reply.code(201));
      await vaults.create(callerOf(request), { name, description }, (vault) =>
        answer.remember(toJson(vault), () => toBytea(vault.address as HexText)),
      );
      return answer.send();
    },
  );

  app.get(
    url,
    {
      config: { scope: 'vaults:read' },
      schema: {
        operationId: 'listVaults',
        summary: 'List vaults',
        description: 'Newest first.',
        tags: ['vaults'],
        querystring: Type.Object(
          { status: Type.Optional(status), ...pageParameters },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(VaultSchema) },
      },
    },
    async (request, reply) => {
      const { status, ...page } = request.query;
      const items = await fetchPage<Vault>(
        {
          name: 'vaults',
          filters: { status },
          fetch: (workspaceId, after, limit) =>
            vaults.list(workspaceId, { status, before: after?.[0] as string, limit }),
          positionOf: ({ id }) => [id],
          bytesOf,
        },
        { request, reply, cursors, ...page },
      );
      return items.map(toJson);
    },
  );

  app.get(
    `${url}/:vaultAddress`,
    {
      config: { scope: 'vaults:read' },
      schema: {
        operationId: 'getVault',
        summary: 'Get a vault',
        tags: ['vaults'],
        params: vaultPath,
        response: { 200: VaultSchema },
      },
    },
    async (request) => toJson(await vaults.get(callerOf(request).workspaceId, request.params.vaultAddress)),
  );

  app.put(
    `${url}/:vaultAddress`,
    {
      config: { scope: 'vaults:write', freshSession: false },
      schema: {
        operationId: 'updateVault',
        summary: 'Update a vault',
        description: 'Changes the name, the description or both; omitted fields stay unchanged.',
        tags: ['vaults'],
        params: vaultPath,
        body: Type.Object(
          { name: Type.Optional(givenName), description: Type.Optional(description) },
          { additionalProperties: false },
        ),
        response: { 200: VaultSchema },
      },
    },
    async (request) =>
      toJson(await vaults.update(callerOf(request), request.params.vaultAddress, request.body)),
  );

  const moves = [
    {
      path: 'deactivate',
      status: 'inactive',
      operationId: 'deactivateVault',
      summary: 'Deactivate a vault',
      event: 'vault.deactivated',
    },
    {
      path: 'reactivate',
      status: 'active',
      operationId: 'reactivateVault',
      summary: 'Reactivate a vault',
      event: 'vault.reactivated',
    },
  ] as const;
  for (const { path, status, operationId, summary, event } of moves) {
    app.patch(
      `${url}/:vaultAddress/${path}`,
      {
        config: { scope: 'vaults:write', freshSession: true },
        schema: {
          operationId,
          summary,
          description: `Sends ${event}. Repeating it changes nothing and sends nothing.`,
          tags: ['vaults'],
          params: vaultPath,
          response: { 200: like(VaultSchema, { status, updatedAt: sample.at }) },
        },
      },
      async (request) =>
        toJson(await vaults.setStatus(callerOf(request), request.params.vaultAddress, status)),
    );
  }
}

function toJson({ createdAt, updatedAt, ...rest }: Vault) {
  return {
    ...rest,
    walletAddress: rest.address,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
