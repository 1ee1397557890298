/** Answers with a page of a history: the document of proofs, and the headers for the next page. */
import { Type } from 'typebox';
import { callerOf } from '../admission/authentication.ts';
import { linkNextPage, type PageRequest, pageParameters } from './page.ts';

/** Large enough that nearly every history fits on one page: a client that ignores paging would miss the latest proofs. */
export const mostProofs = 1000;

export const historyParameters = {
  cursor: pageParameters.cursor,
  limit: Type.Integer({
    minimum: 1,
    maximum: mostProofs,
    default: mostProofs,
    description: 'Proofs per page.',
  }),
};

export interface HistoryAsked extends Omit<PageRequest, 'limit'> {
  name: string;
  filters: Record<string, string>;
}

/** Checks the cursor before it fetches anything. */
export async function sendHistoryPage(
  { name, filters, request, reply, cursors, cursor }: HistoryAsked,
  fetch: (after: number[] | undefined) => Promise<{ history: { format: string }; next: number[] | null }>,
): Promise<{ format: string }> {
  const bound = { name, filters, workspaceId: callerOf(request).workspaceId };
  const after = cursor === undefined ? undefined : cursors.read(bound, cursor);
  const { history, next } = await fetch(after?.map(Number));
  if (next) linkNextPage(request, reply, cursors.write(bound, next));
  return { ...history };
}
