/** Rounds of validations on a real database, with proofs and a chain that the test controls. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { fixed, registry } from '../../../../test/support/fixtures/proof-fixture.ts';
import { openTestDatabase } from '../../../../test/support/service/database.ts';
import { createWorkspace } from '../../../access/workspaces/workspaces.ts';
import { firstLeaf, pendingLeaf } from '../../../anchoring/batching/pending.ts';
import { NotAsAnchored } from '../../../anchoring/proofs.ts';
import type { Lead } from '../../../chain/chain.ts';
import { toBytea } from '../../../db/bytea.ts';
import { LostLead } from '../../../db/leadership.ts';
import { insertAll } from '../../../db/writes.ts';
import { AppError } from '../../../runtime/errors.ts';
import { newId } from '../../../runtime/ids.ts';
import { completeValidations } from './file-validation-results.ts';
import { findOpen } from './file-validations.store.ts';
import { createFileValidator } from './file-validator.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let workspaceId: string;
let vaults: { id: string; address: string }[];
let batchId: number;
let places = 0;
/** The error of a file's proof, by file. */
let proofFaults: Map<string, Error>;
let chainAway: boolean;

before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  ({ id: workspaceId } = await createWorkspace(db, { name: 'Validated' }));
  vaults = [1, 2].map((byte) => ({ id: newId('vlt'), address: `0x${String(byte).repeat(40)}` }));
  await db
    .insertInto('vaults')
    .values(
      vaults.map(({ id, address }) => ({
        workspace_id: workspaceId,
        id,
        name: 'V',
        description: '',
        address,
        status: 'active',
      })),
    )
    .execute();
  const account = Buffer.alloc(20, 1);
  await db.insertInto('sender_accounts').values({ address: account, next_nonce: 1 }).execute();
  const outgoing = await db
    .insertInto('outgoing_transactions')
    .values({
      account,
      nonce: 0,
      purpose: 'anchor',
      to_address: account,
      call_data: Buffer.alloc(0),
      gas_limit: 1,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const batch = await db
    .insertInto('anchor_batches')
    .values({
      root: toBytea(fixed(1)),
      size: 1000,
      outgoing_id: outgoing.id,
      status: 'confirmed',
      transaction_hash: toBytea(fixed(2)),
      block_number: 1,
      block_hash: toBytea(fixed(3)),
      block_time: 1_800_000_000,
      evidence_root: Buffer.alloc(32),
      head_path: Buffer.alloc(0),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  batchId = batch.id;
});
after(() => database?.close());

beforeEach(async () => {
  proofFaults = new Map();
  chainAway = false;
  await database.db.deleteFrom('file_validations').where('result', 'is', null).execute();
});

const digest = toBytea(fixed(0xd1));

async function makeFile({ confirmed = true } = {}): Promise<string> {
  const { db } = database;
  const id = newId('fil');
  const [vault] = vaults as [{ id: string; address: string }];
  const { leaf, write } = pendingLeaf({
    workspaceId,
    kind: 'file',
    subjectId: id,
    version: 1,
    vault,
    digest,
    canonicalization: 'raw',
    previousLeaf: firstLeaf,
    claims: {},
  });
  const key = { workspace_id: workspaceId, vault_id: vault.id, version: 1 };
  await insertAll(db, [
    { table: 'files', row: { ...key, id, last_leaf: leaf, transfer_id: null } },
    {
      table: 'file_versions',
      row: {
        ...key,
        file_id: id,
        name: 'a',
        media_type: 'text/plain',
        size: null,
        canonicalization: 'raw',
        content_hash: digest,
        blob_id: null,
        expiration_date: null,
      },
    },
    write,
  ]);
  if (confirmed) await confirm(id);
  // No proof can be assembled from a batch that was never built.
  proofFaults.set(id, new NotAsAnchored(id));
  return id;
}

async function confirm(fileId: string): Promise<void> {
  places += 1;
  await sql`
    insert into anchor_places (first_id, batch_id, places)
    select id, ${batchId}, array[${places}::integer] from anchor_leaves
    where subject_id = ${fileId} and kind = 'file'`.execute(database.db);
}

async function ask(
  fileId: string,
  { hash = digest, vault = 0 }: { hash?: Buffer; vault?: number | null } = {},
): Promise<string> {
  const id = newId('val');
  await database.db
    .insertInto('file_validations')
    .values({
      workspace_id: workspaceId,
      id,
      file_id: fileId,
      file_version: 1,
      presented_hash: hash,
      vault_id: vault === null ? null : (vaults[vault]?.id ?? ''),
    })
    .execute();
  return id;
}

const rowOf = (id: string) =>
  database.db.selectFrom('file_validations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

function makeValidator(atOnce = 100) {
  const woken: string[] = [];
  const validator = createFileValidator({
    db: database.db,
    proofs: {
      async make({ subjectId }) {
        throw proofFaults.get(subjectId) ?? new Error('not asked for');
      },
    },
    registry,
    eventWakeup: { wake: () => woken.push('woken') },
    log: { info() {}, error() {} },
    atOnce,
  });
  return { ...validator, woken };
}

function leadOf({ commit }: { commit?: Lead['term']['commit'] } = {}): Lead {
  const term = {
    epoch: 1,
    signal: new AbortController().signal,
    commit: commit ?? ((work) => database.db.transaction().execute(work)),
  } satisfies Lead['term'];
  const request = async () => {
    if (chainAway) throw new Error('the chain is away');
    return '0x1';
  };
  return { term, chain: { client: { request } } as never };
}

test('numbers the results of a file in request order, each with its leaf, event and audit entry', async () => {
  const file = await makeFile();
  const asked = [await ask(file), await ask(file, { hash: toBytea(fixed(0xd2)), vault: 1 })];
  const validator = makeValidator();
  assert.equal(await validator.step(leadOf()), false);
  const { db } = database;
  const of = { file_id: file, authenticity: false, result: 'invalid' };
  const rows = await Promise.all(asked.map(rowOf));
  assert.partialDeepStrictEqual(rows, [
    { ...of, number: 1, integrity: true, ownership: true },
    { ...of, number: 2, integrity: false, ownership: false },
  ]);
  const leaves = await db
    .selectFrom('anchor_leaves')
    .selectAll()
    .where('subject_id', '=', file)
    .orderBy('id')
    .execute();
  const [version, ...validations] = leaves;
  assert.deepEqual(
    validations.map(({ kind, version, vault_id, digest, previous_leaf }) => ({
      kind,
      version,
      vault_id,
      digest,
      previous_leaf,
    })),
    rows.map(({ number, presented_hash }) => ({
      kind: 'validation',
      version: number,
      // The owner seals the result, whatever owner was claimed.
      vault_id: vaults[0]?.id,
      digest: presented_hash,
      previous_leaf: version?.leaf,
    })),
  );
  const { salt, ...claims } = JSON.parse(validations[1]?.claims ?? '');
  assert.match(salt, /^0x[0-9a-f]{64}$/);
  const verdict = { result: 'invalid', integrity: false, authenticity: false, ownership: false };
  const validatedAt = rows[1]?.validated_at?.toISOString();
  assert.deepEqual(claims, {
    validationId: asked[1],
    fileVersion: 1,
    vaultAddress: vaults[1]?.address,
    validatedAt,
    ...verdict,
  });
  const events = await db.selectFrom('events').select(['type', 'envelope']).orderBy('id').execute();
  assert.deepEqual(
    events.map(({ envelope }) => JSON.parse(envelope).data).filter(({ file_id }) => file_id === file)[1],
    {
      file_id: file,
      vault_id: vaults[1]?.id,
      version: 1,
      validation_id: asked[1],
      ...verdict,
      validated_at: validatedAt,
    },
  );
  const audited = await db
    .selectFrom('audit_entries')
    .select('action')
    .where('target_id', '=', file)
    .execute();
  assert.deepEqual(audited, [{ action: 'file.complete_validation' }, { action: 'file.complete_validation' }]);
  assert.deepEqual(validator.woken, ['woken']);

  await ask(file);
  await makeValidator().step(leadOf());
  assert.deepEqual(
    (
      await db
        .selectFrom('file_validations')
        .select('number')
        .where('file_id', '=', file)
        .orderBy('id')
        .execute()
    ).map(({ number }) => number),
    [1, 2, 3],
  );
});

test('checks ownership against the current owner if no vault is given', async () => {
  const fileId = await makeFile();
  const [asked, named] = [await ask(fileId, { vault: null }), await ask(fileId, { vault: 0 })];
  await database.db
    .updateTable('files')
    .set({ vault_id: vaults[1]?.id ?? '' })
    .where('id', '=', fileId)
    .execute();
  await makeValidator().step(leadOf());
  assert.equal((await rowOf(asked)).ownership, true);
  assert.equal((await rowOf(named)).ownership, false);
});

test('validates a version once it is confirmed', async () => {
  const file = await makeFile({ confirmed: false });
  const id = await ask(file);
  const validator = makeValidator();
  await validator.step(leadOf());
  assert.equal((await rowOf(id)).result, null);
  await confirm(file);
  await validator.step(leadOf());
  assert.equal((await rowOf(id)).result, 'invalid');
});

test('a validation that cannot be judged waits without holding up those after it', async () => {
  const stuck = await makeFile();
  proofFaults.set(stuck, new AppError('conflict', 'not confirmed any more'));
  const broken = await makeFile();
  proofFaults.set(broken, new SyntaxError('the claims are no JSON'));
  const file = await makeFile();
  const waiting = [await ask(stuck), await ask(broken)];
  const id = await ask(file);
  const validator = makeValidator(2);
  assert.equal(await validator.step(leadOf()), true);
  assert.equal(await validator.step(leadOf()), false);
  assert.equal((await rowOf(id)).result, 'invalid');
  for (const each of waiting) assert.equal((await rowOf(each)).result, null);
  assert.equal((await findOpen(database.db, { without: [], limit: 10 })).length, 2);
});

test('leaves everything pending and throws while the chain is unreachable', async () => {
  const id = await ask(await makeFile());
  chainAway = true;
  const validator = makeValidator();
  await assert.rejects(validator.step(leadOf()), /the chain is away/);
  assert.equal((await rowOf(id)).result, null);
  chainAway = false;
  await validator.step(leadOf());
  assert.equal((await rowOf(id)).result, 'invalid');
});

test('keeps earlier results if the chain becomes unreachable during a round', async () => {
  const [file, other] = [await makeFile(), await makeFile()];
  const ids = [await ask(file), await ask(other)];
  proofFaults.set(other, new AppError('conflict', 'gone'));
  const lead = leadOf();
  const answers = ['0x1'];
  lead.chain = {
    client: { request: async () => answers.shift() ?? Promise.reject(new Error('the chain is away')) },
  } as never;
  await assert.rejects(makeValidator().step(lead), /the chain is away/);
  assert.deepEqual(await Promise.all(ids.map(async (id) => (await rowOf(id)).result)), ['invalid', null]);
});

test('writes nothing after the node has lost the lead', async () => {
  const id = await ask(await makeFile());
  const commit = () => Promise.reject(new LostLead());
  const validator = makeValidator();
  await assert.rejects(validator.step(leadOf({ commit })), LostLead);
  assert.deepEqual(validator.woken, []);
  assert.equal((await rowOf(id)).result, null);
});

test('only the first of two results for the same validation is stored', async () => {
  const { db } = database;
  const file = await makeFile();
  await ask(file);
  const judged = (await findOpen(db, { without: [], limit: 10 })).map((open) => ({
    ...open,
    authenticity: true,
  }));
  const complete = () => db.transaction().execute((db) => completeValidations(db, judged));
  assert.deepEqual((await Promise.all([complete(), complete()])).sort(), [0, 1]);
  const [{ leaves, events }] = (await db
    .selectNoFrom(({ selectFrom, fn }) => [
      selectFrom('anchor_leaves')
        .select(fn.countAll<number>().as('count'))
        .where('subject_id', '=', file)
        .where('kind', '=', 'validation')
        .as('leaves'),
      selectFrom('events')
        .select(fn.countAll<number>().as('count'))
        .where('envelope', 'like', `%${file}%`)
        .as('events'),
    ])
    .execute()) as [{ leaves: number; events: number }];
  assert.deepEqual({ leaves: Number(leaves), events: Number(events) }, { leaves: 1, events: 1 });
});
