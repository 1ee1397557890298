/** Workers with their passkeys in SQL, and the chain of statements about them. */
import { sql } from 'kysely';
import {
  type AnchorColumns,
  type AnchorState,
  anchorColumns,
  anchorStateOf,
  joinAnchor,
  leafKey,
} from '../../anchoring/anchored.ts';
import { firstLeaf, pendingLeaf } from '../../anchoring/batching/pending.ts';
import { fromBytea, type HexText } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { recordContent } from '../../holdings/records/record-content.ts';
import {
  type PasskeyDocument,
  type PasskeyRegistration,
  registrationFormat,
} from '../../proof/signoff/passkey-document.ts';
import { AppError } from '../../runtime/errors.ts';

export interface PasskeyWorker {
  id: string;
  /** EIP-55. */
  address: string;
  name: string;
  keyHolder: 'service' | 'worker' | 'passkey';
}

export interface Passkey {
  id: string;
  workerId: string;
  /** `unsigned`: a second person has confirmed it, and the worker has not signed it yet. */
  state: 'unconfirmed' | 'unsigned' | 'active' | 'refused' | 'revoked';
  credentialId: Buffer;
  publicKey: Buffer;
  rpId: string;
  counter: number;
  made: Made;
  /** Of the statement that registered it; null until then. */
  registration: { number: number; hash: HexText } | null;
  createdAt: Date;
}

/** How it was made, and by whom it was confirmed: the rest of the document that is anchored. */
export type Made = Pick<PasskeyRegistration, 'attestation' | 'invitedBy' | 'invitedWith' | 'registeredAt'> &
  Partial<Pick<PasskeyRegistration, 'confirmedBy' | 'confirmedAt' | 'receivedAt'>>;

/** `lock`: until the transaction ends, so that statements about one worker come one after the other. */
export async function lockWorker(
  db: Db,
  workspaceId: string,
  which: { id: string } | { address: string },
  { lock = true } = {},
): Promise<PasskeyWorker> {
  let select = db
    .selectFrom('workers')
    .select(['id', 'address', 'name', 'key_holder'])
    .where('workspace_id', '=', workspaceId);
  select =
    'id' in which
      ? select.where('id', '=', which.id)
      : select.where((where) =>
          where(where.fn<string>('lower', ['address']), '=', which.address.toLowerCase()),
        );
  if (lock) select = select.forNoKeyUpdate();
  const row = await select.executeTakeFirst();
  if (!row) {
    throw new AppError(
      'resource_not_found',
      `There is no worker ${'id' in which ? which.id : which.address}.`,
    );
  }
  const { id, address, name, key_holder: keyHolder } = row;
  return { id, address, name, keyHolder };
}

/** All passkeys of a worker, oldest first; or one of them, by its id or its credential. */
interface WhichPasskeys {
  id?: string;
  credentialId?: Buffer;
  /** An id. */
  after?: string | undefined;
  limit?: number;
  lock?: boolean;
}

export async function readPasskeys(
  db: Db,
  { workspaceId, workerId }: { workspaceId: string; workerId: string },
  { id, credentialId, after, limit, lock = false }: WhichPasskeys = {},
): Promise<Passkey[]> {
  let select = db
    .selectFrom('worker_passkeys')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('worker_id', '=', workerId)
    .orderBy('id');
  if (id !== undefined) select = select.where('id', '=', id);
  if (credentialId !== undefined) {
    select = select.where('credential_id', '=', credentialId).where('state', '<>', 'refused');
  }
  if (after !== undefined) select = select.where('id', '>', after);
  if (limit !== undefined) select = select.limit(limit);
  if (lock) select = select.forUpdate();
  return (await select.execute()).map((row) => ({
    id: row.id,
    workerId: row.worker_id,
    state: row.state,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    rpId: row.rp_id,
    counter: Number(row.counter),
    made: row.made as unknown as Made,
    registration:
      row.number === null || row.hash === null ? null : { number: row.number, hash: fromBytea(row.hash) },
    createdAt: row.created_at,
  }));
}

/** Where the next statement about a worker's passkeys goes. */
export interface StatementPlace {
  number: number;
  previousLeaf: Buffer;
  vault: { id: string; address: string };
}

/** `sealedBy`: the id of the vault that seals it; absent: one that is active. The worker is locked. */
export async function nextPlace(
  db: Db,
  { workspaceId, workerId, sealedBy }: { workspaceId: string; workerId: string; sealedBy?: string },
): Promise<StatementPlace> {
  const { number, previousLeaf } = await nextStatement(db, { workspaceId, workerId });
  return { number, previousLeaf, vault: await sealingVault(db, workspaceId, sealedBy) };
}

/** Anchors a statement about a worker's passkey: the next one of the worker's chain. */
export async function addStatement(
  db: Db,
  passkey: Pick<Passkey, 'id' | 'workerId'>,
  { document, place }: { document: PasskeyDocument; place: StatementPlace },
): Promise<{ number: number; hash: HexText }> {
  const { workspaceId } = document;
  const { number, previousLeaf, vault } = place;
  const { data, salt, digest, bytes } = recordContent(document, 'statement');
  const { write } = pendingLeaf({
    workspaceId,
    kind: 'passkey',
    subjectId: passkey.workerId,
    version: number,
    vault,
    digest,
    canonicalization: 'jcs',
    previousLeaf,
    claims: {
      worker: document.workerAddress,
      state: document.format === registrationFormat ? 'registered' : 'revoked',
    },
    storedBytes: bytes,
  });
  const row = {
    workspace_id: workspaceId,
    worker_id: passkey.workerId,
    number,
    vault_id: vault.id,
    passkey_id: passkey.id,
    document: data,
    salt,
    hash: digest,
    created_at: new Date(),
  };
  await insertAll(db, [{ table: 'passkey_statements', row }, write]);
  return { number, hash: fromBytea(digest) };
}

/** The id of the vault that sealed a statement. */
export async function vaultOfStatement(
  db: Db,
  { workspaceId, workerId, number }: { workspaceId: string; workerId: string; number: number },
): Promise<string> {
  const { vault_id } = await db
    .selectFrom('passkey_statements')
    .select('vault_id')
    .where('workspace_id', '=', workspaceId)
    .where('worker_id', '=', workerId)
    .where('number', '=', number)
    .executeTakeFirstOrThrow();
  return vault_id;
}

export interface Statement extends AnchorState {
  workerId: string;
  number: number;
  /** RFC 8785 form. */
  document: string;
  salt: Buffer;
  hash: HexText;
}

/** The statements about these workers, in their order. */
export async function readStatements(
  db: Db,
  workspaceId: string,
  workerIds: readonly string[],
): Promise<Statement[]> {
  const { rows } = await sql<
    AnchorColumns & { worker_id: string; number: number; document: string; salt: Buffer; hash: Buffer }
  >`
    select s.worker_id, s.number, s.document, s.salt, s.hash, ${sql.raw(anchorColumns)}
    from unnest(${workerIds}::text[]) as wanted (id)
    join passkey_statements s on s.workspace_id = ${workspaceId} and s.worker_id = wanted.id
    ${sql.raw(joinAnchor(leafKey('passkey', 's')))}
    order by s.worker_id, s.number`.execute(db);
  return rows.map((row) => ({
    workerId: row.worker_id,
    number: row.number,
    document: row.document,
    salt: row.salt,
    hash: fromBytea(row.hash),
    ...anchorStateOf(row),
  }));
}

/** The same, of the workers with these addresses. */
export async function readStatementsOf(
  db: Db,
  workspaceId: string,
  addresses: readonly string[],
): Promise<Statement[]> {
  const { rows } = await sql<{ id: string }>`
    select w.id from unnest(${addresses.map((address) => address.toLowerCase())}::text[]) as wanted (address)
    join workers w on w.workspace_id = ${workspaceId} and lower(w.address) = wanted.address`.execute(db);
  return readStatements(
    db,
    workspaceId,
    rows.map(({ id }) => id),
  );
}

async function nextStatement(
  db: Db,
  { workspaceId, workerId }: { workspaceId: string; workerId: string },
): Promise<{ number: number; previousLeaf: Buffer }> {
  const { rows } = await sql<{ number: number | null; leaf: Buffer | null }>`
    select last.number, l.leaf from workers w
    left join lateral (
      select * from passkey_statements s where s.workspace_id = w.workspace_id and s.worker_id = w.id
      order by number desc limit 1
    ) as last on true
    left join anchor_leaves l on l.workspace_id = w.workspace_id and l.kind = 'passkey'
      and l.subject_id = w.id and l.version = last.number
    where w.workspace_id = ${workspaceId} and w.id = ${workerId}`.execute(db);
  const [row] = rows;
  if (!row) throw new Error(`there is no worker ${workerId}`);
  return { number: (row.number ?? 0) + 1, previousLeaf: row.leaf ?? firstLeaf };
}

/** A worker belongs to no vault: the oldest active one of the workspace seals. */
async function sealingVault(
  db: Db,
  workspaceId: string,
  sealedBy: string | undefined,
): Promise<{ id: string; address: string }> {
  const vaults = db.selectFrom('vaults').select(['id', 'address']).where('workspace_id', '=', workspaceId);
  const chosen =
    sealedBy === undefined ? vaults.where('status', '=', 'active') : vaults.where('id', '=', sealedBy);
  const vault = await chosen.orderBy('id').limit(1).executeTakeFirst();
  if (vault) return vault;
  throw new AppError(
    'conflict',
    'The workspace has no active vault to seal the registration of a passkey. Create one first.',
  );
}
