/** Reads what assets have run with their parents: level by level, each level with two statements for all assets together. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Usage } from './asset-document.ts';
import {
  type Counter,
  cutsOf,
  type Stay,
  type UsageNode,
  usageAt,
  wantedOfParents,
} from './usage-from-parents.ts';

/** What is installed deeper runs on its own. */
const mostLevels = 10;
/** Of an asset, the newest. */
const mostStays = 1_000;

/** Beyond these, the highest between two installations or removals. */
const mostStatements = 200;

interface Key {
  workspaceId: string;
  assetId: string;
}

/** Of those that were ever installed in another asset, by `usageKey`: all that they have run. */
export async function readUsageWithParents(db: Db, assets: Key[]): Promise<Map<string, Usage>> {
  const levels: Map<string, UsageNode>[] = [];
  let wanted = new Map(assets.map((key) => [usageKey(key), new Set([Number.POSITIVE_INFINITY])]));
  for (let level = 0; level <= mostLevels && wanted.size > 0; level += 1) {
    const stays = level < mostLevels ? await readStays(db, [...wanted.keys()]) : new Map<string, Stay[]>();
    const nodes = new Map<string, UsageNode>();
    for (const [key, times] of wanted) {
      const last = Math.max(...times);
      const own = (stays.get(key) ?? []).filter(({ from }) => from < last);
      if (level === 0 && own.length === 0) continue;
      nodes.set(key, { stays: own, wanted: [...times], stated: { hours: [], cycles: [] } });
    }
    await readStated(db, nodes);
    levels.push(nodes);
    wanted = new Map();
    for (const node of nodes.values()) {
      for (const [parent, times] of wantedOfParents(node)) {
        wanted.set(parent, new Set([...(wanted.get(parent) ?? []), ...times]));
      }
    }
  }
  const [hours, cycles] = [evaluate(levels, 'hours'), evaluate(levels, 'cycles')];
  return new Map([...hours].map(([key, value]) => [key, { hours: value, cycles: cycles.get(key) ?? 0 }]));
}

export function usageKey({ workspaceId, assetId }: Key): string {
  return `${workspaceId}/${assetId}`;
}

/** From the highest parents down: what the assets of the first level have run by now. */
function evaluate(levels: Map<string, UsageNode>[], counter: Counter): Map<string, number> {
  let above = new Map<string, Map<number, number>>();
  for (const nodes of levels.toReversed()) {
    const parents = above;
    const parentAt = (parent: string, at: number) => parents.get(parent)?.get(at) ?? 0;
    above = new Map([...nodes].map(([key, node]) => [key, usageAt(node, counter, parentAt)]));
  }
  return new Map([...above].map(([key, values]) => [key, values.get(Number.POSITIVE_INFINITY) ?? 0]));
}

interface StayRow {
  workspace_id: string;
  asset_id: string;
  parent_asset_id: string;
  installed_at: Date;
  removed_at: Date | null;
}

async function readStays(db: Db, keys: string[]): Promise<Map<string, Stay[]>> {
  const [workspaceIds, assetIds] = columnsOf(keys);
  const { rows } = await sql<StayRow>`
    select t.workspace_id, t.asset_id, i.parent_asset_id, i.installed_at, i.removed_at
    from unnest(${workspaceIds}::text[], ${assetIds}::text[]) as t (workspace_id, asset_id)
    cross join lateral (
      select number, parent_asset_id, installed_at, removed_at from asset_installations
      where workspace_id = t.workspace_id and asset_id = t.asset_id order by number desc limit ${mostStays}
    ) as i
    order by t.workspace_id, t.asset_id, i.number`.execute(db);
  const found = new Map<string, Stay[]>();
  for (const { workspace_id: workspaceId, asset_id: assetId, ...row } of rows) {
    const stay: Stay = {
      parent: usageKey({ workspaceId, assetId: row.parent_asset_id }),
      from: row.installed_at.getTime(),
      until: row.removed_at?.getTime() ?? Number.POSITIVE_INFINITY,
    };
    const key = usageKey({ workspaceId, assetId });
    const others = found.get(key);
    if (others) others.push(stay);
    else found.set(key, [stay]);
  }
  return found;
}

interface StatedRow {
  place: number;
  counter: Counter;
  value: number;
  /** Null: from the beginning. */
  at: Date | null;
}

/**
 * Adds what is stated of them, by entries that are not superseded and with the assets themselves: of each stretch the highest
 * value at the first time, and while it is installed the newest ones. A value that was corrected downwards with the asset was too
 * high before, too.
 */
async function readStated(db: Db, nodes: Map<string, UsageNode>): Promise<void> {
  if (nodes.size === 0) return;
  const [workspaceIds, assetIds] = columnsOf([...nodes.keys()]);
  // A stretch ends with its cut.
  const cuts = [...nodes.values()].map((node) =>
    JSON.stringify(cutsOf(node).map((at) => new Date(at + 1).toISOString())),
  );
  // Where nothing is passed on, only the highest can count.
  const since = [...nodes.values()].map(({ stays: [first] }) =>
    first ? new Date(first.from).toISOString() : null,
  );
  const isStated = (counter: Counter) => sql`
    m.workspace_id = t.workspace_id and m.asset_id = t.asset_id and ${sql.ref(`m.usage_${counter}`)} is not null
    and not exists (select 1 from maintenances s where s.workspace_id = m.workspace_id and s.supersedes = m.id)`;
  const highest = (counter: Counter) => sql`
    select ${counter}::text as counter, value, at from (
      select distinct on (1) width_bucket(m.performed_at, cut.times), ${sql.ref(`m.usage_${counter}`)}::float8 as value,
        m.performed_at as at
      from maintenances m where ${isStated(counter)} order by 1, 2 desc, 3
    ) as highest`;
  const newest = (counter: Counter) => sql`
    select ${counter}::text, ${sql.ref(`m.usage_${counter}`)}::float8, m.performed_at
    from maintenances m where ${isStated(counter)} and m.performed_at > t.since
    order by m.performed_at desc limit ${mostStatements}`;
  const byAsset = (counter: Counter) => sql`
    select ${counter}::text, value, stated_at from (
      select stated_at, row_number() over (order by version desc) as place,
        min(${sql.ref(counter)}::float8) over (order by version desc) as value
      from stated_usages u where u.workspace_id = t.workspace_id and u.asset_id = t.asset_id
    ) as stated where place <= ${mostStatements} or stated_at is null`;
  const { rows } = await sql<StatedRow>`
    select t.place::int as place, stated.counter, stated.value, stated.at
    from unnest(${workspaceIds}::text[], ${assetIds}::text[], ${cuts}::text[], ${since}::timestamptz[])
      with ordinality as t (workspace_id, asset_id, cuts, since, place)
    cross join lateral (
      select array(select jsonb_array_elements_text(t.cuts::jsonb)::timestamptz order by 1) as times
    ) as cut
    cross join lateral (
      (${highest('hours')}) union all (${highest('cycles')})
      union all (${newest('hours')}) union all (${newest('cycles')})
      union all (${byAsset('hours')}) union all (${byAsset('cycles')})
    ) as stated`.execute(db);
  const all = [...nodes.values()];
  for (const { place, counter, value, at } of rows) {
    all[place - 1]?.stated[counter].push({ value, at: at?.getTime() ?? Number.NEGATIVE_INFINITY });
  }
}

function columnsOf(keys: string[]): [string[], string[]] {
  const parted = keys.map((key) => key.indexOf('/'));
  return [
    keys.map((key, place) => key.slice(0, parted[place])),
    keys.map((key, place) => key.slice((parted[place] ?? 0) + 1)),
  ];
}
