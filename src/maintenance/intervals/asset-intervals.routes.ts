/** /damc/assets/{assetId}/intervals/ and due/ */
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { etagOf, ifMatchHeaders, seenVersions } from '../../http/api/precondition.ts';
import { address, dateTime, like, named, orNull, plainText, sample, text } from '../../runtime/schemas.ts';
import type { AssetAccess } from '../assets/asset-access.ts';
import { assetPath, assetUrl } from '../assets/assets.routes.ts';
import type { Assets } from '../assets/assets.ts';
import { sampleAsset } from '../signing/sample-work.ts';
import { dueList } from './asset-due.ts';
import type { AssetIntervals, GivenInterval, Interval } from './asset-intervals.ts';

const tags = ['assets'];
const url = `${assetUrl}intervals/`;
const intervalPath = Type.Object({
  assetId: text(sample.assetId),
  intervalId: text(sample.intervalId),
});

const sampleName = 'Rope and brake';
const sampleEvery = { days: null, months: 6, hours: 500, cycles: null };
/** `lastDone` before the interval was created, and after the work in the examples. */
const firstDone = { at: '2025-09-01T08:00:00.000Z', hours: 12_010, cycles: null };
const sampleDone = { at: sample.performedAt, hours: 12_480.5, cycles: null };

const name = plainText({ maxLength: 200, examples: [sampleName] });
const counter = { minimum: 0, maximum: 1e12 };
const every = Type.Object(
  {
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    months: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 12_000, description: 'Calendar months, to the same day in UTC' }),
    ),
    hours: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1e12 })),
    cycles: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e12 })),
  },
  {
    additionalProperties: false,
    description: 'Set at least one; the one that is reached first counts',
    examples: [{ months: sampleEvery.months, hours: sampleEvery.hours }],
  },
);
const lastDone = Type.Object(
  {
    at: dateTime,
    hours: Type.Optional(Type.Number(counter)),
    cycles: Type.Optional(Type.Integer(counter)),
  },
  {
    additionalProperties: false,
    examples: [{ at: firstDone.at, hours: firstDone.hours }],
    description:
      'When the work was last done before the interval was created, and the usage at that time. Required for each counter in `every`, and not above the usage of the asset',
  },
);

const numberOrNull = orNull(Type.Number());
const intervalFields = {
  id: text(sample.intervalId),
  name: text(sampleName, { description: 'Empty if not set' }),
  every: Type.Object(
    {
      days: orNull(Type.Integer()),
      months: orNull(Type.Integer()),
      hours: numberOrNull,
      cycles: orNull(Type.Integer()),
    },
    { examples: [sampleEvery] },
  ),
  lastDone: Type.Object(
    { at: dateTime, hours: numberOrNull, cycles: orNull(Type.Integer()) },
    { examples: [sampleDone] },
  ),
  completedBy: orNull(
    text(sample.maintenanceId, {
      description: 'The entry that last completed it; null before the first',
    }),
  ),
  version: Type.Integer({
    description: 'Number of the current version; in quotes it is the ETag for If-Match',
    examples: [2],
  }),
  createdAt: dateTime,
  updatedAt: dateTime,
};
const IntervalSchema = named(
  { title: 'Interval', description: 'Maintenance work that recurs' },
  Type.Object(intervalFields),
);
const DueSchema = named(
  { title: 'AssetDue', description: 'What is due on an asset: intervals and open defects' },
  Type.Object({
    assetId: text(sample.assetId),
    at: text('2026-03-02T12:00:00.000Z', { ...dateTime, description: 'The time that this was computed for' }),
    usage: Type.Object({ hours: Type.Number(), cycles: Type.Integer() }, { examples: [sampleAsset.usage] }),
    overdue: Type.Boolean({ description: 'Whether anything is overdue' }),
    intervals: Type.Array(
      Type.Object({
        ...intervalFields,
        nextDue: Type.Object(
          { at: orNull(dateTime), hours: numberOrNull, cycles: orNull(Type.Integer()) },
          { examples: [{ at: '2026-09-02T08:50:00.000Z', hours: 12_980.5 }] },
        ),
        remaining: Type.Object(
          { days: numberOrNull, hours: numberOrNull, cycles: orNull(Type.Integer()) },
          { description: 'Negative when overdue', examples: [{ days: 183.9, hours: 500 }] },
        ),
        overdue: Type.Boolean(),
      }),
    ),
    openDefects: Type.Array(
      Type.Object({
        maintenanceId: text('mnt_01KJPW41N0DX0B2JGPMPA4ZXJ1'),
        summary: text('Gearbox seal is seeping oil'),
        performedAt: like(dateTime, sample.performedAt),
        recordedAt: like(dateTime, '2026-03-02T08:55:00.000Z'),
        deferred: Type.Boolean({ description: 'Whether the repair was deferred', examples: [true] }),
        deferredUntil: orNull(like(dateTime, '2026-04-30T23:59:59.999Z')),
        overdue: Type.Boolean(),
        repairedBy: orNull(
          Type.String({ description: 'The newest entry that will close it once certified' }),
        ),
      }),
      {
        description:
          'Entries of type `defect` that no certified entry lists in `data.closes`; the oldest thousand',
      },
    ),
  }),
);

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
      config: { scope: 'assets:write', idempotent: true },
      schema: {
        operationId: 'createAssetInterval',
        summary: 'Create a maintenance interval',
        tags,
        params: assetPath,
        body: Type.Object({ name: Type.Optional(name), every, lastDone }, { additionalProperties: false }),
        response: { 201: like(IntervalSchema, { lastDone: firstDone, completedBy: null, version: 1 }) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(201));
      const { name = '', every, lastDone } = request.body;
      const input = { assetId: request.params.assetId, given: { name, every, lastDone: toDone(lastDone) } };
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
      config: { scope: 'assets:write' },
      schema: {
        operationId: 'updateAssetInterval',
        summary: 'Update or complete an interval',
        description:
          'Omitted fields stay unchanged. `completedBy` names a maintenance entry of the asset: the interval continues from the time of that work and from its `data.usage`, and follows its corrections.',
        tags,
        params: intervalPath,
        headers: ifMatchHeaders,
        body: Type.Object(
          {
            name: Type.Optional(name),
            every: Type.Optional(every),
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
      const { completedBy, ...given } = request.body;
      const seen = seenVersions(request.headers);
      const interval = await assetIntervals.update(callerOf(request), {
        assetId,
        id,
        given,
        completedBy,
        seen,
      });
      reply.header('etag', etagOf(interval));
      return toJson(interval);
    },
  );

  app.delete(
    `${url}:intervalId/`,
    {
      config: { scope: 'assets:write' },
      schema: {
        operationId: 'deleteAssetInterval',
        summary: 'Delete an interval',
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
        description: 'When each interval is due next, what is overdue, and all open defects.',
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
        intervals: intervals.map(({ nextDue, ...due }) => ({
          ...due,
          ...toJson(due),
          nextDue: { ...nextDue, at: nextDue.at?.toISOString() ?? null },
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

function toJson({ id, name, every, lastDone, completedBy, version, createdAt, updatedAt }: Interval) {
  return {
    id,
    name,
    every,
    lastDone: { ...lastDone, at: lastDone.at.toISOString() },
    completedBy,
    version,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
