/** Files as the API returns them. */

import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { ListOptions } from '../api/lists.ts';
import type { Schemas } from '../api/schemas.ts';

/** A file at its newest version, or one of its versions. */
export type FileVersion = Schemas['File'];

export type FileValidation = Schemas['FileValidation'];

export type HistoryItem = Schemas['FileHistoryItem'];

export const filesPath = '/platform/files';

/** Confirmations come as events; polling is for users whose stream was interrupted. */
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
