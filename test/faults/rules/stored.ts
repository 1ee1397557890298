/** What was acknowledged is stored, what was refused is not, and what was lost and asked again exists once. */
import { oraclePatienceMs } from '../client.ts';
import type { Fixture } from '../fixture.ts';
import type { Thing } from '../journal.ts';
import type { Rule } from '../rule.ts';
import { expectNone } from '../violation.ts';

export const acknowledgedIsStored: Rule = {
  name: 'acknowledged ⊆ stored',
  when: 'restart',
  async check(fixture) {
    const stored = await readStored(fixture);
    const acknowledged = fixture.journal.things.filter(({ state }) => state === 'acknowledged');
    expectNone(
      'acknowledged, but not stored as acknowledged',
      acknowledged.filter((thing) => !stored.get(nameOf(thing))?.includes(thing.address)),
    );
  },
};

export const refusedIsNotStored: Rule = {
  name: 'refused ∩ stored = ∅',
  when: 'restart',
  async check(fixture) {
    const stored = await readStored(fixture);
    expectNone(
      'refused, but stored',
      [...fixture.journal.refused].filter((name) => stored.has(`vault ${name}`)),
    );
  },
};

export const everythingExistsOnce: Rule = {
  name: 'whatever was asked for exists exactly once, and nothing else does',
  when: 'restart',
  async check(fixture) {
    const stored = await readStored(fixture);
    expectNone(
      'stored more than once',
      [...stored].filter(([, addresses]) => addresses.length > 1),
    );
    const asked = new Set(fixture.journal.things.map(nameOf));
    expectNone(
      'stored, but never asked for',
      [...stored.keys()].filter((name) => !asked.has(name)),
    );
  },
};

export const listedIsStored: Rule = {
  name: 'the lists show what was acknowledged',
  when: 'end',
  async check(fixture) {
    const listed = {
      vault: await readPages(fixture, '/platform/vaults'),
      worker: await readPages(fixture, '/damc/workers/'),
    };
    for (const kind of ['vault', 'worker'] as const) {
      const seen = listed[kind].map(({ name, address }) => `${name} ${address}`).sort();
      const known = fixture.journal.things
        .filter((thing) => thing.kind === kind)
        .map(({ name, address }) => `${name} ${address}`)
        .sort();
      expectNone(
        `${kind}s that the list and the journal do not share`,
        seen.length === known.length && seen.every((line, place) => line === known[place])
          ? []
          : [
              ...seen.filter((line) => !known.includes(line)),
              ...known.filter((line) => !seen.includes(line)),
              `${seen.length} listed, ${known.length} known`,
            ],
      );
    }
  },
};

function nameOf({ kind, name }: Thing): string {
  return `${kind} ${name}`;
}

/** Addresses by kind and name. */
async function readStored({ store }: Fixture): Promise<Map<string, string[]>> {
  const rows = await store.query<{ name: string; addresses: string[] }>(
    `select 'vault ' || name as name, array_agg(address) as addresses from vaults group by name
     union all
     select 'worker ' || name, array_agg(address) from workers group by name`,
  );
  return new Map(rows.map(({ name, addresses }) => [name, addresses]));
}

/** All pages of a list, through the API. */
export async function readPages<Item = { name: string; address: string }>(
  { client }: Fixture,
  path: string,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await client({
      method: 'GET',
      path: `${path}?limit=1000${query}`,
      patienceMs: oraclePatienceMs,
    });
    if (page.outcome !== 'acknowledged') throw new Error(`${path} was answered ${page.status}`);
    items.push(...(page.json as Item[]));
    cursor = page.headers.get('x-next-cursor');
  }
  return items;
}
