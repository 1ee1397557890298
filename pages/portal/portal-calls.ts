/** Calls of the API with the token of the link. */
import { call, callFor, type Schemas } from '../sign/call.ts';

export type Opened = Schemas['OpenPortal'];
export type Delivery = Schemas['PortalDelivery'];
export type WholeDelivery = Schemas['PortalDeliveryWithAttempts'];
export type TestOutcome = Schemas['EndpointTest'];
type Moved = Schemas['MovedEndpoint'];

export interface DeliveryPage {
  deliveries: Delivery[];
  /** null: there are no older ones. */
  cursor: string | null;
}

export interface Portal {
  open(): Promise<Opened>;
  deliveries(query: { status?: string; cursor?: string }): Promise<DeliveryPage>;
  delivery(deliveryId: string): Promise<WholeDelivery>;
  retry(deliveryId: string): Promise<Delivery>;
  test(): Promise<TestOutcome>;
  changeUrl(url: string): Promise<Moved>;
  secret(): Promise<string>;
  rotateSecret(): Promise<{ secret: string; previousSecretUntil: string }>;
}

const perPage = 25;

export function createPortal(token: string): Portal {
  const ask = <T>(name: string, body: object = {}) =>
    call<T>(`platform/webhooks/portal/${name}`, { token, ...body });
  return {
    open: () => ask('open'),
    async deliveries(query) {
      const body = { token, limit: perPage, ...query };
      const response = await callFor('platform/webhooks/portal/deliveries', body);
      return { deliveries: await response.json(), cursor: response.headers.get('x-next-cursor') };
    },
    delivery: (deliveryId) => ask('delivery', { deliveryId }),
    retry: (deliveryId) => ask('retry', { deliveryId }),
    test: () => ask('test'),
    changeUrl: (url) => ask('change-url', { url }),
    secret: async () => (await ask<{ secret: string }>('secret')).secret,
    rotateSecret: () => ask('rotate-secret'),
  };
}
