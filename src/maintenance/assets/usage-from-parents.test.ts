/** What a part has run, against a simulation day by day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/service/properties.ts';
import { type Stay, type UsageNode, usageAt, wantedOfParents } from './usage-from-parents.ts';

const now = Number.POSITIVE_INFINITY;

/** A parent that runs so much each day. */
const parentOf = (daily: number[]) => (_: string, at: number) =>
  daily.slice(0, Math.min(at, daily.length)).reduce((sum, hours) => sum + hours, 0);

const days = 12;
const given = fc.record({
  daily: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: days, maxLength: days }),
  bounds: fc.uniqueArray(fc.integer({ min: 0, max: days }), { maxLength: 5 }),
  stated: fc.array(
    fc.record({ value: fc.integer({ min: 0, max: 60 }), at: fc.integer({ min: 0, max: days }) }),
    { maxLength: 4 },
  ),
});

test('it runs each day as its parent does, and jumps to what is stated of it if that is more', () => {
  fc.assert(
    fc.property(given, ({ daily, bounds, stated }) => {
      const ends = bounds.toSorted((one, other) => one - other);
      const stays: Stay[] = [];
      for (let place = 0; place < ends.length; place += 2) {
        stays.push({ parent: 'p', from: ends[place] ?? 0, until: ends[place + 1] ?? now });
      }
      const node: UsageNode = { stays, wanted: [now], stated: { hours: stated, cycles: [] } };
      let run = 0;
      for (let day = 0; day <= days; day += 1) {
        // A statement at the end of a day is compared with what it has run by then.
        for (const { value, at } of stated) if (at === day) run = Math.max(run, value);
        const isIn = stays.some(({ from, until }) => from <= day && day < until);
        if (isIn) run += daily[day] ?? 0;
      }
      assert.equal(usageAt(node, 'hours', parentOf(daily)).get(now), run);
      const asked = new Set<number>();
      usageAt(node, 'hours', (_, at) => {
        asked.add(at);
        return 0;
      });
      const told = wantedOfParents(node).get('p') ?? new Set();
      assert.ok(
        [...asked].every((at) => told.has(at)),
        'the parent is asked only for announced times',
      );
    }),
  );
});
