/** The feed has every event once, in one order that nobody who follows it ever sees change. */
import { waitUntil } from '../../support/service/process.ts';
import { oraclePatienceMs } from '../client.ts';
import type { Rule } from '../rule.ts';
import { expectNone, Violation } from '../violation.ts';

export const feedIsWhole: Rule = {
  name: 'the feed has no gap and no double, and whoever followed it saw it so',
  when: 'end',
  async check({ store, client, follower }) {
    await waitUntil(
      async () =>
        (await store.query('select 1 from placed_events where position is null limit 1')).length === 0,
    );
    const rows = await store.query<{ id: string; position: number }>(
      'select id, position::integer as position from placed_events order by position',
    );
    expectNone(
      'events that are not in their place',
      rows.filter(({ position }, place) => position !== place + 1),
    );

    const read: string[] = [];
    for (let cursor = ''; ; ) {
      const path = `/platform/events?limit=1000${cursor}`;
      const page = await client({ method: 'GET', path, patienceMs: oraclePatienceMs });
      if (page.outcome !== 'acknowledged') throw new Violation('the feed cannot be read', [page.json]);
      if (page.json.length === 0) break;
      read.push(...(page.json as { id: string }[]).map(({ id }) => id));
      cursor = `&cursor=${encodeURIComponent(page.headers.get('x-next-cursor') ?? '')}`;
    }
    await follower.stop();
    for (const [who, seen] of [
      ['read at the end', read],
      ['followed through every fault', follower.seen],
    ] as const) {
      if (seen.length !== rows.length)
        throw new Violation(`the feed ${who} has ${seen.length} events of ${rows.length}`);
      expectNone(
        `events of the feed ${who} that are not in their place`,
        rows.filter(({ id }, place) => seen[place] !== id),
      );
    }
  },
};
