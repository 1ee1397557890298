/** What needs attention in the workspace, as the API lists it. */
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';

export type Notice = Schemas['Notice'];

/** One more than shown, to tell whether there are more. */
export const mostShown = 20;

export const noticesQuery = queryOptions({
  queryKey: ['notices', 'raised'],
  queryFn: () =>
    call<Notice[]>('GET', '/platform/notices', { query: { state: 'raised', limit: String(mostShown + 1) } }),
  refetchInterval: 30_000,
});
