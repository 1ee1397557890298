/** Maintenance entries, sign-offs and what is due, as the API has them. Every look names the owner as the viewer. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { listQuery } from '../api/lists.ts';
import type { AnchorShape } from '../frame/anchor-details.tsx';
import type { Licence } from '../workers/worker.ts';
import { type Asset, assetUrl } from './asset.ts';

export const signoffRoles = ['performed', 'inspected', 'certified'] as const;
export type SignoffRole = (typeof signoffRoles)[number];

export interface Signoff {
  number: number;
  role: SignoffRole;
  workerAddress: string;
  workerName: string;
  licence: Licence | null;
  signedAt: string;
  signature: string;
  signoffHash: string;
  status: string;
  anchor: AnchorShape | null;
}

export interface Maintenance {
  assetId: string;
  maintenanceId: string;
  maintenanceHash: string;
  type: string;
  summary: string;
  performedAt: string;
  recordedAt: string;
  workerAddress: string;
  workerName: string;
  status: string;
  anchor: AnchorShape | null;
  signoffs: Signoff[];
  supersedes: string | null;
  supersededBy: string | null;
}

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

export interface Interval {
  id: string;
  name: string;
  every: { days: number | null; hours: number | null; cycles: number | null };
  lastDone: { at: string; hours: number | null; cycles: number | null };
  nextDue: { at: string | null; hours: number | null; cycles: number | null };
  remaining: { days: number | null; hours: number | null; cycles: number | null };
  overdue: boolean;
}

export interface OpenDefect {
  maintenanceId: string;
  summary: string;
  performedAt: string;
  deferredUntil: string | null;
  overdue: boolean;
}

export interface Due {
  at: string;
  overdue: boolean;
  intervals: Interval[];
  openDefects: OpenDefect[];
}

/** What the API needs to know of an asset to let the owner look. */
export type Viewed = Pick<Asset, 'assetId' | 'vaultAddress'>;

export const entryUrl = (assetId: string, maintenanceId: string, below = '') =>
  assetUrl(assetId, `maintenances/${maintenanceId}/${below}`);

/** Confirmations of entries come as events, those of sign-offs do not. */
const followMs = 3_000;
const isOpen = ({ anchor, signoffs }: Pick<Maintenance, 'anchor' | 'signoffs'>) =>
  anchor === null || signoffs.some((signoff) => signoff.anchor === null);

export const entriesQuery = (
  { assetId, vaultAddress }: Viewed,
  filters: { type?: string | undefined; status?: string | undefined },
) =>
  infiniteQueryOptions({
    ...listQuery<Maintenance>({
      noun: 'assets',
      path: assetUrl(assetId, 'maintenances/'),
      query: { viewerAddress: vaultAddress, ...filters },
      limit: 50,
    }),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ items }) => items.some(isOpen)) ? followMs : false,
  });

export const entryQuery = ({ assetId, vaultAddress }: Viewed, maintenanceId: string) =>
  queryOptions({
    queryKey: ['assets', 'maintenance', assetId, maintenanceId, vaultAddress],
    queryFn: () =>
      call<WholeMaintenance>('GET', entryUrl(assetId, maintenanceId, 'details/'), {
        query: { viewerAddress: vaultAddress },
      }),
    refetchInterval: ({ state: { data } }) => (data && isOpen(data) ? followMs : false),
  });

export const dueQuery = ({ assetId, vaultAddress }: Viewed) =>
  queryOptions({
    queryKey: ['assets', 'due', assetId, vaultAddress],
    queryFn: () => call<Due>('GET', assetUrl(assetId, 'due/'), { query: { viewerAddress: vaultAddress } }),
  });
