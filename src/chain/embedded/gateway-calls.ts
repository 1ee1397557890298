/** What the embedded chain's gateway passes on: read calls and signed transactions. */

export interface Call {
  jsonrpc: '2.0';
  id: string | number;
  method: string;
  params?: unknown;
}

export interface Refusal {
  jsonrpc: '2.0';
  id: string | number | null;
  error: { code: number; message: string };
}

/** EIP-1474: resource unavailable; worth retrying. */
export const unavailable = -32002;
export const invalidRequest = -32600;
const notPassedOn = -32601;

export const sendsTransaction = 'eth_sendRawTransaction';
const mostCalls = 100;

/**
 * Listed by name, because a prefix is no protection: anvil's eth_sendUnsignedTransaction needs no signature at all, and
 * the next version may add more like it. Filters are left out because they take up space in the node; eth_getLogs
 * replaces them.
 */
const passedOn = new Set([
  sendsTransaction,
  'eth_accounts',
  'eth_blobBaseFee',
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_coinbase',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getAccount',
  'eth_getAccountInfo',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByHash',
  'eth_getBlockTransactionCountByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getProof',
  'eth_getRawTransactionByHash',
  'eth_getStorageAt',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_getUncleByBlockHashAndIndex',
  'eth_getUncleByBlockNumberAndIndex',
  'eth_getUncleCountByBlockHash',
  'eth_getUncleCountByBlockNumber',
  'eth_maxPriorityFeePerGas',
  'eth_protocolVersion',
  'eth_simulateV1',
  'eth_syncing',
  'net_listening',
  'net_peerCount',
  'net_version',
  'web3_clientVersion',
  'web3_sha3',
]);

/** The calls in their order, each to be passed on or already refused; or one refusal of the whole request. */
export function readCalls(text: string): { batch: boolean; calls: (Call | Refusal)[] } | Refusal {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return refusal(null, { code: -32700, message: 'the body is not JSON' });
  }
  if (!Array.isArray(body)) return { batch: false, calls: [readCall(body)] };
  if (body.length === 0 || body.length > mostCalls) {
    return refusal(null, { code: invalidRequest, message: `a batch must have 1 to ${mostCalls} calls` });
  }
  return { batch: true, calls: body.map(readCall) };
}

export function refusal(id: Refusal['id'], error: Refusal['error']): Refusal {
  return { jsonrpc: '2.0', id, error };
}

/** Rebuilds the call from what was parsed here: if it has a duplicate key, the node might read the other value. */
function readCall(value: unknown): Call | Refusal {
  const { jsonrpc, id, method, params } = (value ?? {}) as Record<string, unknown>;
  const named = typeof id === 'string' || Number.isSafeInteger(id) ? (id as string | number) : null;
  if (named === null || jsonrpc !== '2.0' || typeof method !== 'string') {
    return refusal(named, {
      code: invalidRequest,
      message: 'a call needs jsonrpc "2.0", an id that is a string or a whole number, and a method',
    });
  }
  if (!passedOn.has(method)) return refusal(named, { code: notPassedOn, message: explain(method) });
  return { jsonrpc, id: named, method, ...(params !== undefined && { params }) };
}

function explain(method: string): string {
  return (
    `${method.slice(0, 64)} is not allowed: this gateway accepts the methods of eth_, net_ and web3_ that read, and ` +
    `${sendsTransaction}. The chain is rebuilt from its journal and must not be changed from outside.`
  );
}
