/**
 * Gathers calls made at the same time into one statement, so that sixty-four requests cost one round trip. Statements
 * that look up several keys at once write the look-up as a lateral join with a limit: a prepared plan made while the
 * table was empty would otherwise read all of it for as long as it is kept.
 */

export interface GatherOptions<Item, Result> {
  /** Does the work for all items at once; result i belongs to item i. */
  run(items: Item[]): Promise<Result[]>;
  /** Statements under way at once; while they run, new items wait and the next group grows. */
  maxInFlight: number;
  maxItems: number;
  /** Whether a failed group is worth trying item by item, so that one bad item does not fail its neighbours. */
  isItemFault(error: unknown): boolean;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

export function gather<Item, Result>(options: GatherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { run, maxInFlight, maxItems, isItemFault } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || inFlight >= maxInFlight || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      const group = waiting.slice(0, maxItems);
      waiting = waiting.slice(maxItems);
      inFlight += 1;
      void settle(group).finally(() => {
        inFlight -= 1;
        schedule();
      });
      schedule();
    });
  }

  async function settle(group: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(group.map(({ item }) => item));
      for (const [position, { resolve }] of group.entries()) resolve(results[position] as Result);
    } catch (error) {
      if (group.length > 1 && isItemFault(error)) {
        for (const one of group) await settle([one]);
      } else {
        for (const { reject } of group) reject(error);
      }
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
