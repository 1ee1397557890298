/** A copy of a document with one thing changed, whatever its type allows. */

/** `path` in JavaScript notation: `anchors[0].chainId`. Undefined removes the member; a function is given the old value. */
export function changed<Document>(document: Document, path: string, value: unknown): Document {
  const copy = structuredClone(document);
  const steps = path.match(/[^.[\]]+/g) ?? [];
  const last = steps.pop() ?? '';
  const holder = steps.reduce((part, step) => part[step] as Parts, copy as Parts);
  if (holder === undefined) throw new Error(`the document has no ${path}`);
  const next = typeof value === 'function' ? value(holder[last]) : value;
  if (next === undefined) delete holder[last];
  else holder[last] = next;
  return copy;
}

interface Parts {
  [name: string]: unknown;
}

/** The first letter of hex digits in upper case, which is the same number. */
export function upperCase(hex: string): string {
  return hex.replace(/[a-f]/, (digit) => digit.toUpperCase());
}
