/** Finds the existing name that a mistyped one most likely meant. */

/** Null when no name is close. */
export function nearestName(given: string, names: readonly string[]): string | null {
  const [nearest] = names
    .map((name) => ({ name, away: distance(given.slice(0, 40), name) }))
    .filter(({ name, away }) => away <= Math.max(2, name.length / 3))
    .sort((one, other) => one.away - other.away);
  return nearest?.name ?? null;
}

/** Edit distance: letters inserted, deleted or replaced. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (let place = 1; place <= other.length; place += 1) {
      const changed = (row[place - 1] ?? 0) + Number(letter !== other[place - 1]);
      next.push(Math.min(changed, (row[place] ?? 0) + 1, (next[place - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
