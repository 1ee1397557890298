/** /platform/events */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import { Type } from 'typebox';
import { callerOf, type FindCaller, requireRights } from '../http/admission/authentication.ts';
import { type Api, apiBase } from '../http/api/api.ts';
import type { CursorPosition, Cursors } from '../http/api/cursor.ts';
import { fetchPage, linkNextPage, pageParameters } from '../http/api/page.ts';
import { type Limits, limitOf } from '../runtime/budgets.ts';
import { AppError } from '../runtime/errors.ts';
import { bytesOf, takeWithin } from '../runtime/page-budget.ts';
import { dateTime, like, named, text } from '../runtime/schemas.ts';
import { eventTypes } from './catalogue.ts';
import type { EventStreams } from './event-stream.ts';
import { endOfSearch, type FeedItem, readFeed, readFeedBackwards } from './feed.ts';
import { cursorFromBefore, type FeedGeneration } from './feed-generation.ts';
import { sampleEventOf } from './sample-event.ts';

const sampleEvent = sampleEventOf('record.anchor.confirmed');

const EventEnvelope = named(
  {
    title: 'Event',
    description: 'An event, as delivered by the feed and by webhooks',
  },
  Type.Object({
    id: text(sampleEvent.id, { description: 'Unique; use it to detect duplicates' }),
    type: text(sampleEvent.type),
    timestamp: like(dateTime, sampleEvent.timestamp),
    workspace_id: text(sampleEvent.workspace_id),
    data: Type.Record(Type.String(), Type.Unknown(), { examples: [sampleEvent.data] }),
  }),
);

const type = Type.Optional(Type.String({ enum: [...eventTypes] }));
const order = Type.Optional(Type.String({ enum: ['oldest', 'newest'], description: 'Defaults to oldest' }));
const { cursor } = pageParameters;
const scope = 'events:read';

/** Envelopes are sent as stored, without parsing, so their pages may be larger than others. */
const mostFeedBytes = 7_000_000;

export interface EventRoutesDeps {
  pool: Pool;
  cursors: Cursors;
  feedGeneration: FeedGeneration;
  eventStreams: EventStreams;
  /** Called again while a stream is open. */
  findCaller: FindCaller;
  limits: Limits;
}

export function eventRoutes(app: Api, deps: EventRoutesDeps): void {
  const { pool, eventStreams, findCaller, limits } = deps;
  const cursors = ofGeneration(deps.cursors, deps.feedGeneration);
  app.get(
    `${apiBase}/platform/events`,
    {
      config: { scope },
      schema: {
        operationId: 'listEvents',
        summary: 'Read the event feed',
        description:
          'Oldest first, with the same envelopes that webhooks carry. X-Next-Cursor is always sent: continue from it, even after an empty page, and you miss no event and see none twice. With order=newest it is an ordinary list that ends at the oldest event. With `type` a page may be shorter than `limit`, or empty, although more follow: check X-Next-Cursor.',
        tags: ['events'],
        querystring: Type.Object({ type, order, ...pageParameters }, { additionalProperties: false }),
        response: { 200: Type.Array(EventEnvelope) },
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const { type, order, cursor, limit } = request.query;
      if (order === 'newest') {
        const items = await fetchPage<FeedItem>(
          {
            name: 'events-newest',
            filters: { type },
            fetch: (workspaceId, after, limit, end) =>
              readFeedBackwards(pool, {
                ...{ workspaceId, type, limit },
                ...{ before: after?.[0] as number | undefined, end: Number(end?.[0] ?? 0) },
              }),
            positionOf: ({ position }) => [position],
            bytesOf,
            endOfSearch: type === undefined ? undefined : searchBackwards,
          },
          { request, reply, cursors, cursor, limit },
        );
        return sendEnvelopes(reply, items);
      }
      const list = { name: 'events', workspaceId, filters: { type } };
      const after = cursor === undefined ? 0 : Number(cursors.read(list, cursor)[0]);
      const found = await readFeed(pool, { workspaceId, type, after, limit });
      const items = takeWithin(found.items, ({ envelope }) => envelope.length, mostFeedBytes);
      const isWhole = items.length === found.items.length;
      linkNextPage(
        request,
        reply,
        cursors.write(list, [isWhole ? found.upTo : (items.at(-1)?.position ?? after)]),
      );
      return sendEnvelopes(reply, items);
    },
  );
  app.get(
    `${apiBase}/platform/events/stream`,
    {
      config: { scope },
      schema: {
        operationId: 'streamEvents',
        summary: 'Follow the event feed',
        description:
          'Server-sent events over a connection that stays open: `event` is the type, `data` the envelope, and `id` a cursor that points right after the event, here and in the feed. Without a cursor the stream starts with the next event. A comment is sent every 15 seconds.',
        tags: ['events'],
        querystring: Type.Object({ type, cursor }, { additionalProperties: false }),
        headers: Type.Object({
          'last-event-id': Type.Optional(
            Type.String({
              maxLength: 2048,
              description: 'The last `id` you received; takes precedence over `cursor`.',
            }),
          ),
        }),
        response: {
          200: {
            description:
              'The stream; it ends when the service stops, and when the caller loses what it takes to open it.',
            content: { 'text/event-stream': { schema: Type.String() } },
          },
        },
      },
    },
    async (request, reply) => {
      const { workspaceId, limits: own } = callerOf(request);
      const { type, cursor } = request.query;
      const list = { name: 'events', workspaceId, filters: { type } };
      // An empty one means that no event was seen yet.
      const from = request.headers['last-event-id'] || cursor;
      const after = from === undefined ? null : Number(cursors.read(list, from)[0]);
      reply.header('content-type', 'text/event-stream').header('x-accel-buffering', 'no');
      if (request.method === 'HEAD') return reply.send('' as never);
      const stream = await eventStreams.open({
        workspaceId,
        most: limitOf(limits, own, 'streams'),
        type,
        after,
        toId: (position) => cursors.write(list, [position]),
        mayGoOn: () => mayStillRead(request, workspaceId),
        cutIfStalled: (ms) => reply.raw.setTimeout(ms, () => reply.raw.destroy()),
      });
      stream.on('error', (error) =>
        request.log.error({ requestId: request.id, err: error }, 'event stream failed'),
      );
      return reply.send(stream as never);
    },
  );

  async function searchBackwards(
    workspaceId: string,
    after: CursorPosition | undefined,
  ): Promise<CursorPosition | null> {
    const end = await endOfSearch(pool, { workspaceId, before: after?.[0] as number | undefined });
    return end === null ? null : [end];
  }

  /** As when it was opened, whatever has been changed since: rights, and what the workspace requires. */
  async function mayStillRead(
    { headers, id, routeOptions }: FastifyRequest,
    workspaceId: string,
  ): Promise<boolean> {
    try {
      const caller = await findCaller(headers, id);
      if (caller?.workspaceId !== workspaceId) return false;
      requireRights(caller, routeOptions.config);
      return true;
    } catch (error) {
      // The caller has lost access. Other errors are the database's, and the check is repeated.
      if (error instanceof AppError) return false;
      throw error;
    }
  }
}

/** Envelopes are stored as text and sent byte for byte. */
function sendEnvelopes(reply: FastifyReply, items: FeedItem[]): never {
  const body = `[${items.map(({ envelope }) => envelope).join(',')}]`;
  return reply.type('application/json; charset=utf-8').send(body) as never;
}

/** A cursor into the feed contains the position and the generation that it belongs to. */
function ofGeneration(cursors: Cursors, current: FeedGeneration): Cursors {
  return {
    write: (list, position) => cursors.write(list, [...position, current.name]),
    read(list, cursor) {
      const [position, generation = ''] = cursors.read(list, cursor);
      if (position === undefined || generation !== current.name) throw cursorFromBefore(current);
      return [position];
    },
  };
}
