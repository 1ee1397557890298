/**
 * Combines concurrent calls into one statement, so that sixty-four requests cost one round trip. Statements that look
 * up several keys at once use a lateral join with a limit: otherwise a prepared plan made while the table was empty
 * would read the whole table for as long as it is cached.
 */

export interface GatherOptions<Item, Result> {
  /** Does the work for all items at once; result i belongs to item i. */
  run(items: Item[]): Promise<Result[]>;
  /** The number of concurrent statements; while they run, new items wait and the next group grows. */
  maxInFlight: number;
  maxItems: number;
  /** For items that differ much in size: a group is full at this weight; a single item may weigh more. */
  weight?: { of(item: Item): number; max: number };
  /** Whether to retry a failed group in halves, so that one bad item does not fail its neighbours. */
  isItemFault(error: unknown): boolean;
  /**
   * Which items can have caused the fault, if the error says so. They are retried separately and do not delay the
   * others.
   */
  isSuspect?(item: Item, error: unknown): boolean;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

export function gather<Item, Result>(options: GatherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { run, maxInFlight, isItemFault, isSuspect = () => false } = options;
  /** Suspects run one statement at a time. */
  let apart: Promise<void> = Promise.resolve();
  let waiting: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || inFlight >= maxInFlight || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      const size = groupSize(waiting, options);
      const group = waiting.slice(0, size);
      waiting = waiting.slice(size);
      inFlight += 1;
      void settle(group).finally(() => {
        inFlight -= 1;
        schedule();
      });
      schedule();
    });
  }

  async function settle(group: Waiting<Item, Result>[], isApart = false): Promise<void> {
    try {
      const results = await run(group.map(({ item }) => item));
      for (const [position, { resolve }] of group.entries()) resolve(results[position] as Result);
    } catch (error) {
      if (group.length === 1 || !isItemFault(error)) {
        for (const { reject } of group) reject(error);
        return;
      }
      const suspects = isApart ? [] : group.filter(({ item }) => isSuspect(item, error));
      if (suspects.length > 0) {
        apart = apart.then(() => settle(suspects, true));
        const others = group.filter((one) => !suspects.includes(one));
        if (others.length > 0) await settle(others);
        return;
      }
      // Halving: a bad item costs a few statements, not one for each of its neighbours.
      const half = Math.ceil(group.length / 2);
      await settle(group.slice(0, half), isApart);
      await settle(group.slice(half), isApart);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}

/** How many of the waiting items form the next group; at least one. */
function groupSize<Item, Result>(
  waiting: Waiting<Item, Result>[],
  { maxItems, weight }: GatherOptions<Item, Result>,
): number {
  const most = Math.min(maxItems, waiting.length);
  if (!weight) return most;
  let sum = 0;
  const full = waiting.findIndex(({ item }) => {
    sum += weight.of(item);
    return sum > weight.max;
  });
  return full === -1 ? most : Math.min(most, Math.max(1, full));
}
