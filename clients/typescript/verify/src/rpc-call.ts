/** JSON-RPC over fetch, to a node that the caller names. */
import { NotNow, retryAfterMs } from '../../../../src/chain/rules/not-now.ts';
import type { RpcCall } from '../../../../src/chain/rules/rpc-call.ts';

const timeoutMs = 15_000;

export function createRpcCall(address: string | URL): RpcCall {
  const url = new URL(address);
  // fetch refuses URLs with a password.
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const credentials: Record<string, string> = pair === ':' ? {} : { authorization: `Basic ${btoa(pair)}` };
  url.username = '';
  url.password = '';
  let lastId = 0;

  return async (method, params) => {
    lastId += 1;
    const id = lastId;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credentials },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    // A proxy in front of a node may report an overload in any format.
    const answer: unknown = await response.json().catch(() => null);
    const { error, result, id: answered } = Object(answer) as Record<string, unknown>;
    const { code, message } = Object(error) as Record<string, unknown>;
    const says = `${url.host} says: ${message ?? `HTTP status ${response.status}`}`;
    const notNowMs = retryAfterMs({ status: response.status, code }, response.headers.get('retry-after'));
    if (notNowMs !== null) throw new NotNow(says, notNowMs);
    if (error || !response.ok) throw new Error(says);
    if (result === undefined || answered !== id) {
      throw new Error(`${url.host} sent a response that is not JSON-RPC`);
    }
    return result;
  };
}
