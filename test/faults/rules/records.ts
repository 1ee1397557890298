/** Every record that was asked for is stored once in each of its versions, with its data; none that was refused is. */
import { isDeepStrictEqual } from 'node:util';
import type { Rule } from '../rule.ts';
import { expectNone } from '../violation.ts';

interface Row {
  id: string;
  version: number;
  external_id: string;
  address: string;
  data: string;
}

export const recordsAreStored: Rule = {
  name: 'every record asked for is stored once, with its data, and nothing else is',
  when: 'restart',
  async check({ store, journal }) {
    const rows = await store.query<Row>(
      `select r.id, r.version, r.external_id, v.address, r.data
       from records r join vaults v on v.workspace_id = r.workspace_id and v.id = r.vault_id order by r.version`,
    );
    const stored = Map.groupBy(rows, ({ external_id }) => external_id);
    expectNone(
      'refused, but stored',
      [...journal.refusedRecords].filter((externalId) => stored.has(externalId)),
    );
    expectNone(
      'records that are not stored exactly as they were acknowledged',
      journal.records
        .map((entry) => ({ entry, found: stored.get(entry.externalId) ?? [] }))
        .filter(
          ({ entry, found }) =>
            found.length !== entry.versions.length ||
            found.some(
              (row, place) =>
                row.version !== place + 1 ||
                row.id !== entry.id ||
                row.address !== entry.vault.address ||
                !isDeepStrictEqual(JSON.parse(row.data), entry.versions[place]?.data),
            ),
        ),
    );
    const asked = new Set(journal.records.map(({ externalId }) => externalId));
    expectNone(
      'stored, but never asked for',
      rows.filter(({ external_id }) => !asked.has(external_id)),
    );
  },
};
