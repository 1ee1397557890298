/** /platform/holds, /platform/erasures */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { AppError } from '../../runtime/errors.ts';
import {
  address,
  dateTime,
  like,
  named,
  orNull,
  plainText,
  sample,
  text,
  unshown,
} from '../../runtime/schemas.ts';
import { type ListedErasure, mostListedVersions } from './erasures.ts';
import type { Hold, HoldSubject, Holds } from './holds.ts';

const sampleReason = 'Dispute 2026-014';
const placedAt = '2026-03-03T08:00:00.000Z';
const erasedAt = '2026-03-04T09:00:00.000Z';

const HoldSchema = named(
  { title: 'Hold', description: 'A legal hold' },
  Type.Object({
    subjectId: text(sample.recordId, { description: 'Id of the vault, the file or the record' }),
    held: Type.Boolean({ examples: [true] }),
    reason: text(sampleReason, { description: 'Empty when it is not held' }),
    placedAt: orNull(like(dateTime, placedAt)),
  }),
);
const ErasureSchema = named(
  { title: 'Erasure', description: 'What was erased of a record or a file, without its content' },
  Type.Object({
    kind: like(Type.Unsafe<'record' | 'file'>(Type.String({ enum: ['record', 'file'] })), 'record'),
    subjectId: text(sample.recordId, { description: 'Id of the record or the file' }),
    versions: Type.Array(Type.Integer(), {
      examples: [[1]],
      description: `At most the first ${mostListedVersions}`,
    }),
    versionCount: Type.Integer({ examples: [1], description: 'How many versions were erased' }),
    bytes: Type.Integer({
      examples: [51],
      description: 'How many bytes the workspace stores less; 0 for a file whose bytes another file needs',
    }),
    byRetention: Type.Boolean({ examples: [false] }),
    erasedAt: like(dateTime, erasedAt),
    goneFromBackupsAt: goneFromBackups(),
  }),
);

/** The time from which no backup has it, if backups are kept for as long as the setting says. */
export function goneFromBackups() {
  return like(
    Type.String({
      ...dateTime,
      description:
        'From then on no backup and no archived WAL has it, provided that both are kept for HOLDFAST_BACKUP_RETENTION_DAYS at most',
    }),
    '2026-04-03T09:00:00.000Z',
  );
}

export type GoneFromBackups = (erasedAt: Date) => string;

const tags = ['erasure'];
const subjectId = Type.Optional(
  Type.String({ minLength: 1, maxLength: 100, description: 'Id of a vault, a file or a record' }),
);

export interface HoldRoutesDeps {
  holds: Holds;
  listErasures(
    workspaceId: string,
    page: { subjectId: string | undefined; before: number | undefined; limit: number },
  ): Promise<ListedErasure[]>;
  goneFromBackups: GoneFromBackups;
  cursors: Cursors;
}

export function holdRoutes(app: Api, deps: HoldRoutesDeps): void {
  const { holds, listErasures, goneFromBackups, cursors } = deps;
  app.put(
    `${apiBase}/platform/holds`,
    {
      config: { scope: 'vaults:write', freshSession: true },
      schema: {
        operationId: 'putHold',
        summary: 'Place or release a legal hold',
        description:
          'Name one vault, file or record. While it is held, nothing of it is erased: a request to do so gets 409 `on_hold`, and retention leaves it out. The hold of a vault covers all its records and files. Repeating the request changes nothing.',
        tags,
        body: Type.Object(
          {
            vaultAddress: unshown(address),
            fileId: unshown(Type.String({ maxLength: 100 })),
            recordId: Type.Optional(text(sample.recordId, { maxLength: 100 })),
            held: Type.Boolean({ examples: [true], description: 'false releases the hold' }),
            reason: Type.Optional(
              like(
                plainText({
                  maxLength: 500,
                  description: 'Required to place one; shown to who tries to erase',
                }),
                sampleReason,
              ),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: HoldSchema },
      },
    },
    async (request) => {
      const { held, reason = '', ...named } = request.body;
      if (held && reason.trim() === '')
        throw new AppError('invalid_request', 'reason is needed to place a hold.');
      return toJson(await holds.put(callerOf(request), subjectOf(named), held ? reason : null));
    },
  );

  app.get(
    `${apiBase}/platform/holds`,
    {
      config: { scope: 'vaults:read' },
      schema: {
        operationId: 'listHolds',
        summary: 'List legal holds',
        description: 'The holds that are placed now, by the id of what is held.',
        tags,
        querystring: Type.Object({ subjectId, ...pageParameters }, { additionalProperties: false }),
        response: { 200: Type.Array(HoldSchema) },
      },
    },
    async (request, reply) => {
      const { subjectId } = request.query;
      const items = await fetchPage<Hold>(
        {
          name: 'holds',
          filters: { subjectId },
          fetch: (workspaceId, after, limit) =>
            holds.list(workspaceId, { subjectId, after: after?.[0] as string | undefined, limit }),
          positionOf: (hold) => [hold.subjectId],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(toJson);
    },
  );

  app.get(
    `${apiBase}/platform/erasures`,
    {
      config: { scope: 'vaults:read' },
      schema: {
        operationId: 'listErasures',
        summary: 'List what was erased',
        description: 'Newest first, on request or by retention.',
        tags,
        querystring: Type.Object({ subjectId, ...pageParameters }, { additionalProperties: false }),
        response: { 200: Type.Array(ErasureSchema) },
      },
    },
    async (request, reply) => {
      const { subjectId } = request.query;
      const items = await fetchPage<ListedErasure>(
        {
          name: 'erasures',
          filters: { subjectId },
          fetch: (workspaceId, after, limit) =>
            listErasures(workspaceId, { subjectId, before: after?.[0] as number | undefined, limit }),
          positionOf: ({ number }) => [number],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(({ number: _, erasedAt, ...rest }) => ({
        ...rest,
        erasedAt: erasedAt.toISOString(),
        goneFromBackupsAt: goneFromBackups(erasedAt),
      }));
    },
  );
}

function subjectOf({
  vaultAddress,
  fileId,
  recordId,
}: {
  vaultAddress?: string;
  fileId?: string;
  recordId?: string;
}): HoldSubject {
  const named: HoldSubject[] = [
    ...(vaultAddress === undefined ? [] : [{ vaultAddress }]),
    ...(fileId === undefined ? [] : [{ fileId }]),
    ...(recordId === undefined ? [] : [{ recordId }]),
  ];
  const [subject] = named;
  if (!subject || named.length > 1)
    throw new AppError('invalid_request', 'Give exactly one of vaultAddress, fileId and recordId.');
  return subject;
}

function toJson({ placedAt, ...rest }: Hold) {
  return { ...rest, placedAt: placedAt?.toISOString() ?? null };
}
