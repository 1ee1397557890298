/** A check of what was written since a time: it finds what is wrong there, and reads nothing that is older. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { auditCheck } from '../../src/access/audit/audit.check.ts';
import { leavesPass } from '../../src/anchoring/batching/leaves.check.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { walkSettings } from '../../src/db/rows-pass.ts';
import { recordsCheck } from '../../src/holdings/records/records.check.ts';
import { type CheckReport, runEach } from '../../src/runtime/check.ts';
import { idBound } from '../../src/runtime/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/service/database.ts';
import { countEntries } from '../support/service/index-entries.ts';

const old = 20_000;
const recent = 30;
const hourMs = 60 * 60 * 1000;
const since = new Date(Date.now() - 24 * hourMs);

let created: TestDatabase;
/** As `fsck` opens it, with one connection. */
let database: Database;

/** All rows are wrong: each that is looked at is found. */
before(async () => {
  created = await createTestDatabase({ fresh: true });
  database = openDatabase({
    connection: () => ({ connectionString: created.url }),
    settings: walkSettings,
    onError() {},
    max: 1,
  });
  await sql`set session_replication_role = replica`.execute(database.db);
  await fill(old, new Date(since.getTime() - 30 * 24 * hourMs));
  await fill(recent, new Date(Date.now() - hourMs));
  await sql`set session_replication_role = origin`.execute(database.db);
});
after(async () => {
  await database.close();
  await created.drop();
});

/** In three workspaces: audit entries and records. */
async function fill(rows: number, at: Date): Promise<void> {
  const { db } = database;
  const numbered = sql`
    select 'ws_' || n % 3 as workspace_id, lpad(n::text, 16, '0') as digits from generate_series(1, ${rows}::integer) as n`;
  await sql`
    insert into audit_entries (at, workspace_id, id, actor_kind, actor_id, action, target_id, digest)
    select ${at}, workspace_id, ${idBound('aud', at)} || digits, 'key', 'key_1', 'vault.create', 'vlt_1', ''
    from (${numbered}) as n`.execute(db);
  const id = sql`${idBound('rec', at)} || digits`;
  await addRecords(at, sql`select workspace_id, ${id} as id, 1 as version from (${numbered}) as n`);
}

async function addRecords(at: Date, rows: ReturnType<typeof sql>): Promise<void> {
  await sql`
    insert into anchor_leaves (created_at, version, workspace_id, kind, subject_id, vault_id, canonicalization, digest,
      previous_leaf, claims_hash, leaf, data, salt)
    select ${at}, version, workspace_id, 'record', id, 'vlt_1', 'jcs', sha256(''), sha256(''), sha256(''), sha256(''), '{}',
      sha256('')
    from (${rows}) as rows`.execute(database.db);
}

function summary([report]: CheckReport[]) {
  return { checked: report?.checked, found: report?.found, notLookedAt: report?.notLookedAt };
}

const check = (checks: Parameters<typeof runEach>[0]) => runEach(checks, { settleMs: 0, since });

test('finds what is wrong with the audit entries of the time, and reads no others', async () => {
  const entries = await countEntries(database.pool, {
    index: 'audit_entries_pkey',
    work: async () => {
      const reports = await check([auditCheck(database.db)]);
      // Changed, and not in the chain.
      assert.deepEqual(summary(reports), { checked: recent, found: 2 * recent, notLookedAt: undefined });
    },
  });
  assert.ok(entries < 4 * recent, `${entries} entries read`);
});

test('finds what is wrong with the leaves of the time by the order of their numbers', async () => {
  const entries = await countEntries(database.pool, {
    index: 'anchor_leaves_pkey',
    work: async () => {
      const [report] = await check([{ name: 'leaves', passes: [leavesPass(database.db)] }]);
      const { checked = 0, found = 0 } = report ?? {};
      assert.ok(checked >= recent && checked <= recent + 1 && found >= recent, `${checked}, ${found}`);
    },
  });
  assert.ok(entries < 5 * recent, `${entries} entries read`);
});

test('finds new versions of old records by their leaves', async () => {
  const first = sql`
    select workspace_id, id, 2 as version from records where version = 1 and workspace_id = 'ws_1' order by id limit 5`;
  await sql`set session_replication_role = replica`.execute(database.db);
  await addRecords(new Date(), first);
  const entries = await countEntries(database.pool, {
    index: 'anchor_leaves_workspace_id_subject_id_kind_version_key',
    work: async () => {
      const [report] = await check([recordsCheck(database.db)]);
      assert.deepEqual([report?.checked, report?.notLookedAt], [recent + 5 + 1, ['storage of workspaces']]);
      const versions = report?.findings.map(({ ids }) => ids.version);
      assert.equal(versions?.filter((version) => version === 2).length, 5);
    },
  });
  assert.ok(entries < 20 * recent, `${entries} entries read`);
});

test('looks at nothing if nothing was written', async () => {
  const [report] = await runEach([auditCheck(database.db), recordsCheck(database.db)], {
    settleMs: 0,
    since: new Date(Date.now() + 24 * hourMs),
  });
  assert.deepEqual([report?.checked, report?.found], [0, 0]);
});
