/** Vaults as the API returns them. */

import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { ListOptions } from '../api/lists.ts';
import type { Schemas } from '../api/schemas.ts';

export type Vault = Schemas['Vault'];

export type VaultTransaction = Schemas['Transaction'];

export const vaultList: ListOptions = { noun: 'vaults', path: '/platform/vaults' };

export const vaultQuery = (address: string) =>
  queryOptions({
    queryKey: ['vaults', 'one', address],
    queryFn: () => call<Vault>('GET', `/platform/vaults/${address}`),
  });
