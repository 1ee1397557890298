/** Endpoints, deliveries and replays as the API returns them. */

import { queryOptions } from '@tanstack/react-query';
import { eventCatalogue } from '../../../src/events/catalogue.ts';
import { call } from '../api/call.ts';
import type { ListOptions } from '../api/lists.ts';
import type { Schemas } from '../api/schemas.ts';

export type Endpoint = Schemas['Endpoint'];

/** The outcome of the test event that is sent on every save. */
export type TestOutcome = Schemas['EndpointTest'];

/** No test is sent when the endpoint is being disabled. */
export type SavedEndpoint = Endpoint & { test: TestOutcome | null; secret?: string };

export type Delivery = Schemas['Delivery'];

export type Attempt = WholeDelivery['attempts'][number];

export type WholeDelivery = Schemas['DeliveryWithAttempts'];

export type Replay = Schemas['Replay'];

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
    // Until the delivery has ended.
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
