/** /platform/stats */
import { Type } from 'typebox';
import { isOperator } from '../../access/people/operators.ts';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { AppError } from '../../runtime/errors.ts';
import { dateTime, like, named, orNull, sample, text } from '../../runtime/schemas.ts';
import type { ReadStats, Stats } from './stats.ts';

const figure = (example: number, description?: string) =>
  Type.Integer({ ...(description !== undefined && { description }), examples: [example] });
const StatsSchema = named(
  { title: 'Stats', description: 'Statistics of the workspace for the chosen period' },
  Type.Object({
    bucketSeconds: figure(3600),
    buckets: Type.Array(
      Type.Object({
        at: dateTime,
        anchored: figure(318),
        anchorMsP50: orNull(
          figure(
            9_400,
            'Time from acceptance to the confirmed anchor; measured on an even sample if there are many',
          ),
        ),
        anchorMsP95: orNull(figure(13_800)),
        delivered: figure(311),
        failed: figure(2),
        skipped: figure(0),
      }),
    ),
    waiting: Type.Object({
      anchors: figure(7, 'Counted up to 100,000'),
      deliveries: figure(5, 'Counted up to 100,000'),
      oldestDeliveryAt: orNull(like(dateTime, '2026-03-02T09:58:30.000Z')),
      failingEndpoints: figure(0),
      disabledEndpoints: figure(0, 'Disabled by the service, not by their owner'),
      setAsideBatches: figure(
        0,
        'Batches that need the attention of an operator. Counts those with content of this workspace; for operators, those of the whole installation',
      ),
    }),
    chain: orNull(
      Type.Object({
        chainId: figure(sample.chainId),
        embedded: Type.Boolean({
          description: 'True for the embedded chain, whose anchors are development evidence only',
        }),
        indexedBlock: orNull(figure(sample.blockNumber + 298)),
        indexedAt: orNull(like(dateTime, '2026-03-02T09:59:48.000Z')),
        headBlock: orNull(figure(sample.blockNumber + 298, 'Known only on the node that leads on the chain')),
        balanceWei: orNull(
          text('412000000000000000', {
            description: 'Balance of the account that pays for the anchors; shown to operators only',
          }),
        ),
        anchorsLeft: orNull(
          figure(4_200, 'How many anchors the balance pays for at current fees; shown to operators only'),
        ),
      }),
    ),
    clocks: Type.Object(
      {
        authorities: Type.Array(
          Type.Object({
            name: text('timestamp.example.org', { description: 'Its address, without a query' }),
            lastTokenAt: orNull(like(dateTime, '2026-03-02T09:59:12.000Z')),
            awaySince: orNull(
              text('2026-03-02T10:00:12.000Z', {
                ...dateTime,
                description:
                  'Since when it has not given a token that it was asked for. Known only on the node that leads on the chain',
              }),
            ),
          }),
        ),
        openTimestamps: orNull(
          Type.Object({
            pending: figure(3, 'Proofs that no Bitcoin block has yet. Counted up to 100,000'),
            unchecked: figure(
              0,
              'Complete proofs without the header of their block: nobody has checked what calendars say. Counted up to 100,000',
            ),
          }),
        ),
      },
      { description: 'Who vouches for the time of batches besides the chain' },
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

function toJson({ buckets, waiting, chain, clocks, ...rest }: Stats) {
  return {
    ...rest,
    buckets: buckets.map(({ at, ...figures }) => ({ at: at.toISOString(), ...figures })),
    waiting: { ...waiting, oldestDeliveryAt: waiting.oldestDeliveryAt?.toISOString() ?? null },
    chain: chain && { ...chain, indexedAt: chain.indexedAt?.toISOString() ?? null },
    clocks: {
      ...clocks,
      authorities: clocks.authorities.map(({ name, lastTokenAt, awaySince }) => ({
        name,
        lastTokenAt: lastTokenAt?.toISOString() ?? null,
        awaySince: awaySince?.toISOString() ?? null,
      })),
    },
  };
}
