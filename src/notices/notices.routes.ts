/** /platform/notices */
import { Type } from 'typebox';
import type { Db } from '../db/database.ts';
import { noticeTypes } from '../events/catalogue.ts';
import { sampleEventOf } from '../events/sample-event.ts';
import { callerOf } from '../http/admission/authentication.ts';
import { type Api, apiBase } from '../http/api/api.ts';
import type { Cursors } from '../http/api/cursor.ts';
import { fetchPage, pageParameters } from '../http/api/page.ts';
import { AppError } from '../runtime/errors.ts';
import { bytesOf } from '../runtime/page-budget.ts';
import { dateTime, named, orNull, sample, text } from '../runtime/schemas.ts';
import { setWantsMail, wantsMail } from './mail.store.ts';
import { listNotices, type Notice } from './notices.store.ts';
import { wordsOf } from './words.ts';

const sampleType = 'worker.licence.expiring';
const { notice_id: _, state: __, since: ___, ...sampleData } = sampleEventOf(sampleType).data;
const sampleWords = wordsOf(sampleType, sampleData);

const NoticeSchema = named(
  { title: 'Notice', description: 'Something that needs attention, or needed it' },
  Type.Object({
    id: text(sample.noticeId),
    type: Type.String({ enum: [...noticeTypes], examples: [sampleType] }),
    state: Type.String({ enum: ['raised', 'cleared'] }),
    title: text(sampleWords.title, { description: 'What is wrong, in a sentence' }),
    advice: text(sampleWords.advice, { description: 'What to do about it' }),
    path: text(sampleWords.path, { description: 'Path of the page of the dashboard about it' }),
    since: dateTime,
    raisedAt: dateTime,
    clearedAt: orNull(dateTime),
    data: Type.Record(Type.String(), Type.Unknown(), {
      examples: [sampleData],
      description: 'As in the events of this type',
    }),
  }),
);

const MailChoice = named(
  { title: 'NoticeMail', description: 'Whether you get mail about the notices of this workspace' },
  Type.Object({
    wanted: Type.Boolean({ examples: [true] }),
    configured: Type.Boolean({
      examples: [true],
      description: 'Whether the service can send mail: the operator has set HOLDFAST_SMTP_URL',
    }),
  }),
);

const mailUrl = `${apiBase}/platform/notices/mail`;

export function noticeRoutes(
  app: Api,
  { db, cursors, mails: configured }: { db: Db; cursors: Cursors; mails: boolean },
): void {
  app.get(
    `${apiBase}/platform/notices`,
    {
      config: { scope: 'events:read' },
      schema: {
        operationId: 'listNotices',
        summary: 'List notices',
        description:
          'What needs attention, newest first: `state=raised` for what does so now. Each is told once when it is raised and once when it is cleared, as an event of its type. Cleared ones are kept for 90 days. Notices about the installation are those of the default workspace.',
        tags: ['events'],
        querystring: Type.Object(
          {
            state: Type.Optional(Type.String({ enum: ['raised', 'cleared'] })),
            ...pageParameters,
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(NoticeSchema) },
      },
    },
    async (request, reply) => {
      const { state, cursor, limit } = request.query;
      const items = await fetchPage<Notice>(
        {
          name: 'notices',
          filters: { state },
          fetch: (workspaceId, after, limit) =>
            listNotices(db, {
              ...{ workspaceId, limit },
              state: state as 'raised' | 'cleared' | undefined,
              before: after?.[0] as string | undefined,
            }),
          positionOf: ({ id }) => [id],
          bytesOf,
        },
        { request, reply, cursors, cursor, limit },
      );
      return items.map(toJson);
    },
  );

  app.get(
    mailUrl,
    {
      config: { role: 'viewer' },
      schema: {
        operationId: 'getNoticeMail',
        summary: 'See whether you get mail about notices',
        description: 'Owners and admins do, unless they have turned it off.',
        tags: ['people'],
        response: { 200: MailChoice },
      },
    },
    async (request) => {
      const { workspaceId, userId } = personOf(request);
      return { wanted: await wantsMail(db, workspaceId, userId), configured };
    },
  );

  app.put(
    mailUrl,
    {
      config: { role: 'viewer', freshSession: false },
      schema: {
        operationId: 'setNoticeMail',
        summary: 'Turn mail about notices on or off for yourself',
        description: 'For this workspace alone. Only owners and admins get such mail.',
        tags: ['people'],
        body: Type.Object({ wanted: Type.Boolean({ examples: [false] }) }, { additionalProperties: false }),
        response: { 200: MailChoice },
      },
    },
    async (request) => {
      const { wanted } = request.body;
      await setWantsMail(db, { ...personOf(request), wanted });
      return { wanted, configured };
    },
  );
}

function personOf(request: Parameters<typeof callerOf>[0]): { workspaceId: string; userId: string } {
  const { workspaceId, person } = callerOf(request);
  if (person) return { workspaceId, userId: person.userId };
  throw new AppError('forbidden', 'Only people who are signed in get mail.');
}

function toJson({ id, type, data, since, raisedAt, clearedAt }: Notice) {
  return {
    id,
    type,
    state: clearedAt ? 'cleared' : 'raised',
    ...wordsOf(type, data),
    since: since.toISOString(),
    raisedAt: raisedAt.toISOString(),
    clearedAt: clearedAt?.toISOString() ?? null,
    data,
  };
}
