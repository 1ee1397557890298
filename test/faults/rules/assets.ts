/** Every asset and every maintenance entry that was asked for is stored once, signed where it was signed. */
import type { Rule } from '../rule.ts';
import { expectNone } from '../violation.ts';

export const assetsAreStored: Rule = {
  name: 'every asset, maintenance entry and sign-off asked for is stored once, and nothing else is',
  when: 'restart',
  async check({ store, journal }) {
    const assets = await store.query<{ id: string }>('select asset_id as id from assets');
    const entries = await store.query<{ id: string; asset: string; summary: string; roles: string[] }>(
      `select m.id, m.asset_id as asset, m.summary, array(
         select role from signoffs s where s.workspace_id = m.workspace_id and s.maintenance_id = m.id
       ) as roles
       from maintenances m`,
    );
    const differing = (what: string, stored: string[], known: string[]) => {
      const unexpected = new Set(known);
      expectNone(`${what} stored twice`, stored.length === new Set(stored).size ? [] : stored);
      expectNone(
        `${what} stored otherwise than acknowledged`,
        stored.filter((line) => !unexpected.has(line)),
      );
      const found = new Set(stored);
      expectNone(
        `${what} not stored as acknowledged`,
        known.filter((line) => !found.has(line)),
      );
    };
    differing(
      'assets',
      assets.map(({ id }) => id),
      journal.assets.map(({ name }) => name),
    );
    differing(
      'entries',
      entries.map(({ id, asset, summary, roles }) => `${asset} ${id} ${summary} ${roles.join()}`),
      journal.assets.flatMap(({ name, entries }) =>
        entries.map(({ id, summary, signed }) => `${name} ${id} ${summary} ${signed ? 'performed' : ''}`),
      ),
    );
  },
};
