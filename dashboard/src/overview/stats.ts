/** The figures of the workspace, as the API returns them. */

import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';

export type Stats = Schemas['Stats'];

export interface Bucket {
  at: string;
  anchored: number;
  anchorMsP50: number | null;
  anchorMsP95: number | null;
  delivered: number;
  failed: number;
  skipped: number;
}

/** The available time spans, in hours. */
export const spans = [
  { value: '1', label: 'Hour' },
  { value: '24', label: 'Day' },
  { value: '168', label: 'Week' },
  { value: '720', label: 'Month' },
];

export const statsQuery = (hours: number) =>
  queryOptions({
    queryKey: ['stats', hours],
    queryFn: () => {
      const to = new Date();
      const from = new Date(to.getTime() - hours * 60 * 60 * 1000);
      return call<Stats>('GET', '/platform/stats', {
        query: { from: from.toISOString(), to: to.toISOString() },
      });
    },
    refetchInterval: 15_000,
    placeholderData: (before) => before,
  });
