/** A page of a history as an answer: the document of proofs, and the headers that lead to the next. */
import { Type } from 'typebox';
import { callerOf } from '../admission/authentication.ts';
import { linkNextPage, type PageRequest, pageParameters } from './page.ts';

/** So that nearly every history is one page: whoever takes the first for the whole would miss what came last. */
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

/** Fetches nothing for a cursor that is not good. */
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
