/** The confirmation of everything is told once, and once more after each reorg that took it back. */
import { waitUntil } from '../../support/service/process.ts';
import type { Journal } from '../journal.ts';
import type { Rule } from '../rule.ts';
import { expectNone, Violation } from '../violation.ts';

/** Null: anchor.reorged, which takes back what its transaction had anchored. */
interface Told {
  subject: string | null;
  hash: string;
}

export const everyConfirmationIsToldOnce: Rule = {
  name: 'everything is told to be confirmed once, and once more after each reorg that took it back',
  when: 'end',
  needsChain: true,
  async check({ store, journal, count }) {
    await waitUntil(
      async () =>
        (await store.query('select 1 from placed_events where position is null limit 1')).length === 0,
    );
    const rows = await store.query<Told>(
      `select data ->> 'tx_hash' as hash, case type
         when 'record.anchor.confirmed' then concat_ws(' ', 'record', data ->> 'record_id', data ->> 'version')
         when 'file.anchor.confirmed' then concat_ws(' ', 'file', data ->> 'file_id', data ->> 'version')
         when 'file.transfer.completed' then concat_ws(' ', 'transfer', data ->> 'file_id', v.address)
         when 'maintenance.anchor.confirmed' then concat_ws(' ', 'maintenance', data ->> 'maintenance_id')
       end as subject
       from (select type, position, envelope::json -> 'data' as data from placed_events
             where type like '%.anchor.confirmed' or type in ('file.transfer.completed', 'anchor.reorged')) told
       left join vaults v on v.id = data ->> 'to_vault_id'
       order by position`,
    );
    /** What each transaction is told to have anchored as things stand. */
    const standing = new Map<string, Set<string>>();
    const twice: Told[] = [];
    for (const row of rows) {
      const subjects = standing.get(row.hash) ?? new Set();
      standing.set(row.hash, subjects);
      if (row.subject === null) subjects.clear();
      else if (subjects.has(row.subject)) twice.push(row);
      else subjects.add(row.subject);
    }
    expectNone('told twice although nothing was taken back', twice);
    const told = timesOf([...standing.values()].flatMap((subjects) => [...subjects]));
    const subjects = subjectsOf(journal);
    const expected = timesOf(subjects);
    expectNone(
      'not told to be confirmed exactly once in the end',
      [...expected].filter(([subject, times]) => told.get(subject) !== times),
    );
    if (told.size !== expected.size)
      throw new Violation(`${told.size} things are told of, and there are ${expected.size}`);
    count('things confirmed', subjects.length);
    count('confirmations taken back, anchor.reorged', rows.filter(({ subject }) => subject === null).length);
  },
};

/** A file may have been handed to the same vault more than once. */
function subjectsOf({ records, files, assets }: Journal): string[] {
  return [
    ...records.flatMap(({ id, versions }) => versions.map((_, place) => `record ${id} ${place + 1}`)),
    ...files.flatMap(({ id, versions, transfers }) => [
      ...versions.map((_, place) => `file ${id} ${place + 1}`),
      ...transfers.map(({ to }) => `transfer ${id} ${to.address}`),
    ]),
    ...assets.flatMap(({ entries }) => entries.map(({ id }) => `maintenance ${id}`)),
  ];
}

function timesOf(subjects: string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const subject of subjects) times.set(subject, (times.get(subject) ?? 0) + 1);
  return times;
}
