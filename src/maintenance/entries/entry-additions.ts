/**
 * Adds entries to the chains of their assets. Concurrent requests share a transaction, which locks the assets and gives each
 * entry the next number. An asset that somebody else has locked does not hold up the others: its entries wait separately.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { gatherWrites } from '../../db/fault-lanes.ts';
import { isDeadlock, isStatementFault } from '../../db/faults.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { AppError } from '../../runtime/errors.ts';
import { noAsset } from '../assets/asset-access.ts';
import { chainKey, lockChains } from './entry-chain.ts';
import type { MadeEntry } from './maintenance-content.ts';

/** An entry that replaces an older one. */
export interface Correction {
  workspaceId: string;
  supersedes: string;
  maintenanceId: string;
}

/** Updates references to the older entries, in the same transaction. */
export type OnCorrected = (db: Db, corrections: Correction[]) => Promise<void>;

export interface Addition extends Omit<Correction, 'supersedes'> {
  assetId: string;
  supersedes: string | null;
  at: MadeEntry['at'];
  /** Rows to commit with the entry. */
  also: Write[];
}

/** Resolves when the entry is committed; throws conflict or resource_not_found when it cannot supersede what it names. */
export type AddEntry = (addition: Addition) => Promise<void>;

type Outcome = 'added' | 'busy' | AppError;

export function createEntryAdder(db: Db, onCorrected: OnCorrected): AddEntry {
  const adder = ({ wait, maxInFlight }: { wait: boolean; maxInFlight: number }) =>
    gatherWrites<Addition, Outcome>({
      maxInFlight,
      maxItems: 200,
      workspaceOf: ({ workspaceId }) => workspaceId,
      isItemFault: isStatementFault,
      run(additions) {
        const add = () => db.transaction().execute((db) => addAll(db, additions, { onCorrected, wait }));
        return add().catch((error) => {
          if (!isDeadlock(error)) throw error;
          return add();
        });
      },
    });
  const addAtOnce = adder({ wait: false, maxInFlight: 1 });
  const addInTurn = adder({ wait: true, maxInFlight: 2 });
  return async (addition) => {
    const first = await addAtOnce(addition);
    const outcome = first === 'busy' ? await addInTurn(addition) : first;
    if (outcome instanceof AppError) throw outcome;
    // It waited for the lock, so there is nothing to lock.
    if (outcome === 'busy') throw noAsset(addition.assetId);
  };
}

/** In the order of arrival; a refused addition does not affect the others. */
async function addAll(
  db: Db,
  additions: Addition[],
  { onCorrected, wait }: { onCorrected: OnCorrected; wait: boolean },
): Promise<Outcome[]> {
  // Entries before assets, like sign-offs do it.
  const corrected = await lockCorrected(db, additions.filter(isCorrection), { wait });
  const chains = await lockChains(db, additions, { wait });
  const writes: Write[] = [];
  const corrections: Correction[] = [];
  const outcomes = additions.map((addition): Outcome => {
    const chain = chains.get(chainKey(addition));
    if (!chain) return 'busy';
    if (isCorrection(addition)) {
      const entry = corrected.get(keyOf(addition));
      if (entry && !entry.isLocked) return 'busy';
      const refused = refusalOf(addition, entry);
      if (refused) return refused;
      if (entry) entry.superseded = true;
      corrections.push(addition);
    }
    const number = chain.number + 1;
    const { leaf, writes: rows } = addition.at({ number, previousEntry: chain.leaf });
    Object.assign(chain, { number, leaf });
    writes.push(...rows, ...addition.also);
    return 'added';
  });
  await insertAll(db, writes);
  if (corrections.length > 0) await onCorrected(db, corrections);
  return outcomes;
}

function isCorrection(addition: Addition): addition is Addition & Correction {
  return addition.supersedes !== null;
}

interface Corrected {
  assetId: string;
  superseded: boolean;
  /** Whether this transaction has the lock. */
  isLocked: boolean;
}

function refusalOf(
  { assetId, supersedes: id }: Addition & Correction,
  entry: Corrected | undefined,
): AppError | null {
  if (!entry) return new AppError('resource_not_found', `There is no maintenance entry ${id} to supersede.`);
  if (entry.assetId !== assetId) {
    return new AppError('conflict', `The maintenance entry ${id} belongs to another asset.`);
  }
  if (!entry.superseded) return null;
  return new AppError(
    'conflict',
    `The maintenance entry ${id} is already superseded. Supersede the newest entry.`,
  );
}

/** The entries to correct, locked against other corrections and sign-offs until the transaction ends. */
async function lockCorrected(
  db: Db,
  corrections: Correction[],
  { wait }: { wait: boolean },
): Promise<Map<string, Corrected>> {
  if (corrections.length === 0) return new Map();
  const keys = sql`unnest(${corrections.map(({ workspaceId }) => workspaceId)}::text[],
                          ${corrections.map(({ supersedes }) => supersedes)}::text[]) as wanted (workspace_id, id)`;
  // A common order, so that two groups never deadlock.
  const { rows: locked } = await sql<{ workspaceId: string; supersedes: string }>`
    select m.workspace_id as "workspaceId", m.id as supersedes from ${keys}
    join maintenances m on m.workspace_id = wanted.workspace_id and m.id = wanted.id
    order by m.workspace_id, m.id for no key update of m ${wait ? sql`` : sql`skip locked`}`.execute(db);
  const own = new Set(locked.map(keyOf));
  // A separate statement, which sees what was committed until the lock was free.
  const { rows } = await sql<{ workspace_id: string; id: string; asset_id: string; superseded: boolean }>`
    select m.workspace_id, m.id, m.asset_id, exists (
      select 1 from maintenances s where s.workspace_id = m.workspace_id and s.supersedes = m.id
    ) as superseded
    from ${keys}
    cross join lateral (
      select * from maintenances where workspace_id = wanted.workspace_id and id = wanted.id limit 1
    ) as m`.execute(db);
  return new Map(
    rows.map(({ workspace_id: workspaceId, id: supersedes, asset_id: assetId, superseded }) => {
      const key = keyOf({ workspaceId, supersedes });
      return [key, { assetId, superseded, isLocked: own.has(key) }];
    }),
  );
}

function keyOf({ workspaceId, supersedes }: Pick<Correction, 'workspaceId' | 'supersedes'>): string {
  return `${workspaceId} ${supersedes}`;
}
