/** JSON-RPC from a page: the visitor's own node, or the relay of the service that the page comes from. */
import type { RpcCall } from '../../src/chain/anchor-reader.ts';

const timeoutMs = 15_000;
/** How often one check tries again after an answer of "not now", and how long it waits at most before that. */
const mostAgain = 3;
const longestPauseMs = 2_000;

export function createRpcCall(address: string | URL): RpcCall {
  const url = new URL(address, location.href);
  // A browser refuses addresses that hold a password.
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const credentials: Record<string, string> = pair === ':' ? {} : { authorization: `Basic ${btoa(pair)}` };
  let lastId = 0;
  let again = 0;

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
      // What stands before a node may say in any form that it has no time.
      const answer = isBusy(response) ? await response.json().catch(() => null) : await response.json();
      return { response, answer };
    } catch (cause) {
      throw new Error(reasonOf(cause, url), { cause });
    }
  }

  return async (method, params) => {
    lastId += 1;
    const id = lastId;
    const ask = () => post({ jsonrpc: '2.0', id, method, params });
    let { response, answer } = await ask();
    while (isBusy(response) && again < mostAgain) {
      again += 1;
      await pause(response);
      ({ response, answer } = await ask());
    }
    const { error, result, message } = Object(answer) as Record<string, unknown>;
    if (error)
      throw new Error(`${url.host} refused ${method}: ${Object(error).message ?? 'no reason given'}`);
    if (!response.ok) throw new Error(`${url.host} says: ${message ?? `HTTP status ${response.status}`}`);
    if (result === undefined || Object(answer).id !== id) {
      throw new Error(`${url.host} gave an answer that is not JSON-RPC`);
    }
    return result;
  };
}

/** Not now: the node is starting, or too many ask at once. */
function isBusy({ status }: Response): boolean {
  return status === 429 || status === 503;
}

/** As long as it asks for, within reason. */
function pause({ headers }: Response): Promise<void> {
  const wantedMs = Number(headers.get('retry-after')) * 1000 || longestPauseMs;
  return new Promise((resolve) => setTimeout(resolve, Math.min(wantedMs, longestPauseMs)));
}

/** Browsers do not tell a page why it got no answer. */
function reasonOf(cause: unknown, { host }: URL): string {
  const { name } = Object(cause) as { name?: string };
  if (name === 'TimeoutError') return `${host} gave no answer within ${timeoutMs / 1000} s`;
  if (name === 'SyntaxError') return `${host} gave an answer that is not JSON`;
  return `${host} cannot be reached, or does not allow calls from web pages (CORS)`;
}
