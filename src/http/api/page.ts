/** One page of a list: the query that asks for it, and the headers that lead to the next. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { createPageBudget, largeRowsAtOnce } from '../../runtime/page-budget.ts';
import { callerOf } from '../admission/authentication.ts';
import type { CursorPosition, Cursors } from './cursor.ts';
import { pathOf } from './error-reply.ts';

/** Parameters that every list takes. */
export const pageParameters = {
  cursor: Type.Optional(
    Type.String({ maxLength: 2048, description: 'X-Next-Cursor of the previous page, unchanged.' }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Items per page.' }),
};

export interface List<Row> {
  name: string;
  filters: Record<string, string | undefined>;
  /** Up to `limit` rows that follow the position, or the first ones. */
  fetch(workspaceId: string, after: CursorPosition | undefined, limit: number): Promise<Row[]>;
  positionOf(row: Row): CursorPosition;
  /** Where a thousand may be more than an answer should have: they are fetched in steps, and counted by bytes. */
  bytesOf?: (row: Row) => number;
}

export interface PageRequest {
  request: FastifyRequest;
  reply: FastifyReply;
  cursors: Cursors;
  cursor?: string | undefined;
  limit: number;
}

/** Fetches the page and, when there is another, sets the headers that lead to it. */
export async function fetchPage<Row>(list: List<Row>, page: PageRequest): Promise<Row[]> {
  const { request, reply, cursors, cursor, limit } = page;
  const { workspaceId } = callerOf(request);
  const bound = { name: list.name, workspaceId, filters: list.filters };
  const after = cursor === undefined ? undefined : cursors.read(bound, cursor);
  const { items, more } = list.bytesOf
    ? await fetchByBytes(list, list.bytesOf, { workspaceId, after, limit })
    : await fetchByRows(list, { workspaceId, after, limit });
  const last = items.at(-1);
  if (more && last) linkNextPage(request, reply, cursors.write(bound, list.positionOf(last)));
  return items;
}

interface Stretch {
  workspaceId: string;
  after: CursorPosition | undefined;
  limit: number;
}

async function fetchByRows<Row>(list: List<Row>, { workspaceId, after, limit }: Stretch) {
  const rows = await list.fetch(workspaceId, after, limit + 1);
  return { items: rows.slice(0, limit), more: rows.length > limit };
}

async function fetchByBytes<Row>(
  list: List<Row>,
  bytesOf: (row: Row) => number,
  { workspaceId, after, limit }: Stretch,
) {
  const items: Row[] = [];
  const hasRoom = createPageBudget();
  for (let position = after; ; ) {
    const step = Math.min(limit - items.length, largeRowsAtOnce);
    const found = await fetchByRows(list, { workspaceId, after: position, limit: step });
    for (const row of found.items) {
      if (!hasRoom(bytesOf(row))) return { items, more: true };
      items.push(row);
    }
    const last = items.at(-1);
    if (!found.more || !last || items.length === limit) return { items, more: found.more };
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
