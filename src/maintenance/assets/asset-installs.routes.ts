/** /damc/assets/{assetId}/install/, remove/ and installations/ */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { dateTime, like, named, orNull, plainText, sample, text } from '../../runtime/schemas.ts';
import { maxAssetIdLength } from './asset-id.ts';
import type { AssetInstalls, NumberedInstallation } from './asset-installs.ts';
import { assetPath, assetUrl } from './assets.routes.ts';
import type { Assets } from './assets.ts';

const tags = ['assets'];
const parentAssetId = plainText({
  minLength: 1,
  maxLength: maxAssetIdLength,
  examples: [sample.parentAssetId],
});
const write = { scope: 'assets:write', idempotent: true, freshSession: false } as const;

const removedAt = '2026-03-30T06:30:00.000Z';

const InstallationSchema = named(
  { title: 'Installation', description: 'A period during which an asset is installed in another one' },
  Type.Object({
    assetId: text(sample.assetId),
    parentAssetId: text(sample.parentAssetId, { description: 'The asset that it is or was installed in' }),
    installedAt: dateTime,
    removedAt: orNull(Type.String({ ...dateTime, description: 'Null while it is installed' })),
  }),
);

export interface AssetInstallRoutesDeps {
  assets: Pick<Assets, 'get'>;
  assetInstalls: AssetInstalls;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function assetInstallRoutes(app: Api, deps: AssetInstallRoutesDeps): void {
  const { assets, assetInstalls, cursors, idempotency } = deps;

  app.post(
    `${assetUrl}install/`,
    {
      config: write,
      schema: {
        operationId: 'installAsset',
        summary: 'Install an asset in another one',
        description:
          'Changes the asset, so the change is anchored. `at` is when it happened; it must not be in the future or before the last removal.',
        tags,
        params: assetPath,
        body: Type.Object({ parentAssetId, at: dateTime }, { additionalProperties: false }),
        response: { 201: InstallationSchema },
      },
    },
    async (request, reply) => {
      const { parentAssetId, at } = request.body;
      const answer = idempotency.answer(request, reply.code(201));
      const input = { assetId: request.params.assetId, parentAssetId, at: new Date(at) };
      await assetInstalls.install(callerOf(request), input, (made) => answer.remember(toJson(made)));
      return answer.send();
    },
  );

  app.post(
    `${assetUrl}remove/`,
    {
      config: write,
      schema: {
        operationId: 'removeAsset',
        summary: 'Remove an asset from the one it is installed in',
        description:
          'Changes the asset, so the change is anchored. `at` is when it happened; it must not be in the future or before the installation.',
        tags,
        params: assetPath,
        body: Type.Object(
          { parentAssetId: Type.Optional(parentAssetId), at: like(dateTime, removedAt) },
          { additionalProperties: false },
        ),
        response: { 200: like(InstallationSchema, { removedAt }) },
      },
    },
    async (request, reply) => {
      const { at, ...rest } = request.body;
      const answer = idempotency.answer(request, reply.code(200));
      const input = { assetId: request.params.assetId, ...rest, at: new Date(at) };
      await assetInstalls.remove(callerOf(request), input, (made) => answer.remember(toJson(made)));
      return answer.send();
    },
  );

  app.get(
    `${assetUrl}installations/`,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'listAssetInstallations',
        summary: 'List the installations of an asset',
        description: 'Newest first.',
        tags,
        params: assetPath,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(InstallationSchema) },
      },
    },
    async (request, reply) => {
      const { assetId } = request.params;
      await assets.get(callerOf(request).workspaceId, assetId);
      const items = await fetchPage<NumberedInstallation>(
        {
          name: 'asset-installations',
          filters: { assetId },
          fetch: (workspaceId, after, limit) =>
            assetInstalls.list({ workspaceId, assetId }, { before: after?.[0] as number, limit }),
          positionOf: ({ number }) => [number],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(toJson);
    },
  );
}

function toJson({ assetId, parentAssetId, installedAt, removedAt }: NumberedInstallation) {
  return {
    assetId,
    parentAssetId,
    installedAt: installedAt.toISOString(),
    removedAt: removedAt?.toISOString() ?? null,
  };
}
