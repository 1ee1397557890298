/** The passkeys of this device: whether there can be any here, and making one. */

/** Shown when the person turned away from the browser's dialog, or it had nothing to offer: browsers do not say which. */
export class NoPasskey extends Error {}

/** The same page under the name of this machine, where passkeys work; null if it is not this machine's address. */
export function addressWithName(): string | null {
  const url = new URL(window.location.href);
  if (!/^127\.|^\[::1\]$/.test(url.hostname)) return null;
  url.hostname = 'localhost';
  return url.href;
}

export function hasPasskeys(): boolean {
  return window.isSecureContext && typeof PublicKeyCredential !== 'undefined';
}

/** Browsers offer passkeys only for a host name. */
export function isBareAddress(): boolean {
  return /^[\d.]+$|^\[/.test(window.location.hostname);
}

/** Makes a passkey, and returns it as RegistrationResponseJSON. */
export async function makePasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<object> {
  const publicKey = {
    ...options,
    challenge: bytesOf(options.challenge),
    user: { ...options.user, id: bytesOf(options.user.id) },
    excludeCredentials: (options.excludeCredentials ?? []).map(({ id }) => ({
      type: 'public-key' as const,
      id: bytesOf(id),
    })),
  } as unknown as PublicKeyCredentialCreationOptions;
  const credential = await navigator.credentials.create({ publicKey }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'InvalidStateError') {
      throw new NoPasskey('This device has a passkey for you already.');
    }
    throw new NoPasskey('No passkey was made. Press the button to try again.', { cause: error });
  });
  if (!(credential instanceof PublicKeyCredential)) throw new NoPasskey('The browser made no passkey.');
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    id: credential.id,
    rawId: credential.id,
    type: credential.type,
    clientExtensionResults: {},
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

export interface SignRequest {
  rpId: string;
  allowCredentials: readonly { id: string }[];
  challenge: Uint8Array;
}

export interface Assertion {
  credentialId: string;
  authenticatorData: string;
  clientDataJSON: string;
  signature: string;
}

/** Signs the challenge with one of these passkeys. */
export async function signWithPasskey({
  rpId,
  allowCredentials,
  challenge,
}: SignRequest): Promise<Assertion> {
  const publicKey: PublicKeyCredentialRequestOptions = {
    challenge: new Uint8Array(challenge),
    rpId,
    allowCredentials: allowCredentials.map(({ id }) => ({ type: 'public-key' as const, id: bytesOf(id) })),
    userVerification: 'required',
  };
  const credential = await navigator.credentials.get({ publicKey }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'SecurityError') {
      throw new NoPasskey(`Passkeys of this service work only at ${rpId}. Open the link there.`, {
        cause: error,
      });
    }
    throw new NoPasskey(
      'Nothing was signed: it was cancelled, or your passkey is not on this device. Use the device on which you registered it.',
      { cause: error },
    );
  });
  if (!(credential instanceof PublicKeyCredential)) throw new NoPasskey('The browser gave no passkey.');
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    credentialId: credential.id,
    authenticatorData: textOf(response.authenticatorData),
    clientDataJSON: textOf(response.clientDataJSON),
    signature: textOf(response.signature),
  };
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function textOf(bytes: ArrayBuffer): string {
  const text = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
