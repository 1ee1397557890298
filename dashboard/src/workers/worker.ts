/** Workers and their licences as the API returns them. */

import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { ListOptions } from '../api/lists.ts';
import type { Schemas } from '../api/schemas.ts';

export type Licence = Worker['licences'][number];

export type Worker = Schemas['Worker'];

export const workersPath = '/damc/workers/';
export const workerUrl = (address: string) => `${workersPath}${address}/`;

export const workerList: ListOptions = { noun: 'workers', path: workersPath };

export const workerQuery = (address: string) =>
  queryOptions({
    queryKey: ['workers', 'one', address],
    queryFn: () => call<Worker>('GET', workerUrl(address)),
  });

export function isExpired({ expiresAt }: Pick<Licence, 'expiresAt'>, now = Date.now()): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now;
}

/** Whether it counts now. */
export function isValid(
  licence: Pick<Licence, 'expiresAt' | 'validFrom' | 'suspendedAt'>,
  now = Date.now(),
): boolean {
  const { validFrom, suspendedAt } = licence;
  const isSuspended = suspendedAt !== null && Date.parse(suspendedAt) <= now;
  const hasBegun = validFrom === null || Date.parse(validFrom) <= now;
  return !isExpired(licence, now) && !isSuspended && hasBegun;
}

const soonMs = 30 * 24 * 60 * 60 * 1000;

/** Within the next 30 days. */
export function expiresSoon(licence: Pick<Licence, 'expiresAt'>): boolean {
  return !isExpired(licence) && isExpired(licence, Date.now() + soonMs);
}
