/** Builds what saving endpoints and sending to them need, in the same way for the service and the command line. */
import type { WebhookConfig } from '../../config/config.ts';
import type { Db } from '../../db/database.ts';
import { createAddressGuard, toAllowList } from '../../egress/address-guard.ts';
import type { Keyring } from '../../keys/keyring.ts';
import type { Wakeup } from '../../runtime/loop.ts';
import { createEndpoints, type Endpoints } from '../endpoints/endpoints.ts';
import { createTester } from '../endpoints/test-event.ts';
import { createExchanger, type Exchanger } from '../exchange/exchange.ts';
import { lineChanges } from '../ordering/line-changes.ts';

export interface Outgoing {
  exchanger: Exchanger;
  endpoints: Endpoints;
}

export interface OutgoingDeps {
  db: Db;
  keyring: Keyring;
  eventWakeup: Pick<Wakeup, 'wake'>;
}

/** The caller closes the exchanger. */
export function createOutgoing(
  settings: WebhookConfig,
  { db, keyring, eventWakeup }: OutgoingDeps,
): Outgoing {
  const { serviceName, timeoutMs, caFile } = settings;
  const guard = createAddressGuard(toAllowList(settings.allow));
  const exchanger = createExchanger({ guard, timeoutMs, caFile });
  const tester = createTester({ exchanger, serviceName });
  return {
    exchanger,
    endpoints: createEndpoints({ db, keyring, guard, tester, eventWakeup, lines: lineChanges }),
  };
}
