/**
 * The pages that owners of assets publish: /a/{token}, and the same at the GS1 Digital Link of the asset. They need no session;
 * an address without a page, one that has ended and one that never was all get the same answer.
 */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { createRateLimiter } from '../../http/admission/rate-limit.ts';
import type { Api } from '../../http/api/api.ts';
import { attachment, attachmentPolicy, safeMediaType } from '../../http/bodies/attachment.ts';
import { bundledPage } from '../../http/pages/bundled-page.ts';
import type { PageSources } from '../../http/pages/page-bundle.ts';
import { findDigitalLink, linkIn, pathOfLink } from './digital-link.ts';
import { noPageParts, type PageParts, pageHtml } from './page-html.ts';
import type { PageAddress } from './published-pages.store.ts';
import type { ShownPages } from './shown.ts';

/** No script at all, and nothing from elsewhere. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const assetPage: PageSources = {
  folder: join(import.meta.dirname, '../../../pages/asset'),
  entries: ['asset.css'],
  assetPath: '/a/assets',
};

/** Visitors may share an address. */
const viewLimit = { requests: 240, windowSeconds: 60 };

interface Base {
  url: string;
  params: Record<string, ReturnType<typeof Type.String>>;
  /** Null if no page can have this address. */
  addressOf(params: Record<string, string>): PageAddress | null;
}

interface Visit {
  /** The last entry of the page before. */
  after: string | undefined;
  /** The chain of this service is for development. */
  development: boolean;
}

const part = Type.String({ maxLength: 512 });

const bases: Base[] = [
  { url: '/a/:token', params: { token: part }, addressOf: ({ token = '' }) => ({ token }) },
  {
    url: '/gs1/:workspace/01/:gtin/21/:serial',
    params: { workspace: part, gtin: part, serial: part },
    addressOf: ({ workspace = '', gtin = '', serial = '' }) =>
      linked(workspace, findDigitalLink({ gtin, serial })),
  },
  {
    url: '/gs1/:workspace/8004/:giai',
    params: { workspace: part, giai: part },
    addressOf: ({ workspace = '', giai = '' }) => linked(workspace, findDigitalLink({ giai })),
  },
];

function linked(workspaceId: string, link: string | null): PageAddress | null {
  return link === null ? null : { digitalLink: linkIn(workspaceId, link) };
}

export function assetPageRoutes(app: Api, { shownPages }: { shownPages: ShownPages }): void {
  const limiter = createRateLimiter(viewLimit);
  const bundle = bundledPage(app, { sources: assetPage, urls: [], policy });

  async function sendPage(reply: FastifyReply, { title, main }: PageParts): Promise<FastifyReply> {
    const { html } = await bundle();
    return outsidersOnly(reply)
      .header('content-security-policy', policy)
      .header('cross-origin-opener-policy', 'same-origin')
      .type('text/html; charset=utf-8')
      .send(html.replaceAll('<!-- title -->', () => title).replace('<!-- main -->', () => main));
  }
  const sendNone = (reply: FastifyReply) => sendPage(reply.code(404), noPageParts);

  for (const { url, params, addressOf } of bases) {
    /** Answers with what `find` finds at the address, or as if nothing had ever been there. */
    function route<Found>(
      below: string,
      extra: object,
      find: (address: PageAddress, params: Record<string, string>, visit: Visit) => Promise<Found | null>,
      send: (reply: FastifyReply, found: Found) => Promise<FastifyReply> | FastifyReply,
    ): void {
      app.get(
        `${url}${below}`,
        {
          config: { secretAnswer: true, tellsOfChain: true },
          schema: { hide: true, params: Type.Object({ ...params, ...extra }) },
        },
        async (request, reply) => {
          limiter.countAddress(request.ip, reply);
          const given = request.params as Record<string, string>;
          const { after } = request.query as { after?: unknown };
          const address = addressOf(given);
          const found =
            address &&
            (await find(address, given, {
              after: typeof after === 'string' ? after : undefined,
              development: reply.hasHeader('x-evidence'),
            }));
          return found === null ? sendNone(reply) : send(reply, found);
        },
      );
    }

    route(
      '',
      {},
      async (address, _, { after, development }) => {
        const page = await shownPages.page(address, after);
        const base = 'token' in address ? `/a/${address.token}` : pathOfLink(address.digitalLink);
        return page && pageHtml(page, { base, isFirst: after === undefined, development });
      },
      sendPage,
    );
    const entry = { ref: part };
    const signoff = { ...entry, number: Type.String({ pattern: '^[1-9][0-9]{0,5}$' }) };
    route('/entries/:ref/proof.json', entry, (at, { ref = '' }) => shownPages.proof(at, ref), sendProof);
    route(
      '/entries/:ref/document.json',
      entry,
      (at, { ref = '' }) => shownPages.document(at, ref),
      (reply, text) => sendJsonFile(reply, 'entry.json', text),
    );
    route(
      '/entries/:ref/signoffs/:number/proof.json',
      signoff,
      (at, { ref = '', number }) => shownPages.signoffProof(at, ref, Number(number)),
      sendProof,
    );
    route(
      '/entries/:ref/signoffs/:number/document.json',
      signoff,
      (at, { ref = '', number }) => shownPages.signoffDocument(at, ref, Number(number)),
      (reply, text) => sendJsonFile(reply, 'signoff.json', text),
    );
    route(
      '/entries/:ref/files/:number',
      signoff,
      (at, { ref = '', number }) => shownPages.file(at, ref, Number(number)),
      async (reply, { name, mediaType, size, read }) =>
        outsidersOnly(reply)
          .headers({
            'content-type': safeMediaType(mediaType),
            'content-length': size,
            'content-disposition': attachment(name),
            'content-security-policy': attachmentPolicy,
          })
          .send(Readable.from(await read())),
    );
  }
}

function sendProof(reply: FastifyReply, proof: object): FastifyReply {
  return sendJsonFile(reply, 'proof.json', JSON.stringify(proof));
}

function sendJsonFile(reply: FastifyReply, name: string, text: string): FastifyReply {
  return outsidersOnly(reply)
    .header('content-disposition', attachment(name))
    .header('content-security-policy', attachmentPolicy)
    .type('application/json; charset=utf-8')
    .send(text);
}

/** Neither search engines nor the pages that a visitor goes on to learn the address. */
function outsidersOnly(reply: FastifyReply): FastifyReply {
  return reply.header('x-robots-tag', 'noindex, nofollow').header('referrer-policy', 'no-referrer');
}
