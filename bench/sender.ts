/** What every peer does for one delivery: both signatures and one POST. */
import { Pool } from 'undici';
import { createSigner, type Signer } from '../src/webhooks/exchange/signature.ts';
import type { Parcel } from './backlog.ts';

/** Requests to the receiver at once, over all targets: what the service opens to one origin. */
export const connections = 64;

export function createSender(origin: string): (parcel: Parcel) => Promise<void> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const signers = new Map<string, Signer>();
  const signerOf = (secret: string) => {
    const signer =
      signers.get(secret) ?? createSigner({ serviceName: 'Service', secret, previousSecrets: [] });
    signers.set(secret, signer);
    return signer;
  };
  return async ({ target: { path, secret }, event: { id, envelope } }) => {
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = signerOf(secret)({ eventId: id, body: envelope, timestamp });
    const { statusCode, body } = await pool.request({
      path,
      method: 'POST',
      headers,
      body: envelope,
    });
    await body.dump();
    if (statusCode !== 204) throw new Error(`the receiver answered ${statusCode}`);
  };
}
