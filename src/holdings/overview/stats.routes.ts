/** /platform/stats */
import { Type } from 'typebox';
import { isOperator } from '../../access/people/operators.ts';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { AppError } from '../../runtime/errors.ts';
import { dateTime, named, orNull } from '../../runtime/schemas.ts';
import type { ReadStats, Stats } from './stats.ts';

const count = Type.Integer();
const StatsSchema = named(
  { title: 'Stats', description: 'Statistics of the workspace for the chosen period' },
  Type.Object({
    bucketSeconds: Type.Integer(),
    buckets: Type.Array(
      Type.Object({
        at: dateTime,
        anchored: count,
        anchorMsP50: orNull(
          Type.Integer({
            description:
              'Time from acceptance to the confirmed anchor; measured on an even sample if there are many',
          }),
        ),
        anchorMsP95: orNull(Type.Integer()),
        delivered: count,
        failed: count,
        skipped: count,
      }),
    ),
    waiting: Type.Object({
      anchors: Type.Integer({ description: 'Counted up to 100,000' }),
      deliveries: Type.Integer({ description: 'Counted up to 100,000' }),
      oldestDeliveryAt: orNull(dateTime),
      failingEndpoints: count,
      disabledEndpoints: Type.Integer({ description: 'Disabled by the service, not by their owner' }),
      setAsideBatches: Type.Integer({
        description:
          'Batches that need the attention of an operator. Counts those with content of this workspace; for operators, those of the whole installation',
      }),
    }),
    chain: orNull(
      Type.Object({
        chainId: Type.Integer(),
        embedded: Type.Boolean({
          description: 'True for the embedded chain, whose anchors are development evidence only',
        }),
        indexedBlock: orNull(Type.Integer()),
        indexedAt: orNull(dateTime),
        headBlock: orNull(Type.Integer({ description: 'Known only on the node that leads on the chain' })),
        balanceWei: orNull(
          Type.String({
            description: 'Balance of the account that pays for the anchors; shown to operators only',
          }),
        ),
        anchorsLeft: orNull(
          Type.Integer({
            description: 'How many anchors the balance pays for at current fees; shown to operators only',
          }),
        ),
      }),
    ),
  }),
);

const dayMs = 24 * 60 * 60 * 1000;
const mostDays = 92;

export function statsRoutes(app: Api, { db, readStats }: { db: Db; readStats: ReadStats }): void {
  app.get(
    `${apiBase}/platform/stats`,
    {
      config: { scope: 'events:read' },
      schema: {
        operationId: 'getStats',
        summary: 'Get statistics of the workspace',
        description: `What was anchored and delivered between two times (by default during the last day), and what is waiting now. At most ${mostDays} days.`,
        tags: ['operations'],
        querystring: Type.Object(
          { from: Type.Optional(dateTime), to: Type.Optional(dateTime) },
          { additionalProperties: false },
        ),
        response: { 200: StatsSchema },
      },
    },
    async (request) => {
      const to = request.query.to === undefined ? new Date() : new Date(request.query.to);
      const from =
        request.query.from === undefined ? new Date(to.getTime() - dayMs) : new Date(request.query.from);
      const spanMs = to.getTime() - from.getTime();
      if (spanMs <= 0) throw new AppError('invalid_request', 'from must be before to.');
      if (spanMs > mostDays * dayMs) {
        throw new AppError('invalid_request', `from and to must not be more than ${mostDays} days apart.`);
      }
      const caller = callerOf(request);
      const forOperator = await isOperator(db, caller);
      return toJson(await readStats(caller.workspaceId, { from, to, forOperator }));
    },
  );
}

function toJson({ buckets, waiting, chain, ...rest }: Stats) {
  return {
    ...rest,
    buckets: buckets.map(({ at, ...figures }) => ({ at: at.toISOString(), ...figures })),
    waiting: { ...waiting, oldestDeliveryAt: waiting.oldestDeliveryAt?.toISOString() ?? null },
    chain: chain && { ...chain, indexedAt: chain.indexedAt?.toISOString() ?? null },
  };
}
