/** For which site passkeys are made: the host of the public URL. Browsers make none for an address such as 127.0.0.1. */
import { isIP } from 'node:net';
import { AppError } from '../../runtime/errors.ts';
import { isLoopback } from '../../runtime/host-address.ts';

export interface Site {
  rpId: string;
  origin: string;
}

/** Throws conflict, with what to do, if browsers cannot make passkeys for this URL. */
export function siteOf(publicUrl: string): Site {
  const url = new URL(publicUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) === 0) return { rpId: host, origin: url.origin };
  if (isLoopback(host)) {
    // The same service by its other name.
    url.hostname = 'localhost';
    return { rpId: 'localhost', origin: url.origin };
  }
  throw new AppError(
    'conflict',
    'Passkeys need a host name, and this service is known by an IP address. Set HOLDFAST_PUBLIC_URL to a URL with a name.',
  );
}
