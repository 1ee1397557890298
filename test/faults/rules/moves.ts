/** Every acknowledged move of a vault took effect and has exactly one event, in the order in which they were made. */
import type { Rule } from '../rule.ts';
import { expectNone } from '../violation.ts';

export const vaultsAreWhereTheyWereMoved: Rule = {
  name: 'vaults are as their last acknowledged change left them',
  when: 'restart',
  async check({ store, journal }) {
    const rows = await store.query<{ name: string; status: string; description: string }>(
      'select name, status, description from vaults',
    );
    const stored = new Map(rows.map((row) => [row.name, row]));
    const vaults = journal.things.filter(({ kind }) => kind === 'vault');
    expectNone(
      'vaults that are not as they were left',
      vaults.filter(({ name, moves, description }) => {
        const row = stored.get(name);
        const status = moves.at(-1) === 'deactivate' ? 'inactive' : 'active';
        return row?.status !== status || row.description !== description;
      }),
    );
  },
};

export const everyMoveHasOneEvent: Rule = {
  name: 'every acknowledged move has exactly one event',
  when: 'restart',
  async check({ store, journal }) {
    const rows = await store.query<{ name: string; types: string[] }>(
      `select v.name, array_agg(e.type order by e.position nulls last, e.id) as types
       from placed_events e join vaults v on v.id = e.envelope::json -> 'data' ->> 'vault_id'
       where e.type in ('vault.deactivated', 'vault.reactivated') group by v.name`,
    );
    const told = new Map(rows.map(({ name, types }) => [name, types.join()]));
    const vaults = journal.things.filter(({ kind }) => kind === 'vault');
    expectNone(
      'vaults whose events are not their moves',
      vaults
        .map(({ name, moves }) => ({
          name,
          moves: moves.map((move) => `vault.${move}d`).join(),
          events: told.get(name) ?? '',
        }))
        .filter(({ moves, events }) => moves !== events),
    );
  },
};
