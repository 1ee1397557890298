/** /damc/assets/{assetId}/intervals/ and due/ */
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { etagOf, ifMatchHeaders, seenVersions } from '../../http/api/precondition.ts';
import { address, like, sample, text, unshown } from '../../runtime/schemas.ts';
import type { AssetAccess } from '../assets/asset-access.ts';
import { assetPath, assetUrl } from '../assets/assets.routes.ts';
import type { Assets } from '../assets/assets.ts';
import { dueList } from './asset-due.ts';
import type { AssetIntervals } from './asset-intervals.ts';
import type { GivenInterval, Interval } from './interval.ts';
import {
  DueSchema,
  every,
  firstDone,
  IntervalSchema,
  intervalPath,
  kind,
  lastDone,
  limitCorrection,
  name,
  tolerance,
} from './interval-schemas.ts';

const tags = ['assets'];
const url = `${assetUrl}intervals/`;

export interface AssetIntervalRoutesDeps {
  db: Db;
  assets: Pick<Assets, 'get'>;
  assetIntervals: AssetIntervals;
  assetAccess: Pick<AssetAccess, 'require'>;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function assetIntervalRoutes(app: Api, deps: AssetIntervalRoutesDeps): void {
  const { db, assets, assetIntervals, assetAccess, cursors, idempotency } = deps;

  app.post(
    url,
    {
      config: { scope: 'assets:write', idempotent: true, freshSession: false },
      schema: {
        operationId: 'createAssetInterval',
        summary: 'Create a maintenance interval',
        tags,
        params: assetPath,
        body: Type.Object(
          {
            name: Type.Optional(name),
            kind: Type.Optional(kind),
            every,
            tolerance: Type.Optional(tolerance),
            lastDone,
          },
          { additionalProperties: false },
        ),
        response: { 201: like(IntervalSchema, { lastDone: firstDone, completedBy: null, version: 1 }) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(201));
      const { name = '', lastDone, ...rest } = request.body;
      const input = { assetId: request.params.assetId, given: { ...rest, name, lastDone: toDone(lastDone) } };
      await assetIntervals.create(callerOf(request), input, (interval) => answer.remember(toJson(interval)));
      return answer.send();
    },
  );

  app.get(
    url,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'listAssetIntervals',
        summary: 'List the intervals of an asset',
        description: 'Oldest first.',
        tags,
        params: assetPath,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(IntervalSchema) },
      },
    },
    async (request, reply) => {
      const { assetId } = request.params;
      await assets.get(callerOf(request).workspaceId, assetId);
      const items = await fetchPage<Interval>(
        {
          name: 'asset-intervals',
          filters: { assetId },
          fetch: (workspaceId, after, limit) =>
            assetIntervals.list({ workspaceId, assetId }, { after: after?.[0] as string, limit }),
          positionOf: ({ id }) => [id],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(toJson);
    },
  );

  app.put(
    `${url}:intervalId/`,
    {
      config: { scope: 'assets:write', freshSession: false },
      schema: {
        operationId: 'updateAssetInterval',
        summary: 'Update or complete an interval',
        description:
          'Omitted fields stay unchanged. `completedBy` names a maintenance entry of the asset: the interval continues from the time of that work and from its `data.usage`, and follows its corrections. A life limit takes no `completedBy`, and another `every` only with `limitCorrection`.',
        tags,
        params: intervalPath,
        headers: ifMatchHeaders,
        body: Type.Object(
          {
            name: Type.Optional(name),
            every: Type.Optional(every),
            tolerance: Type.Optional(tolerance),
            limitCorrection: unshown(limitCorrection),
            completedBy: Type.Optional(
              text(sample.maintenanceId, { description: 'The entry that records the work' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: IntervalSchema },
      },
    },
    async (request, reply) => {
      const { assetId, intervalId: id } = request.params;
      const { completedBy, limitCorrection, ...given } = request.body;
      const seen = seenVersions(request.headers);
      const interval = await assetIntervals.update(callerOf(request), {
        assetId,
        id,
        given,
        completedBy,
        limitCorrection,
        seen,
      });
      reply.header('etag', etagOf(interval));
      return toJson(interval);
    },
  );

  app.delete(
    `${url}:intervalId/`,
    {
      config: { scope: 'assets:write', freshSession: false },
      schema: {
        operationId: 'deleteAssetInterval',
        summary: 'Delete an interval',
        description: 'Refused for a life limit that is reached.',
        tags,
        params: intervalPath,
        headers: ifMatchHeaders,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { assetId, intervalId: id } = request.params;
      await assetIntervals.remove(callerOf(request), { assetId, id, seen: seenVersions(request.headers) });
      return reply.code(204).send(null);
    },
  );

  app.get(
    `${assetUrl}due/`,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'listAssetDue',
        summary: 'List what is due on an asset',
        description:
          'When each interval is due next, what is overdue, all open defects, and installed parts that have reached a life limit.',
        tags,
        params: assetPath,
        querystring: Type.Object({ viewerAddress: address }, { additionalProperties: false }),
        response: { 200: DueSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { assetId } = request.params;
      await assetAccess.require({ caller, assetId, viewerAddress: request.query.viewerAddress, what: 'due' });
      const { at, intervals, openDefects, ...rest } = await dueList(
        db,
        { workspaceId: caller.workspaceId, assetId },
        new Date(),
      );
      return {
        ...rest,
        at: at.toISOString(),
        intervals: intervals.map((due) => ({
          ...toJson(due),
          countsFrom: withText(due.countsFrom),
          nextDue: withText(due.nextDue),
          latest: withText(due.latest),
          remaining: due.remaining,
          inTolerance: due.inTolerance,
          overdue: due.overdue,
        })),
        openDefects: openDefects.map((defect) => ({
          ...defect,
          performedAt: defect.performedAt.toISOString(),
          recordedAt: defect.recordedAt.toISOString(),
          deferredUntil: defect.deferredUntil?.toISOString() ?? null,
        })),
      };
    },
  );
}

function toDone({ at, ...rest }: { at: string; hours?: number; cycles?: number }): GivenInterval['lastDone'] {
  return { ...rest, at: new Date(at) };
}

function toJson({ lastDone, createdAt, updatedAt, ...interval }: Interval) {
  const { id, name, kind, every, tolerance, completedBy, version } = interval;
  return {
    ...{ id, name, kind, every, tolerance },
    lastDone: { ...lastDone, at: lastDone.at.toISOString() },
    ...{ completedBy, version },
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

function withText<At extends Date | null, Rest>({ at, ...rest }: { at: At } & Rest) {
  return { ...rest, at: (at?.toISOString() ?? null) as At extends Date ? string : string | null };
}
