/** Endpoint health: records when an endpoint starts to fail and when it recovers, and disables it in the end. */

import type { Endpoints } from '../endpoints/endpoints.ts';
import type { EndpointHealth } from './attempt.ts';
import type { ClaimedEndpoint } from './queue.ts';

/** A failure is not written again for this long: deliveries claimed earlier do not know of it yet. */
const keptMs = 10_000;
const most = 10_000;

/** What this node wrote last about an endpoint. */
interface Written {
  failing: boolean;
  at: number;
  /** The start of the failing period that the success ended; null when the delivery did not know of one. */
  ended: number | null;
}

/** Writes changes only: for an endpoint that keeps failing, or keeps working, there is nothing to wait for. */
export function createHealthKeeper(
  endpoints: Pick<Endpoints, 'setFailing' | 'disable'>,
): (endpoint: ClaimedEndpoint, health: EndpointHealth) => Promise<void> | null {
  const written = new Map<string, Written>();

  async function write(id: string, change: Omit<Written, 'at'>): Promise<void> {
    if (written.size >= most) written.clear();
    written.set(id, { ...change, at: performance.now() });
    try {
      await endpoints.setFailing(id, change.failing);
    } catch (error) {
      // Not written after all: the next attempt retries it.
      written.delete(id);
      throw error;
    }
  }

  return (endpoint, health) => {
    const { id } = endpoint;
    if (health === 'gone') return endpoints.disable(endpoint, 'gone');
    const last = written.get(id);
    const since = endpoint.failingSince?.getTime() ?? null;
    // Deliveries claimed before the recovery still carry the old `failingSince`.
    const isFailing = since !== null && since !== last?.ended;
    if (health === 'well')
      return isFailing || last?.failing ? write(id, { failing: false, ended: since }) : null;
    if (isFailing && endpoint.failingTooLong) return endpoints.disable(endpoint, 'failing');
    if (isFailing && endpoint.failureNoted) return null;
    const justWritten = last?.failing && performance.now() - last.at < keptMs;
    return justWritten ? null : write(id, { failing: true, ended: last?.ended ?? null });
  };
}
