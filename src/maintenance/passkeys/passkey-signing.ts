/** A sign-off by passkey: which passkeys a worker may use, and whether an assertion is of one of them, fresh, and for this. */

import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { type AssertionFault, assertionFault, counterOf } from '../../proof/signoff/assertion.ts';
import type { ByPasskey } from '../../proof/signoff/signed-with.ts';
import type { SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import { AppError, type ErrorCode } from '../../runtime/errors.ts';
import { passkeyHost } from './passkey-host.ts';
import { addUse } from './passkey-uses.store.ts';
import { type Passkey, readPasskeys } from './passkeys.store.ts';

/** As the browser returns it, each in base64url. */
export interface GivenAssertion {
  credentialId: string;
  authenticatorData: string;
  clientDataJSON: string;
  signature: string;
}

export interface PasskeyRequest {
  challenge: string;
  rpId: string;
  allowCredentials: { type: 'public-key'; id: string }[];
  userVerification: 'required';
}

interface WorkerKey {
  workspaceId: string;
  workerId: string;
  publicUrl: string;
}

/** What the browser of the worker needs to sign this. */
export async function passkeyRequest(
  db: Db,
  digest: Uint8Array,
  {
    workspaceId,
    worker,
    publicUrl,
  }: { workspaceId: string; worker: { id: string; address: string }; publicUrl: string },
): Promise<PasskeyRequest> {
  const { rpId } = passkeyHost(publicUrl);
  const all = await readPasskeys(db, { workspaceId, workerId: worker.id });
  const active = all.filter(({ state }) => state === 'active');
  if (active.length === 0) {
    throw new AppError(
      'passkey_revoked',
      `The worker ${worker.address} has no passkey any more, and nothing else may sign for this address: create a new worker for them.`,
    );
  }
  return {
    challenge: Buffer.from(digest).toString('base64url'),
    rpId,
    allowCredentials: active.map(({ credentialId }) => ({
      type: 'public-key',
      id: credentialId.toString('base64url'),
    })),
    userVerification: 'required',
  };
}

/**
 * Locks the passkey of this worker that the assertion names, so that it cannot be revoked, nor its counter be used twice,
 * before this transaction ends. Throws if it may not be used.
 */
export async function lockPasskey(
  db: Db,
  given: GivenAssertion,
  { publicUrl: _, ...worker }: WorkerKey,
): Promise<Passkey> {
  const credentialId = Buffer.from(given.credentialId, 'base64url');
  const [passkey] = await readPasskeys(db, worker, { credentialId, lock: true });
  if (!passkey)
    throw new AppError('passkey_unknown', 'The assertion names a passkey that is not one of this worker.');
  if (passkey.state === 'unconfirmed') {
    throw new AppError('passkey_unconfirmed', 'A second person must confirm first whose passkey this is.');
  }
  if (passkey.state === 'unsigned') {
    throw new AppError('passkey_unconfirmed', 'The worker must sign the registration of this passkey first.');
  }
  if (passkey.state === 'active') return passkey;
  throw new AppError('passkey_revoked', 'The passkey was revoked, and signs nothing any more.');
}

/** Throws if one of these sign-offs was made with this very assertion. */
export function refuseReplay(given: GivenAssertion, earlier: readonly SignoffDocument[]): void {
  const clientDataJSON = textOf(given.clientDataJSON);
  const authenticatorData = hexOf(given.authenticatorData);
  const isReplay = earlier.some(
    ({ signedWith }) =>
      signedWith?.method === 'passkey' &&
      signedWith.clientDataJSON === clientDataJSON &&
      signedWith.authenticatorData === authenticatorData,
  );
  if (isReplay) throw new AppError('assertion_replayed', 'This assertion was used for a sign-off already.');
}

interface Asserted {
  digest: Uint8Array;
  /** In whole seconds. */
  signedAt: Date;
  /** Locked. */
  passkey: Passkey;
  workspaceId: string;
  publicUrl: string;
}

/** The part of the document that has the assertion, once it is verified and its counter is stored. */
export async function takeAssertion(
  db: Db,
  given: GivenAssertion,
  { digest, signedAt, passkey, workspaceId, publicUrl }: Asserted,
): Promise<{ signedWith: ByPasskey; signature: `0x${string}` }> {
  const { registration, rpId } = passkey;
  // In whole seconds, as in what is signed.
  if (signedAt.getTime() + 1000 <= Date.parse(String(passkey.made.receivedAt))) {
    throw new AppError(
      'passkey_unconfirmed',
      'This was signed before the passkey was registered: sign anew.',
    );
  }
  if (registration === null) throw new Error(`${passkey.id} is active without a registration`);
  const assertion = {
    registration,
    credentialId: fromBytea(passkey.credentialId),
    publicKey: fromBytea(passkey.publicKey),
    rpId,
    authenticatorData: hexOf(given.authenticatorData),
    clientDataJSON: textOf(given.clientDataJSON),
  };
  const signature = hexOf(given.signature);
  const fault = await assertionFault({ ...assertion, signature }, digest);
  if (fault !== null) throw new AppError(codes[fault.reason], `The assertion ${fault.message}.`);
  const { origin } = JSON.parse(assertion.clientDataJSON) as { origin: string };
  const own = passkeyHost(publicUrl).origin;
  // Narrower than what can be verified later: another page on the same host is not this service.
  if (origin !== own)
    throw new AppError('assertion_origin', `The assertion was made on ${origin}, not on ${own}.`);
  const counter = counterOf(Buffer.from(given.authenticatorData, 'base64url'));
  await addUse(db, { workspaceId, passkey, signedAt, counter });
  return { signedWith: { method: 'passkey', ...assertion }, signature };
}

const codes: Record<AssertionFault['reason'], ErrorCode> = {
  form: 'assertion_invalid',
  challenge: 'assertion_mismatch',
  origin: 'assertion_origin',
  'user-verification': 'user_verification_missing',
  signature: 'assertion_invalid',
};

function hexOf(base64url: string): `0x${string}` {
  return fromBytea(Buffer.from(base64url, 'base64url'));
}

/** Text that is not UTF-8 would not be what was signed, and then the signature does not verify. */
function textOf(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString('utf8');
}
