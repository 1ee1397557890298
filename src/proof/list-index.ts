/** Finds the items of a list by a key. A list of trusted blocks may have a million, and every anchor asks for some. */

/** The index of a list is made when it is first asked for, and kept as long as the list. */
export function createListIndex<Item, Key>(
  keyOf: (item: Item) => Key,
): (list: readonly Item[], key: Key) => Item[] {
  const known = new WeakMap<readonly Item[], { first: Map<Key, number>; next: Int32Array }>();
  return (list, key) => {
    const { first, next } = known.get(list) ?? indexOf(list, keyOf);
    known.set(list, { first, next });
    const found: Item[] = [];
    for (let at = first.get(key) ?? -1; at >= 0; at = next[at] ?? -1) found.push(list[at] as Item);
    return found;
  };
}

/** The place of the first item with each key, and for each item the place of the next one with the same key, or -1. */
function indexOf<Item, Key>(list: readonly Item[], keyOf: (item: Item) => Key) {
  const first = new Map<Key, number>();
  const next = new Int32Array(list.length);
  for (let at = list.length - 1; at >= 0; at -= 1) {
    const key = keyOf(list[at] as Item);
    next[at] = first.get(key) ?? -1;
    first.set(key, at);
  }
  return { first, next };
}
