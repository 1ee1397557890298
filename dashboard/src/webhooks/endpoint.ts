/** Endpoints, deliveries and replays as the API has them. */

import { queryOptions } from '@tanstack/react-query';
import { eventCatalogue } from '../../../src/events/catalogue.ts';
import { call } from '../api/call.ts';
import type { ListOptions } from '../api/lists.ts';

export interface Endpoint {
  id: string;
  url: string;
  eventTypes: string[];
  description: string;
  enabled: boolean;
  status: 'active' | 'failing' | 'disabled';
  disabledReason: 'owner' | 'gone' | 'failing' | null;
  rateLimit: number | null;
  createdAt: string;
  updatedAt: string;
}

/** How the test event went that is sent with every save. */
export interface TestOutcome {
  delivered: boolean;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
}

/** No test is sent to one that is being disabled. */
export type SavedEndpoint = Endpoint & { test: TestOutcome | null; secret?: string };

export interface Delivery {
  id: string;
  eventId: string;
  endpointId: string;
  type: string;
  status: 'pending' | 'delivering' | 'succeeded' | 'failed' | 'skipped';
  createdAt: string;
  nextAttemptAt: string | null;
  replayId: string | null;
}

export interface Attempt {
  number: number;
  at: string;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  responseHeaders: Record<string, string>;
  responseBody: string;
}

export interface WholeDelivery extends Delivery {
  envelope: string;
  attempts: Attempt[];
}

export interface Replay {
  id: string;
  endpointId: string;
  status: 'running' | 'paused' | 'completed' | 'cancelled';
  total: number;
  enqueued: number;
  succeeded: number;
  failed: number;
  skipped: number;
}

export const eventTypes = Object.entries(eventCatalogue).map(([type, { about }]) => [type, about] as const);

export const endpointList: ListOptions = { noun: 'webhooks', path: '/platform/webhooks/endpoints' };

export const endpointQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: () => call<Endpoint>('GET', `/platform/webhooks/endpoints/${id}`),
  });

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', 'one', id],
    queryFn: () => call<WholeDelivery>('GET', `/platform/webhooks/deliveries/${id}`),
    // Until it has ended.
    refetchInterval: ({ state: { data } }) =>
      data && ['pending', 'delivering'].includes(data.status) ? 2_000 : false,
  });

export const replayQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'replay', id],
    queryFn: () => call<Replay>('GET', `/platform/webhooks/replays/${id}`),
    refetchInterval: ({ state: { data } }) =>
      data && (data.status === 'completed' || data.status === 'cancelled') ? false : 1_000,
  });
