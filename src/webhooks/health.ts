/** How endpoints fare: since when one fails, when it recovers, and when it is given up. */
import type { EndpointHealth } from './dispatcher.ts';
import type { Endpoints } from './endpoints.ts';
import type { ClaimedEndpoint } from './queue.ts';

const giveUpAfterMs = 5 * 24 * 60 * 60 * 1000;

/** Only what changes is written down: an endpoint that goes on failing costs nothing. */
export function createHealthKeeper(
  endpoints: Endpoints,
): (endpoint: ClaimedEndpoint, health: EndpointHealth) => Promise<void> {
  const failingSince = new Map<string, number>();
  return async (endpoint, health) => {
    const { id } = endpoint;
    if (health === 'recovered') {
      failingSince.delete(id);
      await endpoints.setFailing(id, null);
      return;
    }
    if (health === 'gone') {
      await endpoints.disable(endpoint, 'gone');
      return;
    }
    const since = endpoint.failingSince?.getTime() ?? failingSince.get(id);
    if (since === undefined) {
      failingSince.set(id, Date.now());
      await endpoints.setFailing(id, new Date());
    } else if (Date.now() - since > giveUpAfterMs) {
      failingSince.delete(id);
      await endpoints.disable(endpoint, 'failing');
    }
  };
}
