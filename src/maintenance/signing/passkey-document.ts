/** What is anchored of a worker's passkeys: that one is theirs, or no longer. Pure, and safe in browsers. */
import type { Hex } from 'viem';

interface PasskeyStatement {
  workspaceId: string;
  workerId: string;
  /** EIP-55, with the name at that time. */
  workerAddress: string;
  workerName: string;
  /** Counts from 1 for each worker, and is the version of the leaf. */
  number: number;
  credentialId: Hex;
}

/** Whose doing it was: a person, or an API key. */
export interface StatedActor {
  kind: string;
  id: string;
}

export interface PasskeyRegistration extends PasskeyStatement {
  format: typeof registrationFormat;
  /** A SubjectPublicKeyInfo. */
  publicKey: Hex;
  rpId: string;
  /** As the authenticator made it, with its model and its statement about that, if it made one. */
  attestation: { format: string; aaguid: string; object: Hex; clientDataJSON: string };
  invitedBy: StatedActor;
  /** ISO 8601 in UTC. */
  registeredAt: string;
  /** The second person, who has seen that it is this worker. */
  confirmedBy: StatedActor;
  confirmedAt: string;
}

export interface PasskeyRevocation extends PasskeyStatement {
  format: typeof revocationFormat;
  /** The statement that registered it. */
  registration: { number: number; hash: Hex };
  reason: string;
  revokedBy: StatedActor;
  revokedAt: string;
}

export type PasskeyDocument = PasskeyRegistration | PasskeyRevocation;

export const registrationFormat = 'holdfast/passkey-registration@1';
export const revocationFormat = 'holdfast/passkey-revocation@1';
