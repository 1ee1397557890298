/** /damc/assets/{assetId}/published-pages/ */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { bytesOf } from '../../runtime/page-budget.ts';
import { dateTime, like, named, orNull, plainText, sample, text, unshown } from '../../runtime/schemas.ts';
import { assetPath, assetUrl } from '../assets/assets.routes.ts';
import type { Assets } from '../assets/assets.ts';
import { sampleWork } from '../signing/sample-work.ts';
import { type AssetField, assetFields, type EntryField, entryFields } from './choices.ts';
import { pathOfLink } from './digital-link.ts';
import type { PublishedPage } from './published-pages.store.ts';
import type { PublishedPages } from './published-pages.ts';

const tags = ['assets'];
const url = `${assetUrl}published-pages/`;
const closed = { additionalProperties: false };
const sampleToken = 'YW4gZXhhbXBsZSwgYW5kIG5vIHRva2Vu';
const sampleId = 'pag_01KJPWD6M0ZC0YH1N9T1Q2V5WS';

const list = <Name extends string>(names: readonly Name[], description: string, example: Name[]) =>
  Type.Array(Type.Unsafe<Name>(Type.String({ enum: [...names] })), {
    description,
    uniqueItems: true,
    maxItems: names.length,
    examples: [example],
  });
const shownOfAsset = list<AssetField>(assetFields, 'What the page shows of the asset; nothing else', [
  'name',
  'serialNumber',
  'state',
]);
const shownOfEntry = list<EntryField>(
  entryFields,
  'What the page shows of each of these entries; nothing else, but that an entry was corrected is always shown. `workers` are names, of signers too. `files` are names and hashes, `fileContents` downloads. `proof` lets visitors check when an entry was sealed; it names the workspace, the asset, the entry and the vault. `documents` are the entry and its sign-offs as they were hashed, so that visitors can check all that is shown',
  ['type', 'summary', 'performedAt', 'release', 'signoffs'],
);
const entryChoices = {
  types: Type.Optional(
    Type.Array(plainText({ minLength: 1, maxLength: 100, examples: [sampleWork.type] }), {
      minItems: 1,
      maxItems: 20,
      description: 'Only entries of these types, in any case, those recorded later too',
    }),
  ),
  maintenanceIds: unshown(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: 1000,
      description: 'Only these entries',
    }),
  ),
  show: shownOfEntry,
};
const GivenLink = Type.Object(
  {
    gtin: Type.Optional(text('09506000134352', { maxLength: 14, description: 'With its check digit' })),
    serial: Type.Optional(text('A17', { maxLength: 20, description: 'The serial number, with a gtin' })),
    giai: unshown(Type.String({ maxLength: 30, description: 'A Global Individual Asset Identifier, alone' })),
  },
  {
    ...closed,
    description:
      'Also publishes the page at its GS1 Digital Link, such as /gs1/{workspace}/01/09506000134352/21/A17, below the id of the workspace. Whoever knows or guesses this path finds it',
  },
);
const until = like(dateTime, '2036-12-31T23:59:59.000Z');

const pageFields = {
  id: text(sampleId),
  until,
  show: shownOfAsset,
  entries: orNull(
    Type.Object(
      {
        types: orNull(Type.Array(Type.String(), { examples: [[sampleWork.type]] })),
        maintenanceIds: orNull(Type.Array(Type.String())),
        show: shownOfEntry,
      },
      { description: 'Null: no entries' },
    ),
  ),
  digitalLink: orNull(
    text('https://holdfast.example.com/gs1/ws_01KJPT3YW0RPGTEA3W2DN4G08C/01/09506000134352/21/A17', {
      description: 'Its GS1 Digital Link',
    }),
  ),
  createdAt: like(dateTime, sample.at),
};
const PageSchema = named(
  { title: 'PublishedPage', description: 'A page of an asset for everyone who has its link' },
  Type.Object(pageFields),
);
const MadeSchema = named(
  { title: 'NewPublishedPage', description: 'A page of an asset that was just published, with its link' },
  Type.Object({
    ...pageFields,
    link: text(`https://holdfast.example.com/a/${sampleToken}`, {
      description: 'The address of the page. Told only now: the service keeps a hash of it',
    }),
  }),
);

export interface PublishedPageRoutesDeps {
  assets: Pick<Assets, 'get'>;
  publishedPages: PublishedPages;
  cursors: Cursors;
  publicUrl(): string;
}

export function publishedPageRoutes(app: Api, deps: PublishedPageRoutesDeps): void {
  const { assets, publishedPages, cursors, publicUrl } = deps;

  function toJson({ id, until, choices, digitalLink, createdAt }: PublishedPage) {
    return {
      id,
      until: until.toISOString(),
      show: choices.asset,
      entries: choices.entries,
      digitalLink: digitalLink && `${publicUrl()}${pathOfLink(digitalLink)}`,
      createdAt: createdAt.toISOString(),
    };
  }

  app.post(
    url,
    {
      config: { scope: 'assets:write', secretAnswer: true, freshSession: true },
      schema: {
        operationId: 'publishAssetPage',
        summary: 'Publish a page of an asset',
        description:
          'For everyone who has the link, until the given moment, the page is revoked, or the asset is transferred. It shows what is chosen here, as it is when it is looked at. Also needs the scope assets:read, and files:read to offer the content of files.',
        tags,
        params: assetPath,
        body: Type.Object(
          {
            until,
            show: shownOfAsset,
            entries: Type.Optional(
              Type.Object(entryChoices, { ...closed, description: 'Absent: the page shows no entries' }),
            ),
            digitalLink: Type.Optional(GivenLink),
          },
          closed,
        ),
        response: { 201: MadeSchema },
      },
    },
    async (request, reply) => {
      const { until, ...rest } = request.body;
      const input = { assetId: request.params.assetId, until: new Date(until), ...rest };
      const { token, ...page } = await publishedPages.publish(callerOf(request), input);
      return reply.code(201).send({ ...toJson(page), link: `${publicUrl()}/a/${token}` });
    },
  );

  app.get(
    url,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'listPublishedAssetPages',
        summary: 'List the published pages of an asset',
        description: 'Newest first. Pages that have ended are left out.',
        tags,
        params: assetPath,
        querystring: Type.Object(pageParameters, closed),
        response: { 200: Type.Array(PageSchema) },
      },
    },
    async (request, reply) => {
      const { assetId } = request.params;
      await assets.get(callerOf(request).workspaceId, assetId);
      const items = await fetchPage<PublishedPage>(
        {
          name: 'published-pages',
          filters: { assetId },
          fetch: (workspaceId, after, limit) =>
            publishedPages.list({ workspaceId, assetId }, { before: after?.[0] as string, limit }),
          positionOf: ({ id }) => [id],
          bytesOf,
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(toJson);
    },
  );

  app.delete(
    `${url}:pageId/`,
    {
      config: { scope: 'assets:write', freshSession: true },
      schema: {
        operationId: 'revokePublishedAssetPage',
        summary: 'Revoke a published page of an asset',
        description:
          'Takes effect on the next request: its addresses then answer as if there had never been a page.',
        tags,
        params: Type.Object({ assetId: text(sample.assetId), pageId: text(sampleId) }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { assetId, pageId } = request.params;
      await publishedPages.revoke(callerOf(request), { assetId, id: pageId });
      return reply.code(204).send(null);
    },
  );
}
