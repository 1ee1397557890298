/** Puts the identity provider together: its client behind the address guard, its people and its sessions. */
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { ProviderConfig } from '../../config/sign-in-settings.ts';
import type { Db } from '../../db/database.ts';
import { createGuardedRequests } from '../../egress/guarded-request.ts';
import type { Provider } from './provider.routes.ts';
import { createProviderClient } from './provider-client.ts';
import { enterPerson } from './provider-people.ts';
import { createProviderSessions } from './provider-sessions.ts';

export interface OpenProviderDeps {
  db: Db;
  config: ProviderConfig;
  /** Hosts, addresses and networks that need not be public. */
  allow: readonly string[];
  /** Seals the tokens. */
  secret: Buffer;
  log: Logger;
}

export function openProvider({ db, config, allow, secret, log }: OpenProviderDeps): Provider & {
  close(): Promise<void>;
} {
  const { hostname, host } = new URL(config.issuer);
  // The operator has named the issuer, so that it may be private; what it names in turn may not.
  const requests = createGuardedRequests({
    allow: [...allow, hostname.replace(/^\[|\]$/g, '').toLowerCase()],
    extraAuthority: config.caFile === null ? undefined : readFileSync(config.caFile, 'utf8'),
  });
  const client = createProviderClient(config, requests);
  return {
    client,
    host,
    sessions: createProviderSessions({ db, client, config, secret, log }),
    enterPerson: (entering) => enterPerson(db, config, entering),
    close: () => requests.close(),
  };
}
