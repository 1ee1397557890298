/** Random choices that a seed repeats, also when several who choose run side by side: each has a stream of its own. */
import { createHash } from 'node:crypto';

export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  between(least: number, most: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
  shuffle<T>(list: readonly T[]): T[];
  /** A stream of its own, named by what it is for. */
  stream(name: string): Random;
}

export function createRandom(seed: string): Random {
  let state = createHash('sha256').update(seed).digest().readUInt32LE();
  // mulberry32, https://gist.github.com/tommyettinger/46a874533244883189143505d203312c
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new RangeError('nothing to pick from');
    return list[Math.floor(next() * list.length)] as T;
  };
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (share) => next() < share,
    pick,
    shuffle(list) {
      const rest = [...list];
      return list.map(() => rest.splice(Math.floor(next() * rest.length), 1)[0] as (typeof list)[number]);
    },
    stream: (name) => createRandom(`${seed}/${name}`),
  };
}
