/** Reads the chain as the page /verify does: over the service's relay, which anybody can ask without a key. */
import { createAnchorReader } from '../src/chain/anchor-reader.ts';
import { waitUntil } from './process.ts';
import type { Service } from './service.ts';

export function relayReader(service: Pick<Service, 'call'>): ReturnType<typeof createAnchorReader> {
  return createAnchorReader(async (method, params) => {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const { json } = await waitUntil(async () => {
      const answer = await service.call('POST', '/verify/rpc', { key: null, body });
      // On a busy machine a node may be without the lead on the chain for a moment.
      return answer.status === 503 ? null : answer;
    });
    if (json.error !== undefined || json.errorCode !== undefined) throw new Error(JSON.stringify(json));
    return json.result;
  });
}
