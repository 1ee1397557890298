/**
 * How a registered passkey comes to count: a second person confirms whose it is, and the worker signs that. The first one is
 * signed by the key of the worker's address; a key that the service holds signs at once, and is destroyed. Each later one is
 * signed by a passkey that the worker has. From then on only passkeys sign for the worker.
 */
import type { Hex } from 'viem';
import { auditWrite } from '../../access/audit/audit.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Keyring } from '../../keys/keyring.ts';
import {
  type PasskeyRegistration,
  type RegistrationTypedData,
  registrationFormat,
  registrationTypedData,
  type UnsignedRegistration,
} from '../../proof/signoff/passkey-document.ts';
import { keySignatureFault } from '../../proof/signoff/signed-with.ts';
import { typedDataDigest } from '../../proof/signoff/typed-data.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { typedDataToSign } from '../signing/typed-data.ts';
import { afterSigned } from './last-signed.store.ts';
import { changePasskey, findPasskey, isAlready, type PasskeyKey, setPasskey } from './passkey-change.ts';
import { codeOf } from './passkey-code.ts';
import { requireSecondPerson } from './passkey-confirmer.ts';
import {
  type GivenAssertion,
  lockPasskey,
  type PasskeyRequest,
  passkeyRequest,
  takeAssertion,
} from './passkey-signing.ts';
import {
  addStatement,
  lockWorker,
  nextPlace,
  type Passkey,
  type PasskeyWorker,
  type StatementPlace,
} from './passkeys.store.ts';

/** By the worker's own key, or by another passkey of theirs. */
export interface GivenSignature {
  signature?: string | undefined;
  assertion?: GivenAssertion | undefined;
}

export interface PreparedRegistration {
  typedData: RegistrationTypedData;
  /** For a worker who has passkeys; null for one who signs with their own key. */
  passkey: PasskeyRequest | null;
}

export interface Registrations {
  confirm(caller: Caller, key: WorkerPasskey & { code: string }): Promise<Passkey>;
  /** What the worker signs. */
  prepare(key: PasskeyKey): Promise<PreparedRegistration>;
  sign(caller: Caller, key: WorkerPasskey, given: GivenSignature): Promise<Passkey>;
}

type WorkerPasskey = Omit<PasskeyKey, 'workspaceId'>;

export interface RegistrationsDeps {
  db: Db;
  keyring: Pick<Keyring, 'destroySigningKey' | 'signer'>;
  publicUrl(): string;
}

interface Unsigned {
  document: UnsignedRegistration;
  typedData: RegistrationTypedData;
  place: StatementPlace;
}

export function createRegistrations({ db, keyring, publicUrl }: RegistrationsDeps): Registrations {
  return {
    async confirm(caller, { code, ...which }) {
      const { workspaceId } = caller;
      const key = { workspaceId, ...which };
      const known = await lockWorker(db, workspaceId, { address: which.address }, { lock: false });
      // Before the transaction: a request that holds a connection must not wait for another one.
      const signer = known.keyHolder === 'service' ? await keyring.signer({ workspaceId, ...known }) : null;
      return changePasskey(db, key, async (db, worker, passkey) => {
        if (passkey.state !== 'unconfirmed') throw isAlready(passkey);
        const { made } = passkey;
        const person = await requireSecondPerson(db, caller, {
          invitedBy: made.invitedBy,
          workerId: worker.id,
        });
        requireCode(code, passkey);
        const confirmed = { ...made, confirmedBy: person.userId, confirmedAt: notBefore(made.registeredAt) };
        await setPasskey(db, workspaceId, {
          id: passkey.id,
          change: { state: 'unsigned', made: JSON.stringify(confirmed) },
        });
        const details = { passkeyId: passkey.id };
        await insertAll(db, [
          auditWrite(caller, { action: 'passkey.confirm', targetId: worker.id, details }),
        ]);
        if (worker.keyHolder !== 'service' || signer === null) return;
        const unsigned = await unsignedOf(db, worker, {
          workspaceId,
          passkey: { ...passkey, made: confirmed },
        });
        const signature = await signer.signTypedData(typedDataToSign(unsigned.typedData));
        await register(db, caller, {
          worker,
          passkey,
          unsigned,
          signed: { signedWith: { method: 'held-key' }, signature },
        });
        await keyring.destroySigningKey(db, { workspaceId, id: worker.id });
      });
    },

    async prepare({ workspaceId, address, id }) {
      const worker = await lockWorker(db, workspaceId, { address }, { lock: false });
      const passkey = await findPasskey(db, worker, { workspaceId, id });
      if (passkey.state !== 'unsigned') throw isUnready(passkey);
      const { typedData } = await unsignedOf(db, worker, { workspaceId, passkey });
      if (worker.keyHolder !== 'passkey') return { typedData, passkey: null };
      const options = { workspaceId, worker, publicUrl: publicUrl() };
      return { typedData, passkey: await passkeyRequest(db, typedDataDigest(typedData), options) };
    },

    sign(caller, which, given) {
      const { workspaceId } = caller;
      return changePasskey(db, { workspaceId, ...which }, async (db, worker, passkey) => {
        if (passkey.state !== 'unsigned') throw isUnready(passkey);
        const unsigned = await unsignedOf(db, worker, { workspaceId, passkey });
        const signed = await takeSignature(db, given, { workspaceId, worker, typedData: unsigned.typedData });
        await register(db, caller, { worker, passkey, unsigned, signed });
      });
    },
  };

  async function takeSignature(
    db: Db,
    { signature, assertion }: GivenSignature,
    {
      workspaceId,
      worker,
      typedData,
    }: { workspaceId: string; worker: PasskeyWorker; typedData: RegistrationTypedData },
  ): Promise<Pick<PasskeyRegistration, 'signedWith' | 'signature'>> {
    const digest = typedDataDigest(typedData);
    if (worker.keyHolder === 'passkey') {
      if (!assertion || signature !== undefined) {
        throw new AppError(
          'passkey_required',
          `The worker ${worker.address} has a passkey: that one signs for the next, so send its assertion, and no signature.`,
        );
      }
      const key = { workspaceId, workerId: worker.id, publicUrl: publicUrl() };
      const passkey = await lockPasskey(db, assertion, key);
      return takeAssertion(db, assertion, { digest, signedAt: wholeSecond(), passkey, ...key });
    }
    if (signature === undefined || assertion) {
      throw new AppError(
        'invalid_request',
        `The worker ${worker.address} has no passkey yet: send the signature of their key, and no assertion. GET …/sign gives the typed data to sign.`,
      );
    }
    const fault = keySignatureFault(worker.address, digest, signature);
    if (fault === null)
      return { signedWith: { method: 'own-key' }, signature: signature.toLowerCase() as Hex };
    throw new AppError(
      'invalid_request',
      `signature is refused: ${fault}. It must be made by ${worker.address} over the typed data of GET …/sign as it is now.`,
    );
  }
}

/** Anchors the registration: from now on the passkey signs. */
async function register(
  db: Db,
  caller: Caller,
  {
    worker,
    passkey,
    unsigned,
    signed,
  }: {
    worker: PasskeyWorker;
    passkey: Passkey;
    unsigned: Unsigned;
    signed: Pick<PasskeyRegistration, 'signedWith' | 'signature'>;
  },
): Promise<void> {
  const { workspaceId } = caller;
  const receivedAt = await afterSigned(
    db,
    { workspaceId, workerId: worker.id },
    unsigned.document.confirmedAt,
  );
  const document = { ...unsigned.document, ...signed, receivedAt };
  const registration = await addStatement(db, passkey, { document, place: unsigned.place });
  const { confirmedBy, confirmedAt } = document;
  await setPasskey(db, workspaceId, {
    id: passkey.id,
    change: {
      state: 'active',
      made: JSON.stringify({ ...passkey.made, confirmedBy, confirmedAt, receivedAt }),
      number: registration.number,
      hash: Buffer.from(registration.hash.slice(2), 'hex'),
    },
  });
  await db
    .updateTable('workers')
    .set({ key_holder: 'passkey', updated_at: new Date() })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', worker.id)
    .execute();
  const { method } = signed.signedWith;
  const details = {
    passkeyId: passkey.id,
    ...registration,
    signedWith: method,
    destroyedKey: method === 'held-key',
  };
  await insertAll(db, [auditWrite(caller, { action: 'passkey.activate', targetId: worker.id, details })]);
}

/** The registration as it would be anchored now, but for the signature. */
async function unsignedOf(
  db: Db,
  worker: PasskeyWorker,
  { workspaceId, passkey }: { workspaceId: string; passkey: Passkey },
): Promise<Unsigned> {
  const place = await nextPlace(db, { workspaceId, workerId: worker.id });
  const { confirmedBy, confirmedAt, receivedAt: _, ...made } = passkey.made;
  if (confirmedBy === undefined || confirmedAt === undefined)
    throw new Error(`${passkey.id} is not confirmed`);
  const method = ({ service: 'held-key', worker: 'own-key', passkey: 'passkey' } as const)[worker.keyHolder];
  const document: UnsignedRegistration = {
    format: registrationFormat,
    ...{ workspaceId, workerId: worker.id, workerAddress: worker.address, workerName: worker.name },
    number: place.number,
    vault: place.vault.address.toLowerCase() as Hex,
    credentialId: fromBytea(passkey.credentialId),
    publicKey: fromBytea(passkey.publicKey),
    rpId: passkey.rpId,
    ...made,
    ...{ confirmedBy, confirmedAt, signedWith: { method } },
  };
  return { document, typedData: registrationTypedData(document), place };
}

function requireCode(code: string, { credentialId }: Passkey): void {
  if (code.toUpperCase() === codeOf(credentialId)) return;
  throw new AppError(
    'invalid_request',
    'code is not the one that the worker sees on their device. If it should be, somebody else has used the link: refuse this registration.',
  );
}

/** Now, or that time if the clock of another node is ahead of ours: times must not go back. */
function notBefore(time: string): string {
  return new Date(Math.max(Date.now(), Date.parse(time))).toISOString();
}

/** As in sign-offs, with which the counters of a passkey are compared. */
function wholeSecond(): Date {
  return new Date(Math.floor(Date.now() / 1000) * 1000);
}

function isUnready(passkey: Passkey): AppError {
  return passkey.state === 'unconfirmed'
    ? new AppError('passkey_unconfirmed', 'A second person must confirm first whose passkey this is.')
    : isAlready(passkey);
}
