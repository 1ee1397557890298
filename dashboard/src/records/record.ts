/** Records as the API returns them. */

import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';

export type RecordVersion = Schemas['Record'];

export type WholeRecord = RecordVersion & { data: Record<string, unknown> };

export const recordsPath = '/platform/records';

export const recordQuery = (id: string, version?: number) =>
  queryOptions({
    queryKey: ['records', 'one', id, version ?? 'newest'],
    queryFn: () => call<WholeRecord>('GET', `${recordsPath}/${id}`, { query: { version } }),
    // The confirmation comes as an event; polling is for users whose stream was interrupted.
    refetchInterval: ({ state: { data } }) => (data && data.anchor === null ? 5_000 : false),
  });

export const anchorStatuses = ['pending', 'batched', 'submitted', 'confirmed', 'finalized'];
