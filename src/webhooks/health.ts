/** How endpoints fare: since when one fails, when it recovers, and when it is given up. */
import type { EndpointHealth } from './attempt.ts';
import type { Endpoints } from './endpoints.ts';
import type { ClaimedEndpoint } from './queue.ts';

const giveUpAfterMs = 5 * 24 * 60 * 60 * 1000;
/** What this node wrote down is not written again for so long: deliveries claimed before do not know of it yet. */
const keptMs = 10_000;
const most = 10_000;

/** Only what changes is written down: an endpoint that goes on failing, or being well, costs nothing. */
export function createHealthKeeper(
  endpoints: Pick<Endpoints, 'setFailing' | 'disable'>,
): (endpoint: ClaimedEndpoint, health: EndpointHealth) => Promise<void> {
  const written = new Map<string, { failing: boolean; at: number }>();

  async function write(id: string, failing: boolean): Promise<void> {
    const at = Date.now();
    if (written.size >= most) written.clear();
    written.set(id, { failing, at });
    try {
      await endpoints.setFailing(id, failing ? new Date(at) : null);
    } catch (error) {
      // Not written after all: the next attempt tries it again.
      written.delete(id);
      throw error;
    }
  }

  return async (endpoint, health) => {
    const { id, failingSince } = endpoint;
    const last = written.get(id);
    if (health === 'gone') return endpoints.disable(endpoint, 'gone');
    if (health === 'well') {
      // Known to be failing by what was claimed, unless that is older than the recovery; or by what was written since.
      const known = failingSince !== null && !(last?.failing === false && last.at >= failingSince.getTime());
      if (known || last?.failing) await write(id, false);
      return;
    }
    // Only the database says for how long: another node may have seen a success since this one saw a failure.
    if (failingSince === null) {
      if (!last?.failing || Date.now() - last.at > keptMs) await write(id, true);
    } else if (Date.now() - failingSince.getTime() > giveUpAfterMs)
      await endpoints.disable(endpoint, 'failing');
  };
}
