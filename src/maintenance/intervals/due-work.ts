/** Notices of work that is due on assets, and of life limits that are reached: by the calendar, or by hours and cycles of use. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { EventData } from '../../events/catalogue.ts';
import { columnsOfThings, type Thing, type ThingWatch } from '../../events/notice.ts';
import { readUsage } from '../assets/assets.store.ts';
import { type IntervalRow, toInterval } from './interval.ts';
import { type DueInterval, dueOf } from './interval-due.ts';

export const dueWork: ThingWatch<'asset.maintenance.due'> = {
  kind: 'asset',
  type: 'asset.maintenance.due',
  async look(db, things, now) {
    const [usages, intervals] = [await readUsage(db, things), await readIntervals(db, things)];
    return usages.map(({ workspaceId, assetId, usage }) => {
      const due = (intervals.get(keyOf({ workspaceId, id: assetId })) ?? []).map((row) =>
        dueOf(toInterval(row), usage, now),
      );
      const later = due.flatMap(({ nextDue: { at } }) => (at && at > now ? [at.getTime()] : []));
      return {
        workspaceId,
        id: assetId,
        wrong: due.flatMap((one) => wrongOf(assetId, one, now)),
        lookAgainAt: later.length === 0 ? null : new Date(Math.min(...later)),
      };
    });
  },
};

/** Work is due from the very moment or counter value on; it is overdue only after that. */
function wrongOf(assetId: string, { id, name, kind, nextDue: { at }, remaining }: DueInterval, now: Date) {
  const by: [EventData['asset.maintenance.due']['due_by'], boolean][] = [
    ['time', at !== null && at <= now],
    ['hours', remaining.hours !== null && remaining.hours <= 0],
    ['cycles', remaining.cycles !== null && remaining.cycles <= 0],
  ];
  const [dueBy] = by.find(([, isDue]) => isDue) ?? [];
  if (!dueBy) return [];
  const data = {
    asset_id: assetId,
    interval_id: id,
    name,
    due_by: dueBy,
    life_limit: kind === 'life-limit',
  };
  return [{ subject: id, data, since: dueBy === 'time' ? at : null }];
}

async function readIntervals(db: Db, things: Thing[]): Promise<Map<string, IntervalRow[]>> {
  const [workspaceIds, ids] = columnsOfThings(things);
  const { rows } = await sql<IntervalRow>`
    select i.* from unnest(${workspaceIds}::text[], ${ids}::text[]) as t (workspace_id, id)
    join asset_intervals i on i.workspace_id = t.workspace_id and i.asset_id = t.id`.execute(db);
  return Map.groupBy(rows, (row) => keyOf({ workspaceId: row.workspace_id, id: row.asset_id }));
}

function keyOf({ workspaceId, id }: Thing): string {
  return `${workspaceId}/${id}`;
}
