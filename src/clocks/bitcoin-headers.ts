/** Headers of Bitcoin blocks, from an HTTP API in the form of Esplora. Whoever uses them compares them with a proof. */
import type { Hex } from 'viem';
import { type GuardedRequests, isLocalUrl, RequestFault } from '../egress/guarded-request.ts';
import { readBitcoinHeader } from '../proof/opentimestamps/bitcoin-header.ts';

/** Throws `RequestFault`. */
export type FindBitcoinHeader = (height: number, signal: AbortSignal) => Promise<Hex>;

const timeoutMs = 10_000;
const maxBytes = 1_024;

/** `url` without a slash at its end. */
export function createBitcoinHeaders({
  url,
  requests,
}: {
  url: string;
  requests: GuardedRequests;
}): FindBitcoinHeader {
  const isLocal = isLocalUrl(url);

  async function get(path: string, digits: number, signal: AbortSignal): Promise<string> {
    const { bytes } = await requests.send({ url: `${url}${path}`, timeoutMs, maxBytes, isLocal, signal });
    const text = Buffer.from(bytes).toString('latin1').trim().toLowerCase();
    if (text.length !== digits || !/^[0-9a-f]*$/.test(text)) {
      throw new RequestFault(`answered ${path} with something else than ${digits} hexadecimal digits`);
    }
    return text;
  }

  return async (height, signal) => {
    const hash = await get(`/block-height/${height}`, 64, signal);
    const header: Hex = `0x${await get(`/block/${hash}/header`, 160, signal)}`;
    if (readBitcoinHeader(header).hash !== `0x${hash}`) {
      throw new RequestFault(`has a header of block ${height} with another hash than the block`);
    }
    return header;
  };
}
