/** What the holder of a portal link may do: with the one endpoint of the link, and nothing else. */
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import type {
  Deliveries,
  Delivery,
  DeliveryPage,
  DeliveryStatus,
  WholeDelivery,
} from '../deliveries/deliveries.ts';
import type { RotatedSecret } from '../endpoints/endpoint-secrets.ts';
import type { Endpoint } from '../endpoints/endpoints.store.ts';
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { TestOutcome } from '../endpoints/test-event.ts';
import type { HeldLink } from './portal-links.store.ts';

export interface PortalQuery {
  status: DeliveryStatus | undefined;
  /** Id after which the page begins. */
  before: string | undefined;
  limit: number;
}

/** Each for the endpoint of a link that `PortalLinks.find` has just found; the audit log names the link as the actor. */
export interface Portal {
  endpoint(link: HeldLink): Promise<Endpoint>;
  deliveries(link: HeldLink, query: PortalQuery): Promise<DeliveryPage>;
  delivery(link: HeldLink, id: string): Promise<WholeDelivery>;
  retry(link: HeldLink, id: string, requestId: string): Promise<Delivery>;
  test(link: HeldLink, requestId: string): Promise<TestOutcome>;
  changeUrl(
    link: HeldLink,
    url: string,
    requestId: string,
  ): Promise<{ endpoint: Endpoint; test: TestOutcome }>;
  secret(link: HeldLink, requestId: string): Promise<string>;
  rotateSecret(link: HeldLink, requestId: string): Promise<RotatedSecret>;
}

export interface PortalDeps {
  endpoints: Pick<Endpoints, 'get' | 'test' | 'update' | 'secret' | 'rotateSecret'>;
  deliveries: Deliveries;
}

export function createPortal({ endpoints, deliveries }: PortalDeps): Portal {
  /** Endpoints with a test under way: a receiver that hangs must not use up the tests of the workspace. */
  const underWay = new Set<string>();

  async function one<Result>({ endpointId }: HeldLink, send: () => Promise<Result>): Promise<Result> {
    if (underWay.has(endpointId)) {
      throw new AppError(
        'rate_limit_exceeded',
        'A test of this endpoint is under way. Wait until it has ended.',
        {
          retryAfterSeconds: 5,
        },
      );
    }
    underWay.add(endpointId);
    try {
      return await send();
    } finally {
      underWay.delete(endpointId);
    }
  }

  async function ownDelivery(link: HeldLink, id: string): Promise<WholeDelivery> {
    const delivery = await deliveries.get(link.workspaceId, id);
    // As if it did not exist: the holder may know nothing of other endpoints.
    if (delivery.endpointId !== link.endpointId) {
      throw new AppError('resource_not_found', `There is no delivery ${id}.`);
    }
    return delivery;
  }

  return {
    endpoint: ({ workspaceId, endpointId }) => endpoints.get(workspaceId, endpointId),

    deliveries: ({ workspaceId, endpointId }, query) =>
      deliveries.list(workspaceId, { ...query, endpointId }),

    delivery: ownDelivery,

    async retry(link, id, requestId) {
      await ownDelivery(link, id);
      return deliveries.retry(callerFor(link, requestId), id);
    },

    test: (link, requestId) => one(link, () => endpoints.test(callerFor(link, requestId), link.endpointId)),

    async changeUrl(link, url, requestId) {
      if (!link.mayChangeUrl) throw notIncluded('changing the URL');
      const { workspaceId, endpointId } = link;
      const before = await endpoints.get(workspaceId, endpointId);
      if (before.headerNames.length > 0 && !hasOrigin(url, before.url)) {
        throw new AppError(
          'conflict',
          'This endpoint sends headers that belong to its host, so only whoever gave you the link can move it to another host.',
        );
      }
      const { endpoint, test } = await one(link, () =>
        endpoints.update(callerFor(link, requestId), endpointId, { url }),
      );
      if (test === null) throw new Error(`the new URL of ${endpointId} was not tested`);
      return { endpoint, test };
    },

    async secret(link, requestId) {
      if (!link.mayManageSecret) throw notIncluded('the signing secret');
      return endpoints.secret(callerFor(link, requestId), link.endpointId);
    },

    async rotateSecret(link, requestId) {
      if (!link.mayManageSecret) throw notIncluded('the signing secret');
      return endpoints.rotateSecret(callerFor(link, requestId), link.endpointId, () => []);
    },
  };
}

/** Nobody is signed in: in the audit log, the link acts. */
function callerFor({ workspaceId, id }: HeldLink, requestId: string): Caller {
  return { workspaceId, actor: { kind: 'portal_link', id }, scopes: ['webhooks:write'], requestId };
}

function notIncluded(what: string): AppError {
  return new AppError('forbidden', `This link does not include ${what}. Ask whoever gave it to you.`);
}

/** An address that is none is refused where all are checked. */
function hasOrigin(url: string, other: string): boolean {
  return !URL.canParse(url) || new URL(url).origin === new URL(other).origin;
}
