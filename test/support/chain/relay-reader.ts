/** Reads the chain like the page /verify: over the service's relay, which anybody can use without a key. */
import { createAnchorReader } from '../../../src/chain/registry/anchor-reader.ts';
import { askAgain, NotNow, retryAfterMs } from '../../../src/chain/rules/not-now.ts';
import type { Service } from '../service/service.ts';

/** More than the page has: machines that run tests are busy. */
const patience = { mostAgain: 10, longestPauseMs: 2_000 };

export function relayReader(service: Pick<Service, 'call'>): ReturnType<typeof createAnchorReader> {
  const ask = askAgain(async (method, params) => {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const { status, headers, json, text } = await service.call('POST', '/verify/rpc', { key: null, body });
    const waitMs = retryAfterMs({ status, code: json?.error?.code }, headers.get('retry-after'));
    if (waitMs !== null) throw new NotNow(text, waitMs);
    if (status !== 200 || json.error !== undefined) throw new Error(text);
    return json.result;
  }, patience);
  return createAnchorReader(ask);
}
