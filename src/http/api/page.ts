/** One page of a list: its query parameters, and the headers for the next page. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { createPageBudget, largeRowsAtOnce } from '../../runtime/page-budget.ts';
import { callerOf } from '../admission/authentication.ts';
import type { CursorPosition, Cursors } from './cursor.ts';
import { pathOf } from './error-reply.ts';

/** Parameters of every list. */
export const pageParameters = {
  cursor: Type.Optional(
    Type.String({ maxLength: 2048, description: 'X-Next-Cursor of the previous page, unchanged.' }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Items per page.' }),
};

export interface List<Row> {
  name: string;
  filters: Record<string, string | undefined>;
  /** Up to `limit` rows after the position, or the first ones. `end`: none after that, as `endOfSearch` has told. */
  fetch(
    workspaceId: string,
    after: CursorPosition | undefined,
    limit: number,
    end: CursorPosition | null,
  ): Promise<Row[]>;
  positionOf(row: Row): CursorPosition;
  /**
   * For filters without an index: where the search for this page ends, so that a page is never searched for through a whole
   * list. The page may then be shorter than its limit although more follow. null: at the end of the list.
   */
  endOfSearch?:
    | ((workspaceId: string, after: CursorPosition | undefined) => Promise<CursorPosition | null>)
    | undefined;
  /** For lists whose pages could become too large: rows are fetched in steps, and bounded by bytes. */
  bytesOf?: (row: Row) => number;
}

export interface PageRequest {
  request: FastifyRequest;
  reply: FastifyReply;
  cursors: Cursors;
  cursor?: string | undefined;
  limit: number;
}

/** Fetches the page and, when there is another, sets the headers for it. */
export async function fetchPage<Row>(list: List<Row>, page: PageRequest): Promise<Row[]> {
  const { request, reply, cursors, cursor, limit } = page;
  const { workspaceId } = callerOf(request);
  const bound = { name: list.name, workspaceId, filters: list.filters };
  const after = cursor === undefined ? undefined : cursors.read(bound, cursor);
  const end = (await list.endOfSearch?.(workspaceId, after)) ?? null;
  const { items, more } = list.bytesOf
    ? await fetchByBytes(list, list.bytesOf, { workspaceId, after, limit, end })
    : await fetchByRows(list, { workspaceId, after, limit, end });
  const last = items.at(-1);
  const next = more && last ? list.positionOf(last) : end;
  if (next) linkNextPage(request, reply, cursors.write(bound, next));
  return items;
}

interface Stretch {
  workspaceId: string;
  after: CursorPosition | undefined;
  limit: number;
  end: CursorPosition | null;
}

async function fetchByRows<Row>(list: List<Row>, { workspaceId, after, limit, end }: Stretch) {
  const rows = await list.fetch(workspaceId, after, limit + 1, end);
  return { items: rows.slice(0, limit), more: rows.length > limit };
}

async function fetchByBytes<Row>(
  list: List<Row>,
  bytesOf: (row: Row) => number,
  { workspaceId, after, limit, end }: Stretch,
) {
  const items: Row[] = [];
  const hasRoom = createPageBudget();
  for (let position = after; ; ) {
    const step = Math.min(limit - items.length, largeRowsAtOnce);
    const found = await fetchByRows(list, { workspaceId, after: position, limit: step, end });
    for (const row of found.items) {
      if (!hasRoom(bytesOf(row))) return { items, more: true };
      items.push(row);
    }
    const last = items.at(-1);
    if (!found.more || !last || items.length >= limit) return { items, more: found.more };
    position = list.positionOf(last);
  }
}

export function linkNextPage(request: FastifyRequest, reply: FastifyReply, cursor: string): void {
  reply.header('x-next-cursor', cursor);
  if (request.method !== 'GET') return;
  const query = new URLSearchParams(request.url.split('?')[1] ?? '');
  query.set('cursor', cursor);
  reply.header('link', `<${pathOf(request)}?${query}>; rel="next"`);
}
