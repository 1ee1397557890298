/** API keys: create, list, revoke, and find the caller of a request. */
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { locks } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { isStatementFault } from '../../db/faults.ts';
import { gather } from '../../db/gather.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { budgetExceeded, type OwnLimits } from '../../runtime/budgets.ts';
import {
  scopes as allScopes,
  type Caller,
  isAtLeast,
  may,
  onBehalf,
  type Scope,
} from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { auditWrite } from '../audit/audit.ts';
import { makesOperatorKeys } from '../people/operators.ts';
import { limitInSql } from '../workspaces/workspace-limits.ts';
import { hashApiKey, hintOf, isApiKey, newApiKey } from './api-key-text.ts';

export interface ApiKey {
  id: string;
  name: string;
  hint: string;
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

export interface NewApiKey {
  name: string;
  /** Empty: all scopes, except the one that must be named. */
  scopes: Scope[];
  expiresAt: Date | null;
}

export interface ApiKeys {
  /** Without asking a second person: for the command line, and the first start. */
  create(caller: Caller, input: NewApiKey): Promise<MadeKey>;
  /** Inside a transaction. */
  createIn(db: Db, caller: Caller, input: NewApiKey): Promise<MadeKey>;
  list(workspaceId: string, page: { before: string | undefined; limit: number }): Promise<ApiKey[]>;
  revoke(caller: Caller, id: string): Promise<void>;
  /** The holder of this key, read from the database each time: every node refuses a revoked key from the next request on. */
  findCaller(key: string, requestId: string): Promise<Caller | null>;
  /** Saves when keys were last used. Collected in memory, because a write per request would cost too much. */
  saveLastUsed(): Promise<void>;
}

export interface MadeKey {
  /** Available only now. */
  key: string;
  apiKey: ApiKey;
}

interface HolderRow {
  secret_hash: Buffer;
  workspace_id: string;
  id: string;
  scopes: Scope[];
  expires_at: Date | null;
  limits: OwnLimits;
}

export function createApiKeys({ db, pool }: { db: Db; pool: Pool }): ApiKeys {
  const lastUsed = new Map<string, { workspaceId: string; at: Date }>();

  const findHolder = gather<Buffer, HolderRow | null>({
    maxInFlight: 2,
    maxItems: 500,
    isItemFault: isStatementFault,
    async run(hashes) {
      const { rows } = await pool.query<HolderRow>({
        name: 'api-key-holders',
        text: `select secret_hash, workspace_id, id, scopes, expires_at,
                 (select limits from workspaces w where w.id = api_keys.workspace_id limit 1) as limits
               from api_keys
               where secret_hash = any($1::bytea[]) and revoked_at is null
                 and (expires_at is null or expires_at > now())`,
        values: [distinct(hashes)],
      });
      const byHash = new Map(rows.map((row) => [row.secret_hash.toString('latin1'), row]));
      return hashes.map((hash) => byHash.get(hash.toString('latin1')) ?? null);
    },
  });

  async function createIn(db: Db, caller: Caller, input: NewApiKey): Promise<MadeKey> {
    refuseEscalation(caller, input);
    if (input.expiresAt && input.expiresAt.getTime() <= Date.now()) {
      throw new AppError('invalid_request', 'expiresAt must be in the future.');
    }
    const key = newApiKey();
    const apiKey: ApiKey = {
      id: newId('key'),
      name: input.name,
      hint: hintOf(key),
      scopes: input.scopes,
      createdAt: new Date(),
      expiresAt: input.expiresAt,
      lastUsedAt: null,
      revokedAt: null,
    };
    const made = { key, apiKey };
    // The operator sets the limit, and can always create a key on the command line.
    if (caller.actor.kind !== 'command') await refuseTooMany(db, caller.workspaceId);
    const ofOperator = await makesOperatorKeys(db, caller);
    const madeBy = caller.person?.userId ?? (await findMaker(db, caller));
    await insertAll(db, keyWrites(caller, made, { ofOperator, madeBy }));
    return made;
  }

  return {
    create: (caller, input) => db.transaction().execute((db) => createIn(db, caller, input)),
    createIn,

    async list(workspaceId, { before, limit }) {
      let select = db
        .selectFrom('api_keys')
        .select(['id', 'name', 'hint', 'scopes', 'created_at', 'expires_at', 'last_used_at', 'revoked_at'])
        .where('workspace_id', '=', workspaceId)
        .orderBy('id', 'desc')
        .limit(limit);
      if (before !== undefined) select = select.where('id', '<', before);
      const rows = await select.execute();
      return rows.map((row) => ({
        id: row.id,
        name: row.name,
        hint: row.hint,
        scopes: row.scopes as Scope[],
        createdAt: row.created_at,
        expiresAt: row.expires_at,
        lastUsedAt: row.last_used_at,
        revokedAt: row.revoked_at,
      }));
    },

    async revoke(caller, id) {
      await db.transaction().execute(async (db) => {
        const found = await db
          .selectFrom('api_keys')
          .select('revoked_at')
          .where('workspace_id', '=', caller.workspaceId)
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst();
        if (!found) throw new AppError('resource_not_found', `There is no API key ${id}.`);
        if (found.revoked_at) return;
        await db
          .updateTable('api_keys')
          .set({ revoked_at: new Date() })
          .where('workspace_id', '=', caller.workspaceId)
          .where('id', '=', id)
          .execute();
        await insertAll(db, [auditWrite(caller, { action: 'api_key.revoke', targetId: id })]);
      });
    },

    async findCaller(key, requestId) {
      if (!isApiKey(key)) return null;
      const holder = await findHolder(hashApiKey(key));
      if (!holder) return null;
      lastUsed.set(holder.id, { workspaceId: holder.workspace_id, at: new Date() });
      return {
        workspaceId: holder.workspace_id,
        actor: { kind: 'api_key', id: holder.id },
        scopes: holder.scopes,
        requestId,
        expiresAt: holder.expires_at,
        limits: holder.limits,
      };
    },

    async saveLastUsed() {
      if (lastUsed.size === 0) return;
      const entries = [...lastUsed];
      await pool.query({
        name: 'api-keys-last-used',
        text: `update api_keys k set last_used_at = greatest(k.last_used_at, used.at)
               from unnest($1::text[], $2::text[], $3::timestamptz[]) as used (workspace_id, id, at)
               where k.workspace_id = used.workspace_id and k.id = used.id`,
        values: [
          entries.map(([, { workspaceId }]) => workspaceId),
          entries.map(([id]) => id),
          entries.map(([, { at }]) => at),
        ],
      });
      for (const [id, use] of entries) if (lastUsed.get(id) === use) lastUsed.delete(id);
    },
  };
}

/** Serialises key creation in a workspace, so that concurrent requests cannot exceed the limit. */
async function refuseTooMany(db: Db, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${locks.apiKeys}, hashtext(${workspaceId}))`.execute(db);
  const { rows } = await sql<{ valid: number; limit: number | null }>`
    select count(*) as valid, ${limitInSql(workspaceId, 'api_keys')} as limit from api_keys
    where workspace_id = ${workspaceId} and revoked_at is null and (expires_at > now() or expires_at is null)`.execute(
    db,
  );
  const { valid = 0, limit = null } = rows[0] ?? {};
  if (limit !== null && valid >= limit) throw budgetExceeded('api_keys', limit);
}

/** A key cannot create a key with more rights or a longer life than its own. */
function refuseEscalation(caller: Caller, { scopes: wanted, expiresAt }: NewApiKey): void {
  if (caller.expiresAt && (!expiresAt || expiresAt > caller.expiresAt)) {
    const end = caller.expiresAt.toISOString();
    throw new AppError(
      'forbidden',
      `A key cannot create a key that outlives it: set expiresAt to ${end} or earlier.`,
    );
  }
  if (wanted.includes(onBehalf) && !mayGrantOnBehalf(caller)) {
    throw new AppError(
      'forbidden',
      `Only an admin or an owner who is signed in, or the operator on the command line, can create a key with the scope ${onBehalf}.`,
    );
  }
  if (caller.scopes.length === 0) return;
  const beyond = (wanted.length === 0 ? ordinaryScopes : wanted).filter((scope) => !may(caller, scope));
  if (beyond.length === 0) return;
  const which =
    wanted.length === 0 ? 'every scope (list the scopes that the new key should have)' : beyond.join(', ');
  throw new AppError('forbidden', `A key cannot grant scopes that it does not have itself: ${which}.`);
}

const ordinaryScopes = allScopes.filter((scope) => scope !== onBehalf);

function mayGrantOnBehalf(caller: Caller): boolean {
  if (caller.person) return isAtLeast(caller.person.role, 'admin');
  return caller.actor.kind === 'command' || may(caller, onBehalf);
}

/** The person behind an API key; null for one that was made on the command line, and for other actors. */
export async function findMaker(
  db: Db,
  { workspaceId, actor }: { workspaceId: string; actor: { kind: string; id: string } },
): Promise<string | null> {
  if (actor.kind !== 'api_key') return null;
  const key = await db
    .selectFrom('api_keys')
    .select('made_by')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', actor.id)
    .executeTakeFirst();
  return key?.made_by ?? null;
}

function keyWrites(
  caller: Caller,
  { key, apiKey }: MadeKey,
  { ofOperator, madeBy }: { ofOperator: boolean; madeBy: string | null },
): Write[] {
  const { id, name, hint, scopes, createdAt, expiresAt } = apiKey;
  return [
    {
      table: 'api_keys',
      row: {
        workspace_id: caller.workspaceId,
        id,
        name,
        hint,
        secret_hash: hashApiKey(key),
        scopes,
        of_operator: ofOperator,
        made_by: madeBy,
        expires_at: expiresAt,
        created_at: createdAt,
      },
    },
    auditWrite(caller, {
      action: 'api_key.create',
      targetId: id,
      details: { name, scopes, expiresAt: expiresAt?.toISOString() ?? null },
    }),
  ];
}

function distinct(hashes: Buffer[]): Buffer[] {
  return [...new Map(hashes.map((hash) => [hash.toString('latin1'), hash])).values()];
}
