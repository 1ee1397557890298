/** The host name that passkeys are bound to, and the pages that they may be used on. */
import { isIP } from 'node:net';
import { AppError } from '../../runtime/errors.ts';

export interface PasskeyHost {
  rpId: string;
  /** Where the page for signing is. */
  origin: string;
}

/** Browsers offer passkeys only where there is a host name: instead of this machine's address it is `localhost`. */
export function passkeyHost(publicUrl: string): PasskeyHost {
  const url = new URL(publicUrl);
  if (['127.0.0.1', '[::1]'].includes(url.hostname)) url.hostname = 'localhost';
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) {
    throw new AppError(
      'conflict',
      `Passkeys need a host name, and this service is reached at ${publicUrl}. The operator can set HOLDFAST_PUBLIC_URL to an https address with a name.`,
    );
  }
  return { rpId: url.hostname, origin: url.origin };
}
