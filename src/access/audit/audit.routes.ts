/** /platform/audit-log */

import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { CursorPosition, Cursors } from '../../http/api/cursor.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { bytesOf } from '../../runtime/page-budget.ts';
import { dateTime, named, orNull, sample, text } from '../../runtime/schemas.ts';
import { type AuditEntry, endOfSearch, listAuditEntries } from './audit.ts';

const AuditEntrySchema = named(
  { title: 'AuditEntry', description: 'Who did what to which resource, and when' },
  Type.Object({
    id: text('aud_01KJPWD6M0KQ7EHC50MS100MQS'),
    workspaceId: text(sample.workspaceId),
    at: dateTime,
    actor: Type.Object({ kind: text('api_key'), id: text(sample.keyId) }),
    action: text('file.create', { description: 'What was done, as noun.verb' }),
    targetId: text(sample.fileId, { description: 'The resource it was done to' }),
    requestId: orNull(text('0b6f3c1e-5f0e-4c0d-9a53-3f0f7a1f2c44')),
    details: Type.Record(Type.String(), Type.Unknown(), {
      examples: [{ vaultId: sample.vaultId, contentHash: sample.contentHash }],
    }),
    digest: text('9e9e0075a6f577099104462444d7c9c4e1c90765d249d2ee177b70c3b2bdcfab', {
      description: 'SHA-256 of this entry',
    }),
    sequence: orNull(
      Type.Integer({
        examples: [41],
        description: 'Position in the hash chain of this workspace; null for a moment after the change',
      }),
    ),
    hash: orNull(
      text('dc560baef5cf167596a25d2c980f7634c9b5f421f3f7aec459c3752b59dda04b', {
        description: 'SHA-256 over the hash of the previous entry and this digest',
      }),
    ),
  }),
);

export function auditRoutes(app: Api, { db, cursors }: { db: Db; cursors: Cursors }): void {
  app.get(
    `${apiBase}/platform/audit-log`,
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'listAuditEntries',
        summary: 'List audit entries',
        description:
          'Newest first. Entries are never changed; each is chained to the previous one by its hash. With `action` or `actorId` a page may be shorter than `limit`, or empty, although more follow: check X-Next-Cursor.',
        tags: ['audit'],
        querystring: Type.Object(
          {
            action: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
            actorId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
            targetId: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
            ...pageParameters,
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(AuditEntrySchema) },
      },
    },
    async (request, reply) => {
      const { cursor, limit, ...filters } = request.query;
      const items = await fetchPage<AuditEntry>(
        {
          name: 'audit-log',
          filters,
          fetch: (workspaceId, after, limit, end) =>
            listAuditEntries(db, {
              workspaceId,
              ...filters,
              before: after?.[0] as string | undefined,
              end: end?.[0] as string | undefined,
              limit,
            }),
          positionOf: ({ id }) => [id],
          bytesOf,
          endOfSearch: isSearched(filters) ? searchFrom : undefined,
        },
        { request, reply, cursors, cursor, limit },
      );
      return items.map((entry) => ({ ...entry, at: entry.at.toISOString() }));
    },
  );

  async function searchFrom(
    workspaceId: string,
    after: CursorPosition | undefined,
  ): Promise<CursorPosition | null> {
    const end = await endOfSearch(db, { workspaceId, before: after?.[0] as string | undefined });
    return end === undefined ? null : [end];
  }
}

/** The entries about one thing are found by an index; those of an action or an actor are not. */
function isSearched({ action, actorId, targetId }: Record<string, string | undefined>): boolean {
  return targetId === undefined && (action !== undefined || actorId !== undefined);
}
