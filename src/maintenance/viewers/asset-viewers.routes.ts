/** /damc/assets/{assetId}/viewers/, workers/ and access-log/ */
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { address, dateTime, like, named, orNull, sample, text } from '../../runtime/schemas.ts';
import { assetPath, assetUrl } from '../assets/assets.routes.ts';
import type { Assets } from '../assets/assets.ts';
import { type LoggedLook, listLooks } from './asset-access-log.ts';
import type { AssetViewers, Viewer } from './asset-viewers.ts';
import type { AssetWorkers, AssignedWorker } from './asset-workers.ts';

const tags = ['assets'];
const personPath = Type.Object({
  assetId: text(sample.assetId),
  address: like(address, sample.viewerAddress),
});
const addresses = (example: string) =>
  Type.Array(address, { minItems: 1, maxItems: 1000, examples: [[example]] });
const sampleUntil = '2036-12-31T23:59:59.000Z';
const page = Type.Object(pageParameters, { additionalProperties: false });
const gone = Type.Null();

const ViewerSchema = named(
  { title: 'AssetViewer', description: 'Someone who may see an asset' },
  Type.Object({
    address: text(sample.viewerAddress, { description: 'EIP-55' }),
    until: orNull(text(sampleUntil, { ...dateTime, description: 'When the grant ends; null means never' })),
  }),
);
const AssignedWorkerSchema = named(
  { title: 'AssetWorker', description: 'A worker who is assigned to an asset' },
  Type.Object({
    address: text(sample.workerAddress, { description: 'EIP-55' }),
    name: text(sample.workerName),
  }),
);
const LookSchema = named(
  { title: 'AssetAccess', description: 'One access to an asset: who, what and when' },
  Type.Object({
    at: like(dateTime, '2026-03-02T10:12:40.000Z'),
    viewerAddress: text(sample.viewerAddress, { description: 'EIP-55; the owner if none was given' }),
    what: text('maintenance details', { description: 'What was requested' }),
    also: Type.Array(Type.String(), {
      examples: [[]],
      description: 'What else the same signed-in person requested within a minute; it counts as one access',
    }),
    targetId: orNull(
      text(sample.maintenanceId, { description: 'Id of the requested item, if there are several' }),
    ),
    allowed: Type.Boolean({ examples: [true] }),
    actor: Type.Object(
      { kind: text('api_key'), id: text(sample.keyId) },
      { description: 'Who made the request for the viewer' },
    ),
  }),
);

export interface AssetViewerRoutesDeps {
  db: Db;
  assets: Pick<Assets, 'get'>;
  assetViewers: AssetViewers;
  assetWorkers: AssetWorkers;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function assetViewerRoutes(app: Api, deps: AssetViewerRoutesDeps): void {
  viewerRoutes(app, deps);
  assignmentRoutes(app, deps);
  accessLogRoutes(app, deps);
}

function viewerRoutes(app: Api, { assets, assetViewers, cursors, idempotency }: AssetViewerRoutesDeps): void {
  const url = `${assetUrl}viewers/`;

  app.post(
    url,
    {
      config: { scope: 'assets:write', idempotent: true, freshSession: true },
      schema: {
        operationId: 'addAssetViewers',
        summary: 'Add viewers to an asset',
        description:
          'The owner and assigned workers may see the asset anyway. A viewer who already has a grant gets the new end date.',
        tags,
        params: assetPath,
        body: Type.Object(
          {
            viewers: addresses(sample.viewerAddress),
            until: Type.Optional(orNull(like(dateTime, sampleUntil))),
          },
          { additionalProperties: false },
        ),
        response: {
          201: Type.Array(ViewerSchema, {
            description: 'The given addresses that may now see the asset',
          }),
        },
      },
    },
    async (request, reply) => {
      const { viewers, until } = request.body;
      const answer = idempotency.answer(request, reply.code(201));
      const input = {
        assetId: request.params.assetId,
        addresses: viewers,
        until: until == null ? null : new Date(until),
      };
      await assetViewers.grant(callerOf(request), input, (made) => answer.remember(made.map(viewerToJson)));
      return answer.send();
    },
  );

  app.get(
    url,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'listAssetViewers',
        summary: 'List the viewers of an asset',
        description: 'Grants that are valid now, sorted by address.',
        tags,
        params: assetPath,
        querystring: page,
        response: { 200: Type.Array(ViewerSchema) },
      },
    },
    async (request, reply) => {
      const { assetId } = request.params;
      await assets.get(callerOf(request).workspaceId, assetId);
      const items = await fetchPage<Viewer>(
        {
          name: 'asset-viewers',
          filters: { assetId },
          fetch: (workspaceId, after, limit) =>
            assetViewers.list({ workspaceId, assetId }, { after: after?.[0] as string, limit }),
          positionOf: ({ address }) => [address.toLowerCase()],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(viewerToJson);
    },
  );

  app.delete(
    `${url}:address/`,
    {
      config: { scope: 'assets:write', freshSession: true },
      schema: {
        operationId: 'removeAssetViewer',
        summary: 'Remove a viewer from an asset',
        description: 'Takes effect on the next request.',
        tags,
        params: personPath,
        response: { 204: gone },
      },
    },
    async (request, reply) => {
      const { assetId, address } = request.params;
      await assetViewers.revoke(callerOf(request), assetId, address);
      return reply.code(204).send(null);
    },
  );

  app.get(
    `${url}verify/`,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'verifyAssetViewer',
        summary: 'Check whether an address may see an asset',
        description:
          'Also true for the owner and for assigned workers. This does not count as an access, so it is not logged.',
        tags,
        params: assetPath,
        querystring: Type.Object({ viewerAddress: address }, { additionalProperties: false }),
        response: {
          200: Type.Object(
            { isViewer: Type.Boolean({ examples: [true] }) },
            { description: 'Whether the address may see the asset' },
          ),
        },
      },
    },
    async (request) => {
      const key = { workspaceId: callerOf(request).workspaceId, assetId: request.params.assetId };
      return { isViewer: await assetViewers.isViewer(key, request.query.viewerAddress) };
    },
  );
}

function assignmentRoutes(
  app: Api,
  { assets, assetWorkers, cursors, idempotency }: AssetViewerRoutesDeps,
): void {
  const url = `${assetUrl}workers/`;

  app.post(
    url,
    {
      config: { scope: 'assets:write', idempotent: true, freshSession: true },
      schema: {
        operationId: 'addAssetWorkers',
        summary: 'Assign workers to an asset',
        description: 'They may record work, sign it off, and see the asset.',
        tags,
        params: assetPath,
        body: Type.Object({ workers: addresses(sample.workerAddress) }, { additionalProperties: false }),
        response: {
          201: Type.Array(AssignedWorkerSchema, {
            description: 'The given workers, who are now assigned',
          }),
        },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(201));
      const input = { assetId: request.params.assetId, addresses: request.body.workers };
      await assetWorkers.assign(callerOf(request), input, (workers) => answer.remember(workers));
      return answer.send();
    },
  );

  app.get(
    url,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'listAssetWorkers',
        summary: 'List the workers assigned to an asset',
        description: 'Sorted by address.',
        tags,
        params: assetPath,
        querystring: page,
        response: { 200: Type.Array(AssignedWorkerSchema) },
      },
    },
    async (request, reply) => {
      const { assetId } = request.params;
      await assets.get(callerOf(request).workspaceId, assetId);
      return fetchPage<AssignedWorker>(
        {
          name: 'asset-workers',
          filters: { assetId },
          fetch: (workspaceId, after, limit) =>
            assetWorkers.list({ workspaceId, assetId }, { after: after?.[0] as string, limit }),
          positionOf: ({ address }) => [address.toLowerCase()],
        },
        { request, reply, cursors, ...request.query },
      );
    },
  );

  app.delete(
    `${url}:address/`,
    {
      config: { scope: 'assets:write', freshSession: true },
      schema: {
        operationId: 'removeAssetWorker',
        summary: 'Remove a worker from an asset',
        description: 'Work that the worker recorded stays.',
        tags,
        params: personPath,
        response: { 204: gone },
      },
    },
    async (request, reply) => {
      const { assetId, address } = request.params;
      await assetWorkers.unassign(callerOf(request), assetId, address);
      return reply.code(204).send(null);
    },
  );
}

function accessLogRoutes(app: Api, { db, assets, cursors }: AssetViewerRoutesDeps): void {
  app.get(
    `${assetUrl}access-log/`,
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'listAssetAccess',
        summary: 'List accesses to an asset',
        description: 'Newest first: every access with a viewerAddress, including refused ones.',
        tags,
        params: assetPath,
        querystring: page,
        response: { 200: Type.Array(LookSchema) },
      },
    },
    async (request, reply) => {
      const { assetId } = request.params;
      await assets.get(callerOf(request).workspaceId, assetId);
      const items = await fetchPage<LoggedLook>(
        {
          name: 'asset-access-log',
          filters: { assetId },
          fetch: (workspaceId, after, limit) =>
            listLooks(db, { workspaceId, assetId }, { before: after?.[0] as number, limit }),
          positionOf: ({ id }) => [id],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(({ id, at, ...rest }) => ({ at: at.toISOString(), ...rest }));
    },
  );
}

function viewerToJson({ address, until }: Viewer) {
  return { address, until: until?.toISOString() ?? null };
}
