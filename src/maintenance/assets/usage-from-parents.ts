/**
 * The usage of an asset that is, or was, installed in others: what it was stated to have run, and since then whatever its parents
 * ran while it was installed in them. Pure. Times are in milliseconds; `Infinity` is now, `-Infinity` the beginning.
 */
export type Counter = 'hours' | 'cycles';
const usageCounters = ['hours', 'cycles'] as const;

/** From the installation until the removal; both belong to it. */
export interface Stay {
  parent: string;
  from: number;
  /** Infinity while it is installed. */
  until: number;
}

/** That the asset had run so much in all at that time. */
export interface Stated {
  value: number;
  at: number;
}

export interface UsageNode {
  /** One after the other. */
  stays: Stay[];
  /** When its usage is asked for. */
  wanted: number[];
  /** The highest of each stretch between two of its `cutsOf`, and others. */
  stated: Record<Counter, Stated[]>;
}

/** Where to cut its statements into stretches. */
export function cutsOf({ stays, wanted }: Pick<UsageNode, 'stays' | 'wanted'>): number[] {
  const times = [...wanted, ...stays.flatMap(({ from, until }) => [from, until])];
  return [...new Set(times)].filter(Number.isFinite).sort((one, other) => one - other);
}

/** When the usage of which parent is needed. */
export function wantedOfParents({ stays, wanted, stated }: UsageNode): Map<string, Set<number>> {
  const times = [...wanted, ...usageCounters.flatMap((counter) => stated[counter].map(({ at }) => at))];
  const found = new Map<string, Set<number>>();
  for (const { parent, from, until } of stays) {
    const needed = found.get(parent) ?? new Set();
    found.set(parent, needed.add(from));
    for (const at of times) if (at > from) needed.add(Math.min(at, until));
  }
  return found;
}

/**
 * What it had run at each wanted time. Whatever is stated about the asset includes what came before; of several statements,
 * the one counts by which it has run most, so that none hides what its parents ran. `parentAt`: the usage of the parent.
 */
export function usageAt(
  { stays, wanted, stated }: UsageNode,
  counter: Counter,
  parentAt: (parent: string, at: number) => number,
): Map<number, number> {
  const passedOn = (at: number): number => {
    let sum = 0;
    for (const { parent, from, until } of stays) {
      if (from >= at) break;
      sum += parentAt(parent, Math.min(at, until)) - parentAt(parent, from);
    }
    return sum;
  };
  const statements = [{ value: 0, at: Number.NEGATIVE_INFINITY }, ...stated[counter]].sort(inTime);
  const found = new Map<number, number>();
  let base = 0;
  let next = 0;
  for (const at of wanted.toSorted((one, other) => one - other)) {
    for (let one = statements[next]; one && one.at <= at; one = statements[next]) {
      base = Math.max(base, one.value - passedOn(one.at));
      next += 1;
    }
    found.set(at, rounded(base + passedOn(at)));
  }
  return found;
}

function inTime(one: Stated, other: Stated): number {
  // Equal infinities have no difference.
  return one.at === other.at ? 0 : one.at - other.at;
}

/** In binary, tenths of hours do not add up to whole hours. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
