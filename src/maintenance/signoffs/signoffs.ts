/**
 * Sign-offs of maintenance entries. The service signs for workers whose keys it holds; a worker who holds their own key
 * signs the prepared typed data and submits the signature. Preparing stores nothing: the signature covers what was prepared,
 * and an entry accepts one sign-off for each role and worker, so a signature can be submitted only once.
 */
import type { Hex } from 'viem';
import { auditWrite } from '../../access/audit/audit.ts';
import { pendingLeaf } from '../../anchoring/batching/pending.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { recordContent } from '../../holdings/records/record-content.ts';
import { explainRefusedSeal } from '../../holdings/vaults/refused-seal.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { keySignatureFault } from '../../proof/signoff/signed-with.ts';
import { type SignoffDocument, signedInWords, signoffFormat } from '../../proof/signoff/signoff-document.ts';
import {
  type SignoffTypedData,
  signoffDigest,
  signoffTypedData,
} from '../../proof/signoff/signoff-message.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { findSubject, type Subject } from '../entries/maintenance-subject.ts';
import type { MaintenanceKey, Signoff } from '../entries/maintenances.store.ts';
import {
  type GivenAssertion,
  lockPasskey,
  type PasskeyRequest,
  passkeyRequest,
  refuseReplay,
  takeAssertion,
} from '../passkeys/passkey-signing.ts';
import { licenceFault } from '../signing/licence.ts';
import { judgeSignoff, type SignoffRole, signerAheadMs, signingTimeFault } from '../signing/signoff-rules.ts';
import { typedDataToSign } from '../signing/typed-data.ts';
import { type AskedMessage, releaseOf, requireAsked } from './asked.ts';
import { requireSigningAuthority, requireWorker } from './signing-authority.ts';
import { readOwnKeyRoles } from './signoff-rules.store.ts';
import { holdWorker, lockEntry, type SignableEntry } from './signoffs.store.ts';

export interface SignoffRequest {
  assetId: string;
  maintenanceId: string;
  workerAddress: string;
  role: SignoffRole;
  /** The scope of the licence to use; needed only if several match, and for `performed`. */
  licenceScope?: string | undefined;
  /** Only to prepare: it is asked before earlier roles are signed. */
  ahead?: boolean | undefined;
}

export interface NewSignoff extends Omit<SignoffRequest, 'ahead'> {
  /** Both are for a worker who holds their own key; other workers have neither. */
  signature?: string | undefined;
  signedAt?: Date | undefined;
  /** For a worker who signs with a passkey, with signedAt. */
  assertion?: GivenAssertion | undefined;
  /** What was asked to be signed, if it is signed by a link. */
  asked?: AskedSignoff | undefined;
}

/** A request to sign, made ahead: the signature may wait on the signer's device as long as the request is valid. */
export interface AskedSignoff {
  /** Locks the request until the transaction ends; throws if it cannot be used any more. */
  take(db: Db): Promise<{ message: AskedMessage; madeAt: Date }>;
}

export interface PreparedSignoff {
  typedData: SignoffTypedData;
  /** Until when the signature is accepted. */
  expiresAt: Date;
  /** For a worker who signs with a passkey. */
  passkey: PasskeyRequest | null;
}

export interface Signoffs {
  /** The typed data for a worker who holds their own key; refused for the same reasons as the sign-off itself. */
  prepare(caller: Caller, request: SignoffRequest): Promise<PreparedSignoff>;
  /** `also`: rows to commit with the sign-off. */
  create(caller: Caller, input: NewSignoff, also: (signoff: Signoff) => Write[]): Promise<Signoff>;
}

export interface SignoffsDeps {
  db: Db;
  keyring: Pick<Keyring, 'signer'>;
  publicUrl(): string;
}

/** How long after signing a signature is accepted. */
const longestMs = 24 * 60 * 60 * 1000;

/** Per entry: an entry is returned with all its sign-offs, and each is judged by all earlier ones. */
export const mostSignoffs = 100;

export function createSignoffs({ db, keyring, publicUrl }: SignoffsDeps): Signoffs {
  return {
    async prepare({ workspaceId }, request) {
      const subject = await findSubject(db, { workspaceId, ...request });
      if (subject.worker.keyHolder === 'service') throw signsItself(subject);
      const entry = await lockEntry(db, { workspaceId, ...request }, { lock: false });
      const signedAt = wholeSeconds(soonest(entry));
      const isPasskey = subject.worker.keyHolder === 'passkey';
      const signedWith = { method: isPasskey ? 'passkey' : 'own-key' } as const;
      const release = await releaseOf(db, { workspaceId, ...request });
      const document = { ...unsigned({ workspaceId, ...request }, { subject, entry, signedAt }), ...release };
      const typedData = signoffTypedData({ ...document, signedWith });
      const key = { workspaceId, worker: subject.worker, publicUrl: publicUrl() };
      const passkey = isPasskey ? await passkeyRequest(db, signoffDigest(typedData.message), key) : null;
      return { typedData, expiresAt: new Date(signedAt.getTime() + longestMs), passkey };
    },

    async create(caller, input, also) {
      const { workspaceId } = caller;
      const { worker } = await findSubject(db, { workspaceId, ...input });
      requireOwnSignature(worker, input);
      const isHeld = worker.keyHolder === 'service';
      if (worker.keyHolder === 'passkey' && !input.assertion) {
        if (caller.person) requireWorker(caller, worker);
        throw passkeyRequired(worker);
      }
      const keySigned = isHeld ? requireSigningAuthority(caller, worker) : ({ method: 'own-key' } as const);
      const key = { workspaceId, workerId: worker.id, publicUrl: publicUrl() };
      // Before the transaction: a request that holds a connection must not wait for another one.
      const signer = isHeld ? await keyring.signer({ workspaceId, ...worker }) : null;
      const signing = db.transaction().execute(async (db) => {
        const entry = await lockEntry(db, { workspaceId, ...input }, { lock: true });
        await holdWorker(db, { workspaceId, workerId: worker.id });
        const subject = await findSubject(db, { workspaceId, ...input });
        if (subject.worker.keyHolder !== worker.keyHolder) throw passkeyRequired(worker);
        if (isHeld) await refuseHeldKey(db, { workspaceId, role: input.role });
        const passkey = input.assertion ? await lockPasskey(db, input.assertion, key) : null;
        if (input.assertion) refuseReplay(input.assertion, entry.earlier);
        const asked = await input.asked?.take(db);
        const receivedAt = soonest(entry);
        const signedAt = wholeSeconds(input.signedAt ?? receivedAt);
        if (input.signedAt) requireTimely(signedAt, asked?.madeAt ?? null);
        const times = { signedAt, ...(input.signedAt && { receivedAt: wholeSeconds(receivedAt) }) };
        const document = {
          ...unsigned({ workspaceId, ...input }, { subject, entry, ...times }),
          ...(await releaseOf(db, { workspaceId, ...input, asked: asked?.message })),
        };
        const method = passkey ? ({ method: 'passkey' } as const) : keySigned;
        const typedData = signoffTypedData({ ...document, signedWith: method });
        if (asked) requireAsked(typedData.message, asked.message);
        const digest = signoffDigest(typedData.message);
        const signed =
          input.assertion && passkey
            ? await takeAssertion(db, input.assertion, { digest, signedAt, passkey, ...key })
            : {
                signedWith: keySigned,
                signature: signer
                  ? await signer.signTypedData(typedDataToSign(typedData))
                  : requireSignature(worker, digest, input.signature ?? ''),
              };
        const made = makeSignoff({ ...document, ...signed }, { subject, entry });
        await insertAll(db, [
          ...made.writes,
          auditWrite(caller, {
            action: 'maintenance.sign_off',
            targetId: input.maintenanceId,
            details: {
              ...{ number: made.signoff.number, role: input.role, workerId: worker.id },
              signedWith: signed.signedWith.method,
            },
          }),
          ...also(made.signoff),
        ]);
        return made.signoff;
      });
      return signing.catch(explainRefusedSeal);
    },
  };
}

interface Known {
  subject: Subject;
  entry: SignableEntry;
}

/** Everything except the signature; throws conflict when a rule forbids it now. */
function unsigned(
  {
    workspaceId,
    assetId,
    maintenanceId,
    role,
    licenceScope,
    ahead,
  }: SignoffRequest & Pick<MaintenanceKey, 'workspaceId'>,
  { subject, entry, signedAt, receivedAt }: Known & { signedAt: Date; receivedAt?: Date },
): Omit<SignoffDocument, 'signature' | 'signedWith' | 'release'> {
  if (entry.supersededBy !== null) {
    throw new AppError(
      'conflict',
      `The maintenance entry ${maintenanceId} is superseded by ${entry.supersededBy}: sign that one instead.`,
    );
  }
  if (entry.earlier.length >= mostSignoffs) {
    throw new AppError(
      'conflict',
      `The maintenance entry ${maintenanceId} has reached the limit of ${mostSignoffs} sign-offs.`,
    );
  }
  const { worker } = subject;
  const judged = judgeSignoff({
    role,
    workerAddress: worker.address,
    identity: worker.identity,
    licences: worker.licences,
    licenceScope,
    ahead,
    // Not the stated signing time: backdating must not make an expired licence usable.
    at: Date.now(),
    requires: entry.requires,
    earlier: entry.earlier,
    performers: entry.performers,
  });
  if ('code' in judged) throw new AppError(judged.code, judged.message);
  // Nor was it usable before it was valid.
  const early = judged.licence && licenceFault(judged.licence, signedAt.getTime());
  if (early) throw new AppError(early.code, `The licence ${judged.licence?.number} ${early.message}.`);
  const times = {
    signedAt: signedAt.toISOString(),
    ...(receivedAt && { receivedAt: receivedAt.toISOString() }),
  };
  const untimely = signingTimeFault({ ...entry, role, ...times });
  if (untimely !== null) throw new AppError('conflict', untimely);
  return {
    format: signoffFormat,
    workspaceId,
    assetId,
    maintenanceId,
    maintenanceHash: fromBytea(entry.hash),
    role,
    workerAddress: worker.address,
    workerName: worker.name,
    licence: judged.licence,
    ...times,
  };
}

/** Whether the workspace accepts what the service signs for workers, in this role. */
async function refuseHeldKey(
  db: Db,
  { workspaceId, role }: { workspaceId: string; role: SignoffRole },
): Promise<void> {
  if (!(await readOwnKeyRoles(db, workspaceId)).includes(role)) return;
  throw new AppError(
    'signers_key_required',
    `In this workspace, ${role} needs a passkey or a key that the worker holds. The service does not sign it for workers.`,
  );
}

function makeSignoff(
  document: SignoffDocument,
  { subject, entry }: Known,
): { signoff: Signoff; writes: Write[] } {
  const { data, salt, digest, bytes } = recordContent(document, 'sign-off');
  const number = entry.earlier.length + 1;
  const { workspaceId, maintenanceId, role } = document;
  const { write } = pendingLeaf({
    workspaceId,
    kind: 'signoff',
    subjectId: maintenanceId,
    version: number,
    vault: subject.vault,
    digest,
    canonicalization: 'jcs',
    previousLeaf: entry.leaf,
    claims: { assetId: document.assetId, role },
    storedBytes: bytes,
  });
  const row = {
    workspace_id: workspaceId,
    maintenance_id: maintenanceId,
    number,
    role,
    worker_id: subject.worker.id,
    document: data,
    salt,
    hash: digest,
    created_at: new Date(),
  };
  const { workerAddress, workerName, licence, signedAt, receivedAt = null, signature } = document;
  return {
    signoff: {
      ...{ number, role, workerAddress, workerName, signedAt, receivedAt, signature },
      licence,
      signedWith: document.signedWith.method,
      statement: signedInWords(document),
      signoffHash: fromBytea(digest),
      status: 'pending',
      anchor: null,
    },
    writes: [{ table: 'signoffs', row }, write],
  };
}

function requireOwnSignature(
  worker: Subject['worker'],
  { signature, signedAt, assertion }: NewSignoff,
): void {
  if (worker.keyHolder === 'passkey') {
    // Without an assertion it is refused for another reason, which depends on who asks.
    if (signature === undefined && (signedAt !== undefined) === (assertion !== undefined)) return;
    throw new AppError(
      'invalid_request',
      `The worker ${worker.address} signs with a passkey: send assertion and signedAt, and no signature. GET …/signoffs/request/ gives both.`,
    );
  }
  if (assertion !== undefined) {
    throw new AppError('passkey_unknown', `The worker ${worker.address} has no passkey: omit assertion.`);
  }
  if (worker.keyHolder === 'service') {
    if (signature === undefined && signedAt === undefined) return;
    throw new AppError(
      'invalid_request',
      `The service holds the key of ${worker.address} and signs by itself: omit signature and signedAt.`,
    );
  }
  if (signature !== undefined && signedAt !== undefined) return;
  throw new AppError(
    'invalid_request',
    `${signature === undefined ? 'signature' : 'signedAt'} is required: the worker ${worker.address} holds their own key. GET …/signoffs/request/ gives the typed data to sign.`,
  );
}

function passkeyRequired({ address }: Subject['worker']): AppError {
  return new AppError(
    'passkey_required',
    `The worker ${address} signs with a passkey: send the assertion. Nobody else can sign for them.`,
  );
}

function signsItself({ worker }: Subject): AppError {
  return new AppError(
    'conflict',
    `The service holds the key of ${worker.address}: POST the sign-off without a signature, and the service signs it.`,
  );
}

/** `askedAt`: when the request to sign was made; null if there is none. */
function requireTimely(signedAt: Date, askedAt: Date | null): void {
  const aheadMs = signedAt.getTime() - Date.now();
  const isLate = askedAt
    ? signedAt.getTime() < wholeSeconds(askedAt).getTime() - signerAheadMs
    : aheadMs < -longestMs;
  if (!isLate && aheadMs <= signerAheadMs) return;
  const early = askedAt
    ? `is before the request to sign was made, at ${askedAt.toISOString()}: set the clock of the device, and sign again`
    : 'is more than 24 hours ago: get the typed data again and sign that';
  throw new AppError(
    'invalid_request',
    `signedAt ${signedAt.toISOString()} ${isLate ? early : 'is in the future'}.`,
  );
}

function requireSignature({ address }: Subject['worker'], digest: Uint8Array, signature: string): Hex {
  const fault = keySignatureFault(address, digest, signature);
  if (fault === null) return signature.toLowerCase() as Hex;
  throw new AppError(
    'invalid_request',
    `signature is refused: ${fault}. It must be made by ${address} over the typed data from …/signoffs/request/, with the same signedAt.`,
  );
}

/** Now, or the latest earlier time if the clock of another node or signer is ahead of ours: times must not go back. */
function soonest({ recordedAt, earlier }: SignableEntry): Date {
  const signed = earlier.flatMap(({ signedAt, receivedAt = signedAt }) => [signedAt, receivedAt]);
  return new Date(Math.max(Date.now(), ...[recordedAt, ...signed].map((time) => Date.parse(time))));
}

function wholeSeconds(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 1000) * 1000);
}
