/**
 * Requests to sign: a link by which one worker signs one entry, in one role, with a passkey on their own device. What will be
 * signed is fixed with the request, except the time. The link shows that, and takes the signature; it needs no session.
 */
import { randomBytes } from 'node:crypto';
import { auditWrite } from '../../access/audit/audit.ts';
import { findUser } from '../../access/people/members.ts';
import { findWorkspace } from '../../access/workspaces/workspaces.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { FileContent, FileContents } from '../../holdings/files/file-content.ts';
import { type Caller, may } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import type { Assets } from '../assets/assets.ts';
import { findSubject } from '../entries/maintenance-subject.ts';
import { type MaintenanceKey, requireMaintenance, type Signoff } from '../entries/maintenances.store.ts';
import type { Maintenances } from '../entries/maintenances.ts';
import { passkeyHost } from '../passkeys/passkey-host.ts';
import type { GivenAssertion, PasskeyRequest } from '../passkeys/passkey-signing.ts';
import type { MaintenanceEntry } from '../signing/maintenance-entry.ts';
import { type AskedMessage, requireAsked } from '../signoffs/asked.ts';
import type { AskedSignoff, SignoffRequest, Signoffs } from '../signoffs/signoffs.ts';
import {
  findRequest,
  type LinkPage,
  listOpenLinks,
  type OpenLink,
  putRequest,
  type SignRequest,
  withdrawRequest,
} from './sign-requests.store.ts';

export interface MadeRequest {
  id: string;
  token: string;
  link: string;
  expiresAt: Date;
}

/** What the page shows, and what the device signs. */
export interface OpenRequest {
  workspaceName: string;
  /** The name of the person; null if it was a program. */
  requestedBy: string | null;
  workerName: string;
  assetName: string;
  entry: {
    type: string;
    summary: string;
    performedAt: string;
    workerName: string;
    files: { fileId: string; name: string }[];
    signoffs: Pick<Signoff, 'role' | 'workerName' | 'signedAt'>[];
  };
  /** In the first person: what the signature says. */
  statement: string;
  message: AskedMessage;
  passkey: Omit<PasskeyRequest, 'challenge'>;
  expiresAt: Date;
}

export interface PreparedRequest extends Omit<MadeRequest, 'expiresAt'> {
  worker: { id: string; address: string; name: string };
  message: AskedMessage;
  input: SignoffRequest;
}

export interface SignRequests {
  /** Checks all of them, and stores nothing before `commit`, which stores all or none. */
  prepare(
    caller: Caller,
    inputs: SignoffRequest[],
  ): Promise<{ made: PreparedRequest[]; expiresAt: Date; commit(): Promise<void> }>;
  create(caller: Caller, request: SignoffRequest): Promise<MadeRequest>;
  /** Of an entry: those that still can be signed by. */
  list(entry: MaintenanceKey, page: LinkPage): Promise<OpenLink[]>;
  withdraw(caller: Caller, id: string): Promise<void>;
  open(token: string, requestId: string): Promise<OpenRequest>;
  /** A file that is attached to the entry. */
  file(token: string, fileId: string, requestId: string): Promise<FileContent>;
  sign(
    token: string,
    given: { signedAt: Date; assertion: GivenAssertion },
    requestId: string,
  ): Promise<Signoff>;
}

export interface SignRequestsDeps {
  db: Db;
  signoffs: Signoffs;
  maintenances: Pick<Maintenances, 'get'>;
  assets: Pick<Assets, 'get'>;
  fileContents: FileContents;
  publicUrl(): string;
}

const daysValid = 7;
/** Tells these links from invitations, which have the same page. */
export const tokenStart = 'sig_';

const statements = {
  performed: 'I did this work as it is described here.',
  inspected: 'I have inspected this work.',
  certified: 'I certify this work and release it.',
} as const;

export function createSignRequests(deps: SignRequestsDeps): SignRequests {
  const { db, signoffs, maintenances, assets, fileContents, publicUrl } = deps;

  async function find(token: string): Promise<SignRequest> {
    const request = token.startsWith(tokenStart) ? await findRequest(db, token) : null;
    return requireUsable(request);
  }

  /** Of the asset as its worker sees it, which is in the access log. */
  async function entryOf(request: SignRequest, requestId: string) {
    const { assetId, maintenanceId, workerAddress: viewerAddress } = request;
    const caller = callerFor(request, requestId);
    const whole = await maintenances.get({ caller, assetId, maintenanceId, viewerAddress });
    const { files } = JSON.parse(whole.entry) as MaintenanceEntry;
    return { ...whole.maintenance, files };
  }

  const prepare: SignRequests['prepare'] = async (caller, inputs) => {
    const { origin } = passkeyHost(publicUrl());
    const { workspaceId } = caller;
    const createdAt = new Date();
    const expiresAt = new Date(createdAt.getTime() + daysValid * 24 * 60 * 60 * 1000);
    const rows: PreparedRequest[] = [];
    for (const input of inputs) {
      const { typedData, passkey } = await signoffs.prepare(caller, { ...input, ahead: true });
      const { signedAt: _, ...message } = typedData.message;
      if (!passkey) {
        throw new AppError(
          'conflict',
          `The worker ${message.workerAddress} has no passkey. Invite them first: only passkeys sign by link.`,
        );
      }
      const { worker } = await findSubject(db, { workspaceId, ...input });
      const token = tokenStart + randomBytes(24).toString('base64url');
      const link = `${origin}/sign/${token}`;
      rows.push({ id: newId('sgr'), token, link, worker, message, input });
    }
    // Or a key that may only write could read by its own links.
    for (const scope of ['assets:read', 'files:read'] as const) {
      if (may(caller, scope)) continue;
      throw new AppError(
        'forbidden',
        `The link shows the entry and its attachments, so this also needs the scope ${scope}.`,
      );
    }
    const commit = () =>
      db.transaction().execute(async (db) => {
        // In one order, so that two of these do not wait for each other.
        for (const { id, token, worker, message, input } of rows.toSorted(byWorkerAndRole)) {
          const { assetId, maintenanceId, role } = input;
          await putRequest(db, token, {
            ...{ workspaceId, id, createdAt, expiresAt, assetId, maintenanceId, role, message },
            ...{ workerId: worker.id, workerAddress: worker.address },
            requestedBy: { ...caller.actor },
          });
          const details = { signRequestId: id, role, workerId: worker.id };
          await insertAll(db, [
            auditWrite(caller, {
              action: 'maintenance.request_signature',
              targetId: maintenanceId,
              details,
            }),
          ]);
        }
      });
    return { made: rows, expiresAt, commit };
  };

  /** The sign-off with this very assertion. */
  async function findMade(
    request: SignRequest,
    { signedAt, assertion }: { signedAt: Date; assertion: GivenAssertion },
    requestId: string,
  ): Promise<Signoff | null> {
    const entry = await entryOf(request, requestId).catch((error) => {
      if (error instanceof AppError) return null;
      throw error;
    });
    const done = entry && madeBy(request, entry.signoffs);
    if (!done) return null;
    const signature = fromBytea(Buffer.from(assertion.signature, 'base64url'));
    return done.signature === signature && Date.parse(done.signedAt) === signedAt.getTime() ? done : null;
  }

  return {
    prepare,

    async create(caller, input) {
      const { made, expiresAt, commit } = await prepare(caller, [input]);
      await commit();
      const [{ id, token, link }] = made as [PreparedRequest];
      return { id, token, link, expiresAt };
    },

    async list(entry, page) {
      await assets.get(entry.workspaceId, entry.assetId);
      await requireMaintenance(db, entry);
      return listOpenLinks(db, entry, page);
    },

    async withdraw(caller, id) {
      const { workspaceId } = caller;
      await db.transaction().execute(async (db) => {
        const found = await withdrawRequest(db, { workspaceId, id });
        if (found === null) throw new AppError('resource_not_found', `There is no request to sign ${id}.`);
        if (!found.isNew) return;
        const { maintenanceId } = found;
        const details = { signRequestId: id };
        await insertAll(db, [
          auditWrite(caller, {
            action: 'maintenance.withdraw_signature_request',
            targetId: maintenanceId,
            details,
          }),
        ]);
      });
    },

    async open(token, requestId) {
      const request = await find(token);
      const { workspaceId, message, expiresAt } = request;
      const entry = await entryOf(request, requestId);
      const done = madeBy(request, entry.signoffs);
      if (done) {
        throw signedAlready(done);
      }
      const now = await signoffs.prepare(callerFor(request, requestId), whatOf(request));
      requireAsked(now.typedData.message, message);
      if (!now.passkey) throw new Error('who signs with a passkey is asked for one');
      const { challenge: _, ...passkey } = now.passkey;
      const [{ worker }, asset, workspace, requestedBy] = await Promise.all([
        findSubject(db, request),
        assets.get(workspaceId, request.assetId),
        findWorkspace(db, workspaceId),
        nameOf(db, request),
      ]);
      return {
        ...{ workspaceName: workspace.name, requestedBy, workerName: worker.name, assetName: asset.name },
        entry: {
          ...{ type: entry.type, summary: entry.summary, performedAt: entry.performedAt.toISOString() },
          workerName: entry.workerName,
          files: entry.files.map(({ fileId, name }) => ({ fileId, name })),
          signoffs: entry.signoffs.map(({ role, workerName, signedAt }) => ({ role, workerName, signedAt })),
        },
        ...{ statement: statements[request.role], message, passkey, expiresAt },
      };
    },

    async file(token, fileId, requestId) {
      const request = await find(token);
      const { files, signoffs: made } = await entryOf(request, requestId);
      // The link was for signing, and whoever has it need not see anything afterwards.
      const done = madeBy(request, made);
      if (done) throw signedAlready(done);
      const attached = files.find((file) => file.fileId === fileId);
      if (!attached) throw new AppError('resource_not_found', 'This file is not attached to the entry.');
      return fileContents.find(request.workspaceId, fileId, attached.version);
    },

    async sign(token, given, requestId) {
      const request = token.startsWith(tokenStart) ? await findRequest(db, token) : null;
      if (!request) throw noRequest();
      try {
        // Only what the signer was shown is signed, and only as long as the link is valid: whatever happens while this waits.
        const asked: AskedSignoff = {
          async take(db) {
            const { message, createdAt } = requireUsable(await findRequest(db, token, { lock: true }));
            return { message, madeAt: createdAt };
          },
        };
        const input = { ...whatOf(request), ...given, asked };
        return await signoffs.create(callerFor(request, requestId), input, () => []);
      } catch (error) {
        // The answer to the same assertion was lost on the way; since then, the link may have expired.
        const done = error instanceof AppError && (await findMade(request, given, requestId));
        if (done) return done;
        throw error;
      }
    },
  };
}

function byWorkerAndRole(one: PreparedRequest, next: PreparedRequest): number {
  const [first, second] = [one, next].map(({ worker, input }) => `${worker.id} ${input.role}`) as [
    string,
    string,
  ];
  return first < second ? -1 : 1;
}

/** Throws if nothing can be signed by it any more. */
function requireUsable(request: SignRequest | null): SignRequest {
  if (!request) throw noRequest();
  if (request.withdrawnAt) {
    throw new AppError('conflict', 'This link was withdrawn. If you should still sign, ask for a new one.');
  }
  if (request.expiresAt.getTime() > Date.now()) return request;
  throw new AppError('conflict', 'This link has expired. Ask for a new one.');
}

function signedAlready({ workerName, role, signedAt }: Signoff): AppError {
  return new AppError('conflict', `This was signed already: by ${workerName} as ${role}, at ${signedAt}.`);
}

function noRequest(): AppError {
  return new AppError(
    'resource_not_found',
    'There is no such request to sign, or a newer link has replaced it. Ask for a new one.',
  );
}

function madeBy({ role, workerAddress }: SignRequest, signoffs: Signoff[]): Signoff | undefined {
  return signoffs.find((one) => one.role === role && one.workerAddress === workerAddress);
}

/** Nobody is signed in: in the audit log, the request acts. */
function callerFor({ workspaceId, id }: SignRequest, requestId: string): Caller {
  return { workspaceId, actor: { kind: 'system', id }, scopes: [], requestId };
}

function whatOf({ assetId, maintenanceId, workerAddress, role, message }: SignRequest): SignoffRequest {
  const [licence] = message.licence;
  const named = licence ? { licenceScope: licence.scope } : {};
  return { assetId, maintenanceId, workerAddress, role, ...named };
}

async function nameOf(db: Db, { requestedBy: { kind, id } }: SignRequest): Promise<string | null> {
  return kind === 'user' ? (await findUser(db, id)).name : null;
}
