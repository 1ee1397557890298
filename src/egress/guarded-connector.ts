/** Connects to vetted addresses only: the guard looks a name up once for each connection, and that answer is connected to. */
import type { SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.ts';

/** The context is created once: loading the authorities for each connection would block the event loop for 20 ms and more. */
export function guardedConnector(
  guard: Pick<AddressGuard, 'vetHost'>,
  secureContext: SecureContext,
): buildConnector.connector {
  return (options, callback) => {
    // undici does not call `lookup` for an IP address in the URL, so every connection is vetted here first.
    guard.vetHost({ hostname: options.hostname, protocol: options.protocol }).then(
      (addresses) => {
        // Connects to the vetted addresses, even if the name resolves differently a moment later.
        const lookup = (_name: string, _options: unknown, done: (error: null, found: unknown) => void) =>
          done(null, addresses);
        const connect = buildConnector({
          timeout: 10_000,
          allowH2: false,
          secureContext,
          lookup: lookup as never,
          autoSelectFamily: true,
        });
        connect(options, callback);
      },
      (error) => callback(error, null),
    );
  };
}
