/** An authenticator in the browser, without a device: it makes and uses passkeys as told. */
import type { Page } from 'playwright-core';

export interface VirtualAuthenticator {
  /** Whether it finds that its user is there, as by fingerprint. */
  verifies(isUserVerified: boolean): Promise<unknown>;
  /** Forgets all its passkeys. */
  forget(): Promise<unknown>;
}

export async function withAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    verifies: (isUserVerified) =>
      session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    forget: () => session.send('WebAuthn.clearCredentials', { authenticatorId }),
  };
}
