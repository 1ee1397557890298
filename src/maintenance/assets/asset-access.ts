/**
 * Who may see an asset: its owner's vault, the workers assigned to it, and viewers with a grant. Every look is in the access
 * log before it is answered, including refused ones: concurrent looks share one statement, which looks up and logs, and one
 * commit. What a person requests within a minute is logged as one look, because a page of the dashboard makes several
 * requests.
 */
import { sql } from 'kysely';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { locks } from '../../db/advisory-lock.ts';
import { encodeArray } from '../../db/arrays.ts';
import type { Db } from '../../db/database.ts';
import { isStatementFault } from '../../db/faults.ts';
import { gather } from '../../db/gather.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';

/** A request by a viewer to see something of an asset. */
export interface AssetLook {
  caller: Caller;
  assetId: string;
  /** In a form that the API accepts; absent when the workspace itself looks, which counts as the owner. */
  viewerAddress?: string | undefined;
  /** For the access log: what is requested, such as `maintenance`. */
  what: string;
  /** Which one, if there are several. */
  targetId?: string;
}

export interface SeenAsset {
  assetId: string;
  /** Its current owner. */
  vaultId: string;
}

/** Another row that a look reads, in the same statement. */
export interface LookedUp {
  /** Names the prepared statement. */
  name: string;
  columns: readonly string[];
  /**
   * What follows `select columns from`, up to and including `limit 1`; it refers to `looked.workspace_id`, `looked.asset_id`
   * and `looked.target_id`.
   */
  from: string;
}

export interface AssetAccess {
  /** Throws resource_not_found or viewer_not_allowed, in this order. */
  require(look: AssetLook): Promise<SeenAsset>;
  /** The same, but also returns the row that was looked up, or null. Create one for each kind of look. */
  requireWith<Row extends QueryResultRow>(
    lookedUp: LookedUp,
  ): (look: AssetLook) => Promise<SeenAsset & { row: Row | null }>;
}

type LookedRow<Row> = Row & { looked_place: number; looked_vault: string; looked_allowed: boolean };

export function createAssetAccess(pool: Pool): AssetAccess {
  function looks<Row extends QueryResultRow>(lookedUp: LookedUp | null) {
    const name = `look-at-${lookedUp?.name ?? 'asset'}`;
    const gathered = gatheredLooks<Row>(name, statement(lookedUp, logEach));
    const personText = statement(lookedUp, logOnceAMinute);
    return async (look: AssetLook): Promise<LookedRow<Row> | null> => {
      if (look.caller.actor.kind !== 'user') return gathered(look);
      return inTurnOf(look, async (client) => {
        const { rows } = await client.query<LookedRow<Row>>({
          name: `person-${name}`,
          text: personText,
          values: valuesOf([look]),
        });
        return rows[0] ?? null;
      });
    };
  }

  /** For each person and asset, the last look in progress on this node. */
  const underWay = new Map<string, Promise<unknown>>();

  /**
   * Runs a person's looks at an asset one at a time, so that each sees what the previous one has logged. Looks on this node
   * wait here, and not while holding a connection that others need.
   */
  async function inTurnOf<T>({ caller, assetId }: AssetLook, work: (client: PoolClient) => Promise<T>) {
    const whose = JSON.stringify([caller.workspaceId, caller.actor.id, assetId]);
    const mine = (underWay.get(whose) ?? Promise.resolve()).then(() => alone(whose, work));
    const ended = mine.catch(() => {});
    underWay.set(whose, ended);
    try {
      return await mine;
    } finally {
      if (underWay.get(whose) === ended) underWay.delete(whose);
    }
  }

  async function alone<T>(whose: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [locks.looksOfPerson, whose]);
      const done = await work(client);
      await client.query('commit');
      client.release();
      return done;
    } catch (error) {
      // Closes the connection, which ends the transaction.
      client.release(true);
      throw error;
    }
  }

  function gatheredLooks<Row extends QueryResultRow>(name: string, text: string) {
    return gather<AssetLook, LookedRow<Row> | null>({
      // The second group runs its lookup while the first one waits for the disk.
      maxInFlight: 2,
      maxItems: 500,
      isItemFault: isStatementFault,
      async run(looks) {
        const { rows } = await pool.query<LookedRow<Row>>({ name, text, values: valuesOf(looks) });
        const found: (LookedRow<Row> | null)[] = looks.map(() => null);
        for (const row of rows) found[row.looked_place - 1] = row;
        return found;
      },
    });
  }

  const lookAtAsset = looks<QueryResultRow>(null);

  return {
    async require(look) {
      const row = allowedRow(look, await lookAtAsset(look));
      return { assetId: look.assetId, vaultId: row.looked_vault };
    },
    requireWith<Row extends QueryResultRow>(lookedUp: LookedUp) {
      const lookUp = looks<Row>(lookedUp);
      return async (look: AssetLook) => {
        const row = allowedRow(look, await lookUp(look));
        // If nothing was found, all columns are null; in an existing row the first column is never null.
        const found = row[lookedUp.columns[0] ?? ''] !== null;
        return { assetId: look.assetId, vaultId: row.looked_vault, row: found ? row : null };
      };
    },
  };
}

/**
 * Whether the address may see the asset now; the asset must exist. Logs nothing, because this is not a look at the asset.
 */
export async function mayView(
  db: Db,
  { workspaceId, assetId, address }: { workspaceId: string; assetId: string; address: string },
): Promise<boolean> {
  const { rows } = await sql<{ allowed: boolean }>`
    select ${sql.raw(allowed)} as allowed
    from (select ${workspaceId}::text as workspace_id, ${assetId}::text as asset_id,
                 ${address.toLowerCase()}::text as viewer) as wanted
    cross join lateral ${sql.raw(asset)} as a`.execute(db);
  const [row] = rows;
  if (!row) throw noAsset(assetId);
  return row.allowed;
}

export function noAsset(assetId: string): AppError {
  return new AppError('resource_not_found', `There is no asset ${assetId}.`);
}

function allowedRow<Row>(look: AssetLook, row: LookedRow<Row> | null): LookedRow<Row> {
  if (!row) throw noAsset(look.assetId);
  if (row.looked_allowed) return row;
  throw new AppError(
    'viewer_not_allowed',
    `${look.viewerAddress} may not see the asset ${look.assetId}. Its owner can grant access.`,
  );
}

const asset = `(
  select a.vault_id, lower(v.address) as owner
  from assets a join vaults v on v.workspace_id = a.workspace_id and v.id = a.vault_id
  where a.workspace_id = wanted.workspace_id and a.asset_id = wanted.asset_id limit 1
)`;

const allowed = `(
  wanted.viewer is null
  or a.owner = wanted.viewer
  or exists (
    select 1 from asset_viewers g
    where g.workspace_id = wanted.workspace_id and g.asset_id = wanted.asset_id and g.address = wanted.viewer
      and (g.until is null or g.until > now())
  )
  or exists (
    select 1 from asset_workers w
    where w.workspace_id = wanted.workspace_id and w.asset_id = wanted.asset_id and w.address = wanted.viewer
  )
)`;

const logEach = `logged as (
  insert into asset_access_log (workspace_id, asset_id, viewer, what, target_id, allowed, actor_kind, actor_id, at)
  select workspace_id, asset_id, viewer, what, target_id, allowed, actor_kind, actor_id, clock_timestamp()
  from looked order by place
)`;

/** For a single look. Reads only the newest entries, however many a busy asset has. */
const logOnceAMinute = `earlier as materialized (
  select l.id, looked.what from looked
  cross join lateral (
    select * from asset_access_log l
    where l.workspace_id = looked.workspace_id and l.asset_id = looked.asset_id order by l.id desc limit 100
  ) as l
  where l.at > clock_timestamp() - interval '1 minute' and l.allowed = looked.allowed
    and l.actor_kind = looked.actor_kind and l.actor_id = looked.actor_id
    and l.viewer is not distinct from looked.viewer and l.target_id is not distinct from looked.target_id
  order by l.id desc limit 1
), extended as (
  update asset_access_log l set also = l.also || earlier.what
  from looked, earlier
  where l.workspace_id = looked.workspace_id and l.asset_id = looked.asset_id and l.id = earlier.id
    and earlier.what <> all (l.also || l.what)
), logged as (
  insert into asset_access_log (workspace_id, asset_id, viewer, what, target_id, allowed, actor_kind, actor_id, at)
  select workspace_id, asset_id, viewer, what, target_id, allowed, actor_kind, actor_id, clock_timestamp()
  from looked where not exists (select 1 from earlier)
)`;

function statement(lookedUp: LookedUp | null, log: string): string {
  const columns = lookedUp?.columns.map((column) => `, row.${column}`).join('') ?? '';
  const row = lookedUp
    ? `left join lateral (select ${lookedUp.columns.join(', ')} from ${lookedUp.from}) as row on looked.allowed`
    : '';
  return `
    with looked as materialized (
      select wanted.workspace_id, wanted.asset_id, coalesce(wanted.viewer, a.owner) as viewer, wanted.what,
        wanted.target_id, wanted.actor_kind, wanted.actor_id, wanted.place, a.vault_id, ${allowed} as allowed
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) with ordinality
        as wanted (workspace_id, asset_id, viewer, what, target_id, actor_kind, actor_id, place)
      cross join lateral ${asset} as a
    ), ${log}
    select looked.place as looked_place, looked.vault_id as looked_vault, looked.allowed as looked_allowed${columns}
    from looked ${row}`;
}

function valuesOf(looks: AssetLook[]): Buffer[] {
  const texts = (of: (look: AssetLook) => string | undefined) => encodeArray('text', looks.map(of));
  return [
    texts(({ caller }) => caller.workspaceId),
    texts(({ assetId }) => assetId),
    texts(({ viewerAddress }) => viewerAddress?.toLowerCase()),
    texts(({ what }) => what),
    texts(({ targetId }) => targetId),
    texts(({ caller }) => caller.actor.kind),
    texts(({ caller }) => caller.actor.id),
  ];
}
