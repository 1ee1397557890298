/** The part of an actor that makes vaults and workers. */
import type { Asking } from './asking.ts';
import type { Journal, Thing } from './journal.ts';
import type { Random } from './random.ts';

/** What every part of an actor works with. */
export interface MakerDeps {
  asking: Asking;
  journal: Journal;
  random: Random;
  newName(kind: string): string;
}

export const thingPaths = { vault: '/platform/vaults', worker: '/damc/workers/' };

export async function makeThing(
  { asking, journal, random, newName }: MakerDeps,
  kind: Thing['kind'],
): Promise<Thing> {
  const name = newName(kind);
  const thing: Thing = {
    kind,
    name,
    state: 'unknown',
    lost: 0,
    address: '',
    moves: [],
    moving: null,
    description: '',
  };
  journal.things.push(thing);
  const call = {
    method: 'POST',
    path: thingPaths[kind],
    body: { name },
    headers: { 'idempotency-key': name },
  };
  const once = () =>
    asking.expectYes(call, () => {
      thing.lost += 1;
    });
  // Now and then twice at the same time, as an impatient client does.
  const answers = await Promise.all(random.chance(0.1) ? [once(), once()] : [once()]);
  const addresses = new Set(answers.map(({ json }) => json?.address));
  if (addresses.size > 1)
    journal.complaints.push(`${name} was created more than once: ${[...addresses].join(', ')}`);
  thing.address = [...addresses][0] ?? '';
  thing.state = 'acknowledged';
  return thing;
}
