/** Several sides do the same work in turns, so that a slow moment of the machine hits all of them; medians are compared. */

export type Sides<Name extends string, T> = Record<Name, (turn: Turn) => Promise<T>>;

export type Turn = 'warm-up' | 'measured';

/**
 * Every side plays once to warm up, then `rounds` times in turns, every second time in the reverse order: what changes
 * steadily, as a machine that gets busier, then favours nobody. Returns the rounds.
 */
export async function playInTurns<Name extends string, T>(
  sides: Sides<Name, T>,
  { rounds, tell }: { rounds: number; tell(played: Record<Name, T>): string },
): Promise<Record<Name, T>[]> {
  const names = Object.keys(sides) as Name[];
  for (const name of names) await sides[name]('warm-up');
  const all: Record<Name, T>[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const played = {} as Record<Name, T>;
    const order = round % 2 === 1 ? names : names.toReversed();
    for (const name of order) played[name] = await sides[name]('measured');
    all.push(played);
    console.error(`  round ${round}: ${tell(played)}`);
  }
  return all;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
