/** Maintenance entries, sign-offs and what is due, as the API returns them. Every look names the owner as the viewer. */

import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query';
import { call, callPage } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { assetQuery, assetUrl } from './asset.ts';

export const signoffRoles = ['performed', 'inspected', 'certified'] as const;
export type SignoffRole = (typeof signoffRoles)[number];

export type Signoff = Schemas['Signoff'];

export type Maintenance = Schemas['Maintenance'];

export interface MaintenanceFile {
  fileId: string;
  version: number;
  name: string;
  contentHash: string;
}

export type WholeMaintenance = Maintenance & {
  data: Record<string, unknown>;
  files: MaintenanceFile[];
  entry: Record<string, unknown>;
};

/** An interval with its next due date. */
export type Interval = Due['intervals'][number];

export interface OpenDefect {
  maintenanceId: string;
  summary: string;
  performedAt: string;
  deferred: boolean;
  deferredUntil: string | null;
  overdue: boolean;
  repairedBy: string | null;
}

export type Due = Schemas['AssetDue'];

export const entryUrl = (assetId: string, maintenanceId: string, below = '') =>
  assetUrl(assetId, `maintenances/${maintenanceId}/${below}`);

/** Each look is in the access log of the asset, so nothing is refetched without a change. */
const sparing = { staleTime: 60_000, refetchOnWindowFocus: false } as const;

/** The current owner: right after a transfer, the owner on the screen would be refused. */
async function owner(client: QueryClient, assetId: string): Promise<{ viewerAddress: string }> {
  const { vaultAddress } = await client.fetchQuery({ ...assetQuery(assetId), staleTime: 1_000 });
  return { viewerAddress: vaultAddress };
}

/** Confirmations of entries come as events, those of sign-offs do not. */
const followMs = 3_000;
const isOpen = ({ anchor, signoffs }: Pick<Maintenance, 'anchor' | 'signoffs'>) =>
  anchor === null || signoffs.some((signoff) => signoff.anchor === null);

export const entriesQuery = (
  assetId: string,
  filters: { type?: string | undefined; status?: string | undefined },
) =>
  infiniteQueryOptions({
    queryKey: ['assets', 'maintenances', assetId, filters],
    queryFn: async ({ client, pageParam, signal }) =>
      callPage<Maintenance>(assetUrl(assetId, 'maintenances/'), {
        query: { ...(await owner(client, assetId)), ...filters, limit: 50, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    ...sparing,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ items }) => items.some(isOpen)) ? followMs : false,
  });

export const entryQuery = (assetId: string, maintenanceId: string) =>
  queryOptions({
    queryKey: ['assets', 'maintenance', assetId, maintenanceId],
    queryFn: async ({ client }) =>
      call<WholeMaintenance>('GET', entryUrl(assetId, maintenanceId, 'details/'), {
        query: await owner(client, assetId),
      }),
    ...sparing,
    refetchInterval: ({ state: { data } }) => (data && isOpen(data) ? followMs : false),
  });

export const dueQuery = (assetId: string) =>
  queryOptions({
    queryKey: ['assets', 'due', assetId],
    queryFn: async ({ client }) =>
      call<Due>('GET', assetUrl(assetId, 'due/'), { query: await owner(client, assetId) }),
    ...sparing,
  });
