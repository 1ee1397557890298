/** Passkeys in the browser: signing in or confirming with one, and registering a new one. */
import { call, callAuth } from './call.ts';

/** Whether this page can use passkeys at all: browsers offer them only for a host name. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential !== 'undefined' && !/^[\d.]+$|^\[/.test(window.location.hostname);
}

/** The same page under the name of this machine, where passkeys work; null if it is not this machine's. */
export function addressWithName(): string | null {
  const url = new URL(window.location.href);
  if (!/^127\.|^\[::1\]$/.test(url.hostname)) return null;
  url.hostname = 'localhost';
  return url.href;
}

/** Without a session it signs in, with one it confirms. */
export async function usePasskeyNow(): Promise<void> {
  const options = await callAuth<PublicKeyCredentialRequestOptionsJSON>('passkey/options');
  const credential = await asked(() =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
  );
  await callAuth('passkey/verify', { response: credential.toJSON() });
}

export async function registerPasskey(name: string): Promise<void> {
  const options = await call<PublicKeyCredentialCreationOptionsJSON>('POST', '/platform/passkeys/options');
  const credential = await asked(() =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );
  await call('POST', '/platform/passkeys', { body: { name, response: credential.toJSON() } });
}

async function asked(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await ask().catch((error: unknown) => {
    // Browsers do not tell why, so that pages learn nothing.
    const isKnown = error instanceof DOMException && error.name === 'InvalidStateError';
    throw new Error(
      isKnown
        ? 'This device has a passkey for you already.'
        : 'No passkey was used: cancelled, or none fits.',
    );
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Error('The browser gave no passkey.');
  return credential;
}
