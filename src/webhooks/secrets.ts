/** Remembers opened signing secrets, so that a delivery does not wait for the database and the keyring. */
import type { Endpoints } from './endpoints.ts';
import type { ClaimedEndpoint } from './queue.ts';

type Secrets = { secret: string; previousSecret: string | null };

const most = 10_000;
const keptMs = 60_000;

export function rememberSecrets(
  endpoints: Pick<Endpoints, 'secretsOf'>,
): (endpoint: ClaimedEndpoint) => Promise<Secrets> {
  const known = new Map<string, { revision: number; until: number; secrets: Promise<Secrets> }>();
  return (endpoint) => {
    const present = known.get(endpoint.id);
    if (present && present.revision === endpoint.revision && present.until > Date.now())
      return present.secrets;
    if (known.size >= most) known.clear();
    const secrets = endpoints.secretsOf(endpoint);
    known.set(endpoint.id, { revision: endpoint.revision, until: Date.now() + keptMs, secrets });
    secrets.catch(() => known.delete(endpoint.id));
    return secrets;
  };
}
