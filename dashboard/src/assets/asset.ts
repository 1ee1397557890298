/** Assets as the API returns them, without their maintenance. */

import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { ListOptions } from '../api/lists.ts';
import type { Schemas } from '../api/schemas.ts';

export type Asset = Schemas['Asset'];

export type AssetVersion = Schemas['AssetVersion'];

export type AssetTransfer = Schemas['AssetTransfer'];

export type Installation = Schemas['Installation'];

export type Look = Schemas['AssetAccess'];

export const assetsPath = '/damc/assets/';

/** The URL of an asset, or of something below it such as `workers/`. */
export const assetUrl = (assetId: string, below = '') =>
  `${assetsPath}${encodeURIComponent(assetId)}/${below}`;

/** A list below an asset. */
export const assetList = (assetId: string, below: string, query: ListOptions['query'] = {}): ListOptions => ({
  noun: 'assets',
  path: assetUrl(assetId, below),
  query,
});

export const assetQuery = (assetId: string) =>
  queryOptions({
    queryKey: ['assets', 'one', assetId],
    queryFn: () => call<Asset>('GET', assetUrl(assetId)),
    // The confirmation of a change has no event of its own.
    refetchInterval: ({ state: { data } }) => (data && data.anchor === null ? 3_000 : false),
  });

export const isUnderWay = ({ anchor }: Pick<AssetTransfer, 'anchor'>) => anchor === null;

/** In a few words with non-breaking spaces; empty when it never ran. */
export function usageText({ hours, cycles }: Asset['usage']): string {
  const parts = [
    hours > 0 && `${hours.toLocaleString('en')}\u00a0h`,
    cycles > 0 && `${cycles.toLocaleString('en')}\u00a0${cycles === 1 ? 'cycle' : 'cycles'}`,
  ];
  return parts.filter(Boolean).join(', ');
}
