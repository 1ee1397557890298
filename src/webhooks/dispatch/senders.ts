/** Caches the signer and the client certificate of each endpoint, so that deliveries do not wait for the database and the keyring. */
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { ClientIdentity } from '../exchange/exchange.ts';
import { createSigner, type Signer } from '../exchange/signature.ts';
import type { ClaimedEndpoint } from './queue.ts';

interface Known {
  revision: number;
  until: number;
  sender: Sender | Promise<Sender>;
}

/** What an attempt needs of an endpoint beside its address. */
export interface Sender {
  sign: Signer;
  client: ClientIdentity | null;
}

const most = 10_000;
const keptMs = 60_000;

export function rememberSenders(
  endpoints: Pick<Endpoints, 'sendingOf'>,
  serviceName: string,
): (endpoint: ClaimedEndpoint) => Sender | Promise<Sender> {
  const known = new Map<string, Known>();
  return (endpoint) => {
    const present = known.get(endpoint.id);
    if (present && present.revision === endpoint.revision && present.until > Date.now())
      return present.sender;
    if (known.size >= most) known.clear();
    const sender = endpoints
      .sendingOf(endpoint)
      .then(({ client, ...signing }) => ({ sign: createSigner({ serviceName, ...signing }), client }));
    const entry: Known = { revision: endpoint.revision, until: Date.now() + keptMs, sender };
    known.set(endpoint.id, entry);
    sender.then(
      (made) => {
        entry.sender = made;
      },
      () => known.delete(endpoint.id),
    );
    return sender;
  };
}
