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

/**
 * What the form offers: all events, those with the same first word, and each type. Patterns that the endpoint has already and
 * that are not among these come first.
 */
export function subscriptionChoices(present: string[]): (readonly [type: string, about: string])[] {
  const words = [...new Set(eventTypes.map(([type]) => type.split('.')[0] ?? ''))];
  const offered: (readonly [string, string])[] = [
    ['*', 'All events, also those that later versions add'],
    ...words.flatMap((word) => {
      const types = eventTypes.filter(([type]) => type.startsWith(`${word}.`));
      return types.length > 1 ? [[`${word}.*`, `All events of ${word}`] as const, ...types] : types;
    }),
  ];
  const others = present.filter((type) => !offered.some(([known]) => known === type));
  return [...others.map((type) => [type, 'All events with this prefix'] as const), ...offered];
}

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
