/** JSON-RPC from a page: to the visitor's own node, or to the relay of the service that serves the page. */

import { askAgain, NotNow, retryAfterMs } from '../../src/chain/rules/not-now.ts';
import type { RpcCall } from '../../src/chain/rules/rpc-call.ts';

const timeoutMs = 15_000;
/** How often one check retries after a "not now", and the longest pause before a retry. */
const patience = { mostAgain: 3, longestPauseMs: 2_000 };

export function createRpcCall(address: string | URL): RpcCall {
  const url = new URL(address, location.href);
  // Browsers refuse URLs with a password.
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const credentials: Record<string, string> = pair === ':' ? {} : { authorization: `Basic ${btoa(pair)}` };
  let lastId = 0;

  async function post(body: object): Promise<{ response: Response; answer: unknown }> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...credentials },
        body: JSON.stringify(body),
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        redirect: 'error',
        cache: 'no-store',
        signal: AbortSignal.timeout(timeoutMs),
      });
      // A proxy in front of a node may report an overload in any format.
      const answer = response.ok ? await response.json() : await response.json().catch(() => null);
      return { response, answer };
    } catch (cause) {
      throw new Error(reasonOf(cause, url), { cause });
    }
  }

  return askAgain(async (method, params) => {
    lastId += 1;
    const id = lastId;
    const { response, answer } = await post({ jsonrpc: '2.0', id, method, params });
    const { error, result, message } = Object(answer) as Record<string, unknown>;
    const { code, message: reason = 'no reason given' } = Object(error) as Record<string, unknown>;
    const says = `${url.host} says: ${error ? reason : (message ?? `HTTP status ${response.status}`)}`;
    const notNowMs = retryAfterMs({ status: response.status, code }, response.headers.get('retry-after'));
    if (notNowMs !== null) throw new NotNow(says, notNowMs);
    if (error) throw new Error(`${url.host} refused ${method}: ${reason}`);
    if (!response.ok) throw new Error(says);
    if (result === undefined || Object(answer).id !== id) {
      throw new Error(`${url.host} sent a response that is not JSON-RPC`);
    }
    return result;
  }, patience);
}

/** Browsers do not tell a page why a request failed. */
function reasonOf(cause: unknown, { host }: URL): string {
  const { name } = Object(cause) as { name?: string };
  if (name === 'TimeoutError') return `${host} did not respond within ${timeoutMs / 1000} s`;
  if (name === 'SyntaxError') return `${host} sent a response that is not JSON`;
  return `${host} cannot be reached, or does not allow calls from web pages (CORS)`;
}
