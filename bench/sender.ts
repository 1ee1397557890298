/** What every peer does for one delivery: both signatures and one POST. */
import { Pool } from 'undici';
import { signatureHeaders } from '../src/webhooks/signature.ts';
import type { Parcel } from './backlog.ts';

/** Requests to the receiver at once, over all targets: what the service opens to one origin. */
export const connections = 64;

export function createSender(origin: string): (parcel: Parcel) => Promise<void> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  return async ({ target: { path, secret }, event: { id, envelope } }) => {
    const signed = signatureHeaders(
      { serviceName: 'Service', secret, previousSecret: null },
      { eventId: id, body: envelope, timestamp: Math.floor(Date.now() / 1000) },
    );
    const { statusCode, body } = await pool.request({
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Bench/1', ...signed },
      body: envelope,
    });
    await body.dump();
    if (statusCode !== 204) throw new Error(`the receiver answered ${statusCode}`);
  };
}
