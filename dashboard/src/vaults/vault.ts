/** Vaults as the API has them. */
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { ListOptions } from '../api/lists.ts';

export interface Vault {
  id: string;
  name: string;
  description: string;
  address: string;
  status: 'active' | 'inactive';
  createdAt: string;
  updatedAt: string;
}

export interface VaultTransaction {
  hash: string;
  from: string;
  to: string;
  value: string;
  timestamp: string;
}

export const vaultList: ListOptions = { noun: 'vaults', path: '/platform/vaults' };

export const vaultQuery = (address: string) =>
  queryOptions({
    queryKey: ['vaults', 'one', address],
    queryFn: () => call<Vault>('GET', `/platform/vaults/${address}`),
  });
