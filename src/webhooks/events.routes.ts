/** /platform/events */
import type { Pool } from 'pg';
import { Type } from 'typebox';
import { type Api, apiBase } from '../http/api.ts';
import { callerOf } from '../http/authentication.ts';
import type { Cursors } from '../http/cursor.ts';
import { linkNextPage, pageParameters } from '../http/page.ts';
import { dateTime } from '../http/schemas.ts';
import { eventTypes, readFeed } from './events.ts';

const EventEnvelope = Type.Object({
  id: Type.String({ description: 'Unique; use it to drop duplicates' }),
  type: Type.String(),
  timestamp: dateTime,
  workspace_id: Type.String(),
  data: Type.Record(Type.String(), Type.Unknown()),
});

export function eventRoutes(app: Api, { pool, cursors }: { pool: Pool; cursors: Cursors }): void {
  app.get(
    `${apiBase}/platform/events`,
    {
      config: { scope: 'events:read' },
      schema: {
        summary: 'Read the event feed',
        description:
          'Oldest first, the same envelopes that webhooks carry. X-Next-Cursor is always sent: go on from it, also after an empty page, and no event is missed or seen twice.',
        tags: ['events'],
        querystring: Type.Object(
          { type: Type.Optional(Type.String({ enum: [...eventTypes] })), ...pageParameters },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(EventEnvelope) },
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const { type, cursor, limit } = request.query;
      const list = { name: 'events', workspaceId, filters: { type } };
      const after = cursor === undefined ? 0 : Number(cursors.read(list, cursor)[0]);
      const items = await readFeed(pool, { workspaceId, type, after, limit });
      linkNextPage(request, reply, cursors.write(list, [items.at(-1)?.position ?? after]));
      // The envelopes are text already; they go out as they are, byte for byte.
      const body = `[${items.map(({ envelope }) => envelope).join(',')}]`;
      return reply.type('application/json; charset=utf-8').send(body as never);
    },
  );
}
