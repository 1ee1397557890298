/** Workers: people who do and sign maintenance work, each with an address. */
import { isDeepStrictEqual } from 'node:util';
import { auditWrite } from '../../access/audit/audit.ts';
import { isMember } from '../../access/people/members.ts';
import type { Db } from '../../db/database.ts';
import { violates } from '../../db/faults.ts';
import { type CommitTogether, insertAll, type Write } from '../../db/writes.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { checksummed } from '../../runtime/address.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { type Licence, type StoredLicence, wholeLicence } from '../signing/licence.ts';
import { lockIdentities, makeOne, marksOf, noteMarks, separate } from './identities.store.ts';

export interface Worker {
  id: string;
  name: string;
  /** EIP-55. */
  address: string;
  keyHolder: 'service' | 'worker' | 'passkey';
  licences: Licence[];
  /** The member of the workspace whom the worker is. */
  userId: string | null;
  /** Workers with the same identity are one person. */
  identity: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewWorker {
  name: string;
  /** For a worker who holds their own key; otherwise the service makes one. */
  address: string | undefined;
}

export interface Workers {
  /** `also`: rows to commit with the worker. */
  create(caller: Caller, input: NewWorker, also: (worker: Worker) => Write[]): Promise<Worker>;
  list(workspaceId: string, page: { before: string | undefined; limit: number }): Promise<Worker[]>;
  get(workspaceId: string, address: string): Promise<Worker>;
  update(caller: Caller, address: string, change: { name?: string; licences?: Licence[] }): Promise<Worker>;
  /** Says which member of the workspace the worker is; null: nobody. Somebody else has to say it. */
  bind(caller: Caller, address: string, userId: string | null): Promise<Worker>;
  /** Says that two workers are one person. */
  join(caller: Caller, address: string, otherAddress: string): Promise<Worker>;
  /** Says that the worker is nobody else. Somebody else has to say it. */
  separate(caller: Caller, address: string): Promise<void>;
}

export interface WorkersDeps {
  db: Db;
  commit: CommitTogether;
  keyring: Keyring;
}

const columns = [
  'id',
  'name',
  'address',
  'key_holder',
  'licences',
  'user_id',
  'identity',
  'created_at',
  'updated_at',
] as const;

interface WorkerRow {
  id: string;
  name: string;
  address: string;
  key_holder: 'service' | 'worker' | 'passkey';
  licences: StoredLicence[];
  user_id: string | null;
  identity: string | null;
  created_at: Date;
  updated_at: Date;
}

export function createWorkers({ db, commit, keyring }: WorkersDeps): Workers {
  return {
    async create(caller, input, also) {
      const { workspaceId } = caller;
      // Before the shared statement, which a taken address would fail for everybody in it.
      if (input.address !== undefined) {
        const known = await selectByAddress(db, workspaceId, input.address).executeTakeFirst();
        if (known) throw taken(known.address);
      }
      const id = newId('wrk');
      const made = input.address === undefined ? await keyring.newSigningKey({ workspaceId, id }) : null;
      const at = new Date();
      const worker: Worker = {
        id,
        name: input.name,
        address: made?.address ?? checksummed(input.address ?? ''),
        keyHolder: made ? 'service' : 'worker',
        licences: [],
        userId: null,
        identity: id,
        createdAt: at,
        updatedAt: at,
      };
      const { name, address, keyHolder } = worker;
      try {
        await commit([
          {
            table: 'workers',
            row: {
              workspace_id: workspaceId,
              id,
              name,
              address,
              key_holder: keyHolder,
              licences: [],
              user_id: null,
              identity: null,
              created_at: at,
              updated_at: at,
            },
          },
          ...(made ? [made.write] : []),
          auditWrite(caller, {
            action: 'worker.create',
            targetId: id,
            details: { name, address, keyHolder },
          }),
          ...also(worker),
        ]);
      } catch (error) {
        if (!violates(error, 'workers_by_address')) throw error;
        throw taken(address, error);
      }
      return worker;
    },

    async list(workspaceId, { before, limit }) {
      let select = db
        .selectFrom('workers')
        .select(columns)
        .where('workspace_id', '=', workspaceId)
        .orderBy('id', 'desc')
        .limit(limit);
      if (before !== undefined) select = select.where('id', '<', before);
      return (await select.execute()).map(toWorker);
    },

    async get(workspaceId, address) {
      const row = await selectByAddress(db, workspaceId, address).executeTakeFirst();
      if (!row) throw notFound(address);
      return toWorker(row);
    },

    update: (caller, address, { name, licences }) =>
      db.transaction().execute(async (db) => {
        if (licences) await lockIdentities(db, caller.workspaceId);
        const worker = await lockWorker(db, caller.workspaceId, address);
        const updated = {
          ...worker,
          name: name ?? worker.name,
          licences: licences ?? worker.licences,
          updatedAt: new Date(),
        };
        const details = changed(worker, updated);
        if (Object.keys(details).length === 0) return worker;
        await db
          .updateTable('workers')
          .set({
            name: updated.name,
            licences: JSON.stringify(updated.licences),
            updated_at: updated.updatedAt,
          })
          .where('workspace_id', '=', caller.workspaceId)
          .where('id', '=', worker.id)
          .execute();
        await insertAll(db, [auditWrite(caller, { action: 'worker.update', targetId: worker.id, details })]);
        if (!licences) return updated;
        return recognise(db, caller, { before: worker, after: updated });
      }),

    async bind(caller, address, userId) {
      if (userId !== null && userId === caller.person?.userId) {
        throw new AppError(
          'second_person_required',
          'You cannot say yourself that a worker is you: another admin has to do that.',
        );
      }
      return db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        await lockIdentities(db, workspaceId);
        const worker = await lockWorker(db, workspaceId, address);
        if (userId !== null && !(await isMember(db, workspaceId, userId))) {
          throw new AppError('resource_not_found', `There is no member ${userId} in this workspace.`);
        }
        if (worker.userId === userId) return worker;
        const updatedAt = new Date();
        await db
          .updateTable('workers')
          .set({ user_id: userId, updated_at: updatedAt })
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', worker.id)
          .execute();
        const details = { userId: { from: worker.userId, to: userId } };
        await insertAll(db, [
          auditWrite(caller, { action: 'worker.bind_person', targetId: worker.id, details }),
        ]);
        const bound = { ...worker, userId, updatedAt };
        return recognise(db, caller, { before: worker, after: bound });
      });
    },

    join: (caller, address, otherAddress) =>
      db.transaction().execute(async (db) => {
        await lockIdentities(db, caller.workspaceId);
        const worker = await lockWorker(db, caller.workspaceId, address);
        const other = await selectByAddress(db, caller.workspaceId, otherAddress).executeTakeFirst();
        if (!other) throw notFound(otherAddress);
        return identify(db, caller, { worker, others: [other.id] });
      }),

    separate: (caller, address) =>
      db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        await lockIdentities(db, workspaceId);
        const worker = await lockWorker(db, workspaceId, address);
        if (worker.userId !== null && worker.userId === caller.person?.userId) {
          throw new AppError(
            'second_person_required',
            'You cannot say yourself that a worker who is you is nobody else: another admin has to do that.',
          );
        }
        const identity = await separate(db, { workspaceId, workerId: worker.id }, marksOf(worker));
        if (identity === null) {
          throw new AppError(
            'conflict',
            `The worker ${worker.address} is bound to the same member, or holds the same licence, as another worker is or did. Change that first.`,
          );
        }
        await insertAll(db, [identified(caller, worker, { from: [worker.identity], to: identity })]);
      }),
  };
}

/** Also what the worker had before: giving a licence away must not make two people of one. */
async function recognise(
  db: Db,
  caller: Caller,
  { before, after }: { before: Worker; after: Worker },
): Promise<Worker> {
  const key = { workspaceId: caller.workspaceId, workerId: after.id };
  const others = await noteMarks(db, key, [...new Set([...marksOf(before), ...marksOf(after)])]);
  return identify(db, caller, { worker: after, others });
}

/** Makes the worker one person with the others; audited if that is news. */
async function identify(
  db: Db,
  caller: Caller,
  { worker, others }: { worker: Worker; others: string[] },
): Promise<Worker> {
  const key = { workspaceId: caller.workspaceId, workerId: worker.id };
  const { identity, replaced } = await makeOne(db, key, others);
  if (replaced.length > 0) {
    await insertAll(db, [identified(caller, worker, { from: replaced, to: identity })]);
  }
  return { ...worker, identity };
}

function identified(caller: Caller, worker: Worker, change: { from: string[]; to: string }): Write {
  const details = { identity: change };
  return auditWrite(caller, { action: 'worker.identify', targetId: worker.id, details });
}

async function lockWorker(db: Db, workspaceId: string, address: string): Promise<Worker> {
  const row = await selectByAddress(db, workspaceId, address).forUpdate().executeTakeFirst();
  if (!row) throw notFound(address);
  return toWorker(row);
}

function taken(address: string, cause?: unknown): AppError {
  return new AppError('conflict', `There is already a worker with the address ${address}.`, { cause });
}

function selectByAddress(db: Db, workspaceId: string, address: string) {
  return db
    .selectFrom('workers')
    .select(columns)
    .where('workspace_id', '=', workspaceId)
    .where((where) => where(where.fn<string>('lower', ['address']), '=', address.toLowerCase()));
}

/** The actual changes, for the audit log. */
function changed(before: Worker, after: Worker): Record<string, unknown> {
  const fields = (['name', 'licences'] as const).filter(
    (field) => !isDeepStrictEqual(before[field], after[field]),
  );
  return Object.fromEntries(fields.map((field) => [field, { from: before[field], to: after[field] }]));
}

function notFound(address: string): AppError {
  return new AppError('resource_not_found', `There is no worker ${address}.`);
}

function toWorker(row: WorkerRow): Worker {
  const { id, name, address, licences } = row;
  return {
    id,
    name,
    address,
    licences: licences.map(wholeLicence),
    keyHolder: row.key_holder,
    userId: row.user_id,
    identity: row.identity ?? row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
