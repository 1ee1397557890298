/**
 * Retention: how long a vault keeps the data of records and the content of files. What is older is erased in small steps,
 * each of which is one commit with its audit entries and its progress; what is held is left out.
 */
import { sql } from 'kysely';
import type { DefineStep, TakeStep } from '../../access/approvals/steps.ts';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Archive } from '../../anchoring/archive/archive.ts';
import type { Blobs } from '../../blobs/blobs.ts';
import { locks, tryWithLock } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { eraseWholeFile } from '../files/file-erasure.ts';
import { type ErasureJournal, retentionCaller } from '../holds/erasures.ts';
import { findHeld, keepHolds } from '../holds/holds.ts';
import { findReleased } from '../holds/release-holds.store.ts';
import { eraseWholeRecord } from '../records/record-erasure.ts';
import { holdVault } from '../vaults/held-vault.ts';
import type { Vaults } from '../vaults/vaults.ts';
import { findOld, type OldThing, type RetainedKind } from './retention.store.ts';

/** Days; null: kept for ever. */
export interface RetentionPeriods {
  recordDays: number | null;
  fileDays: number | null;
}

export interface Retention extends RetentionPeriods {
  /** What retention has erased in this vault so far. */
  erased: number;
  erasedBytes: number;
}

export interface RetentionRules {
  get(workspaceId: string, vaultAddress: string): Promise<Retention>;
  /** What these periods would erase now, without erasing it, and what holds and releases keep. `more`: at least so much. */
  preview(
    workspaceId: string,
    vaultAddress: string,
    periods: RetentionPeriods,
  ): Promise<{ records: number; files: number; bytes: number; held: number; more: boolean }>;
}

export interface RetentionDeps {
  db: Db;
  blobs: Pick<Blobs, 'erase'>;
  journal: Pick<ErasureJournal, 'settle'>;
  archive: Pick<Archive, 'bringBack'>;
  /** Records or files per commit. */
  atOnce?: number;
  now?: () => Date;
}

const dayMs = 24 * 60 * 60 * 1000;
const roundMs = 60 * 60 * 1000;
const mostPreviewed = 10_000;
const kinds = ['record', 'file'] as const;

export function createRetentionRules({
  db,
  vaults,
}: {
  db: Db;
  vaults: Pick<Vaults, 'get'>;
}): RetentionRules {
  return {
    async get(workspaceId, vaultAddress) {
      const { id } = await vaults.get(workspaceId, vaultAddress);
      return read(db, workspaceId, id);
    },

    async preview(workspaceId, vaultAddress, { recordDays, fileDays }) {
      const { id: vaultId } = await vaults.get(workspaceId, vaultAddress);
      const sum = { records: 0, files: 0, bytes: 0, held: 0, more: false };
      for (const [kind, days, figure] of [
        ['record', recordDays, 'records'],
        ['file', fileDays, 'files'],
      ] as const) {
        if (days === null) continue;
        const end = new Date(Date.now() - days * dayMs);
        const things = await findOld(db, {
          workspaceId,
          vaultId,
          kind,
          after: '',
          end,
          limit: mostPreviewed,
        });
        const isHeld = await findHeldOf(db, workspaceId, { vaultId, things });
        const old = things.filter((thing) => thing.open && thing.newestAt < end);
        const due = old.filter((thing) => !isHeld(thing));
        sum[figure] += due.length;
        sum.held += old.length - due.length;
        sum.bytes += due.reduce((bytes, thing) => bytes + thing.bytes, 0);
        sum.more ||= things.length === mostPreviewed;
      }
      return sum;
    },
  };
}

export type RetentionInput = RetentionPeriods & { vaultAddress: string };

/** The step that a request takes, perhaps with a second person: one that is needed where something is erased sooner. */
export function setRetentionStep(define: DefineStep): TakeStep<RetentionInput, Retention> {
  return define<RetentionInput, Retention>('vault.set_retention', async (db, caller, input) => {
    const { workspaceId } = caller;
    const { id, address } = await holdVault(db, { workspaceId, address: input.vaultAddress });
    const before = await read(db, workspaceId, id);
    const after = await put(db, caller, { id, before, periods: input });
    const isSooner = (kind: keyof RetentionPeriods) =>
      after[kind] !== null && (before[kind] === null || after[kind] < before[kind]);
    const periodsOf = ({ recordDays, fileDays }: Retention) => ({ recordDays, fileDays });
    const effect = { vaultAddress: address, before: periodsOf(before), after: periodsOf(after) };
    return {
      result: after,
      subjectId: id,
      effect: isSooner('recordDays') || isSooner('fileDays') ? effect : null,
      answer: { ...after },
    };
  });
}

async function put(
  db: Db,
  caller: Caller,
  {
    id,
    before,
    periods: { recordDays, fileDays },
  }: { id: string; before: Retention; periods: RetentionPeriods },
): Promise<Retention> {
  const { workspaceId } = caller;
  if (before.recordDays === recordDays && before.fileDays === fileDays) return before;
  for (const [kind, days] of [
    ['record', recordDays],
    ['file', fileDays],
  ] as const) {
    if (days === null) {
      await sql`delete from retention_rules
        where workspace_id = ${workspaceId} and vault_id = ${id} and kind = ${kind}`.execute(db);
    } else {
      // A shorter period is due at once.
      await sql`insert into retention_rules (workspace_id, vault_id, kind, days)
        values (${workspaceId}, ${id}, ${kind}, ${days})
        on conflict (workspace_id, vault_id, kind) do update set days = excluded.days, next_round_at = null`.execute(
        db,
      );
    }
  }
  const details = { recordDays, fileDays };
  await insertAll(db, [auditWrite(caller, { action: 'vault.set_retention', targetId: id, details })]);
  return read(db, workspaceId, id);
}

async function read(db: Db, workspaceId: string, vaultId: string): Promise<Retention> {
  const rows = await db
    .selectFrom('retention_rules')
    .select(['kind', 'days', 'erased', 'erased_bytes'])
    .where('workspace_id', '=', workspaceId)
    .where('vault_id', '=', vaultId)
    .execute();
  const daysOf = (kind: RetainedKind) => rows.find((row) => row.kind === kind)?.days ?? null;
  return {
    recordDays: daysOf('record'),
    fileDays: daysOf('file'),
    erased: rows.reduce((sum, row) => sum + row.erased, 0),
    erasedBytes: rows.reduce((sum, row) => sum + row.erased_bytes, 0),
  };
}

export interface RetentionWork {
  /** One small step of a rule that is due; false when none is, 'again' while another node is at it. */
  step(): Promise<boolean | 'again'>;
}

export function createRetentionWork(deps: RetentionDeps): RetentionWork {
  const { db, blobs, journal, archive, atOnce = 100, now = () => new Date() } = deps;
  return {
    async step() {
      const settling: (() => Promise<void>)[] = [];
      const done = await tryWithLock(db, locks.retention, async (db) => {
        const rule = await findDueRule(db, now());
        if (!rule) return false;
        await eraseSome(db, rule, settling);
        return true;
      });
      if (done === true) await journal.settle();
      for (const settle of settling) await settle();
      return done;
    },
  };

  /** Null when a version is too new. */
  async function eraseThing(
    db: Db,
    caller: Caller,
    { kind, thing: { id, open }, end }: { kind: RetainedKind; thing: OldThing; end: Date },
  ): Promise<{ bytes: number; settling?: (() => Promise<void>)[] } | null> {
    if (!open) return { bytes: 0 };
    return kind === 'record'
      ? eraseWholeRecord({ db, archive }, caller, { id, end })
      : eraseWholeFile(db, blobs, { caller, id, end });
  }

  /** Keeps the holds first: no hold is placed between the look and the commit. */
  async function eraseSome(db: Db, rule: DueRule, settling: (() => Promise<void>)[]): Promise<void> {
    const { workspaceId, vaultId, kind } = rule;
    await keepHolds(db, workspaceId);
    const end = new Date(now().getTime() - rule.days * dayMs);
    const after = rule.lookedAt > rule.beginsAt ? rule.lookedAt : rule.beginsAt;
    const things = await findOld(db, { workspaceId, vaultId, kind, after, end, limit: atOnce });
    const isHeld = await findHeldOf(db, workspaceId, { vaultId, things });
    const caller = retentionCaller(workspaceId);
    let { leftAt } = rule;
    let [erased, bytes] = [0, 0];
    let before = after;
    for (const thing of things) {
      const gone = isHeld(thing) ? null : await eraseThing(db, caller, { kind, thing, end });
      if (!gone) leftAt ??= before;
      else if (thing.open) {
        erased += 1;
        bytes += gone.bytes;
        settling.push(...(gone.settling ?? []));
      }
      before = thing.id;
    }
    const isOver = things.length < atOnce;
    await sql`
      update retention_rules
      set looked_at = ${isOver ? '' : before}, left_at = ${isOver ? null : leftAt},
        begins_at = ${isOver && kind === 'record' ? (leftAt ?? before) : rule.beginsAt},
        next_round_at = ${isOver ? new Date(now().getTime() + roundMs) : null},
        erased = erased + ${erased}, erased_bytes = erased_bytes + ${bytes}
      where workspace_id = ${workspaceId} and vault_id = ${vaultId} and kind = ${kind}`.execute(db);
  }
}

async function findHeldOf(
  db: Db,
  workspaceId: string,
  { vaultId, things }: { vaultId: string; things: OldThing[] },
): Promise<(thing: OldThing) => boolean> {
  const ids = things.flatMap(({ id, vaultIds }) => [id, ...vaultIds]);
  const held = await findHeld(db, workspaceId, [vaultId, ...ids]);
  const fileIds = things.flatMap(({ id }) => (id.startsWith('fil_') ? [id] : []));
  const released = await findReleased(db, workspaceId, fileIds);
  return ({ id, vaultIds }) =>
    released.has(id) || [vaultId, id, ...vaultIds].some((subject) => held.has(subject));
}

interface DueRule {
  workspaceId: string;
  vaultId: string;
  kind: RetainedKind;
  days: number;
  beginsAt: string;
  lookedAt: string;
  leftAt: string | null;
}

/** The one that has waited longest; locked against a change of its period. */
async function findDueRule(db: Db, now: Date): Promise<DueRule | null> {
  const row = await db
    .selectFrom('retention_rules')
    .select(['workspace_id', 'vault_id', 'kind', 'days', 'begins_at', 'looked_at', 'left_at'])
    .where((is) => is.or([is('next_round_at', 'is', null), is('next_round_at', '<=', now)]))
    .orderBy('next_round_at', (order) => order.asc().nullsFirst())
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
  if (!row || !kinds.includes(row.kind)) return null;
  return {
    workspaceId: row.workspace_id,
    vaultId: row.vault_id,
    kind: row.kind,
    days: row.days,
    beginsAt: row.begins_at,
    lookedAt: row.looked_at,
    leftAt: row.left_at,
  };
}
