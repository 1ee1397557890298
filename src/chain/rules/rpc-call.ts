/** One JSON-RPC call, however it is made: by viem, by fetch in a browser, through a relay. */

/** Rejects if there is no answer, or if the answer is an error. */
export type RpcCall = (method: string, params: readonly unknown[]) => Promise<unknown>;
