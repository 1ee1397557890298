/** Connects to vetted addresses only: the guard looks a name up once for each connection, and that answer is connected to. */
import {
  createSecureContext,
  DEFAULT_CIPHERS,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';
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

/**
 * For connections to somebody else's server. Without Diffie-Hellman over finite fields: the server chooses the group, of up
 * to 10,000 bits, and the client computes with it on the thread that everybody shares.
 */
export function outgoingContext(options: SecureContextOptions): SecureContext {
  return createSecureContext({ ...options, ciphers: `${DEFAULT_CIPHERS}:!kDHE` });
}
