/** Files as the API has them. */
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { ListOptions } from '../api/lists.ts';
import type { AnchorShape } from '../frame/anchor-details.tsx';

/** A file at its newest version, or one of its versions. */
export interface FileVersion {
  id: string;
  vaultId: string;
  /** The owner today; in a list of versions, the owner then. */
  vaultAddress: string;
  name: string;
  version: number;
  contentHash: string;
  /** Null where only the hash was given. */
  size: number | null;
  mediaType: string;
  status: string;
  expirationDate: string | null;
  expired: boolean;
  erased: boolean;
  createdAt: string;
  anchor: AnchorShape | null;
}

export interface FileValidation {
  id: string;
  fileId: string;
  version: number;
  status: 'pending' | 'completed';
  result: 'valid' | 'invalid' | null;
  integrity: boolean | null;
  authenticity: boolean | null;
  ownership: boolean | null;
  validatedAt: string | null;
}

export interface HistoryItem {
  type: 'version' | 'transfer' | 'validation';
  at: string;
  /** Of a transfer or validation. */
  id: string | null;
  version: number;
  vaultAddress: string;
  toVaultAddress: string | null;
  contentHash: string;
  name: string | null;
  result: 'valid' | 'invalid' | null;
  status: string;
  anchor: AnchorShape | null;
}

export const filesPath = '/platform/files';

/** Confirmations come as events; asking again is for those whose stream was cut. */
const againMs = 5_000;

export const fileQuery = (id: string) =>
  queryOptions({
    queryKey: ['files', 'one', id],
    queryFn: () => call<FileVersion>('GET', `${filesPath}/${id}`),
    refetchInterval: ({ state: { data } }) => (data && data.anchor === null ? againMs : false),
  });

export const validationQuery = (fileId: string, id: string) =>
  queryOptions({
    queryKey: ['files', 'validation', fileId, id],
    queryFn: () => call<FileValidation>('GET', `${filesPath}/${fileId}/validations/${id}`),
    refetchInterval: ({ state: { data } }) => (data?.status === 'completed' ? false : againMs),
  });

/** Newest first. */
export const versionList = (id: string): ListOptions => ({
  noun: 'files',
  path: `${filesPath}/${id}/versions`,
});

/** Newest first. */
export const validationList = (id: string): ListOptions => ({
  noun: 'files',
  path: `${filesPath}/${id}/validations`,
});

/** Oldest first. */
export const historyList = (id: string): ListOptions => ({
  noun: 'files',
  path: `${filesPath}/${id}/history`,
});
