/** Caches the signer of each endpoint, so that deliveries do not wait for the database and the keyring. */
import type { Endpoints } from '../endpoints/endpoints.ts';
import { createSigner, type Signer } from '../exchange/signature.ts';
import type { ClaimedEndpoint } from './queue.ts';

interface Known {
  revision: number;
  until: number;
  signer: Signer | Promise<Signer>;
}

const most = 10_000;
const keptMs = 60_000;

export function rememberSigners(
  endpoints: Pick<Endpoints, 'secretsOf'>,
  serviceName: string,
): (endpoint: ClaimedEndpoint) => Signer | Promise<Signer> {
  const known = new Map<string, Known>();
  return (endpoint) => {
    const present = known.get(endpoint.id);
    if (present && present.revision === endpoint.revision && present.until > Date.now())
      return present.signer;
    if (known.size >= most) known.clear();
    const signer = endpoints.secretsOf(endpoint).then((secrets) => createSigner({ serviceName, ...secrets }));
    const entry: Known = { revision: endpoint.revision, until: Date.now() + keptMs, signer };
    known.set(endpoint.id, entry);
    signer.then(
      (made) => {
        entry.signer = made;
      },
      () => known.delete(endpoint.id),
    );
    return signer;
  };
}
