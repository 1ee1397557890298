/** How endpoints fare: since when one fails, when it recovers, and when it is given up. */

import type { Endpoints } from '../endpoints/endpoints.ts';
import type { EndpointHealth } from './attempt.ts';
import type { ClaimedEndpoint } from './queue.ts';

/** A failure is not written again for so long: deliveries claimed before do not know of it yet. */
const keptMs = 10_000;
const most = 10_000;

/** What this node wrote last about an endpoint. */
interface Written {
  failing: boolean;
  at: number;
  /** The stretch of failures that the success ended, by its begin; null when the delivery did not know of one. */
  ended: number | null;
}

/** Only what changes is written down: an endpoint that goes on failing, or being well, costs next to nothing. */
export function createHealthKeeper(
  endpoints: Pick<Endpoints, 'setFailing' | 'disable'>,
): (endpoint: ClaimedEndpoint, health: EndpointHealth) => Promise<void> {
  const written = new Map<string, Written>();

  async function write(id: string, change: Omit<Written, 'at'>): Promise<void> {
    if (written.size >= most) written.clear();
    written.set(id, { ...change, at: performance.now() });
    try {
      await endpoints.setFailing(id, change.failing);
    } catch (error) {
      // Not written after all: the next attempt tries it again.
      written.delete(id);
      throw error;
    }
  }

  return async (endpoint, health) => {
    const { id } = endpoint;
    if (health === 'gone') return endpoints.disable(endpoint, 'gone');
    const last = written.get(id);
    const since = endpoint.failingSince?.getTime() ?? null;
    // What was claimed before the recovery still says that it fails.
    const isFailing = since !== null && since !== last?.ended;
    if (health === 'well') {
      if (isFailing || last?.failing) await write(id, { failing: false, ended: since });
    } else if (isFailing && endpoint.failingTooLong) {
      await endpoints.disable(endpoint, 'failing');
    } else if (!isFailing || !endpoint.failureNoted) {
      const justWritten = last?.failing && performance.now() - last.at < keptMs;
      if (!justWritten) await write(id, { failing: true, ended: last?.ended ?? null });
    }
  };
}
