/** Changes finished DER from the inside, and signs it again where it was signed. */
import { type Bytes, bits, element, join, sequence } from '../timestamps/der-writer.ts';
import { type SigningRule, signWith, type TestKey } from '../timestamps/test-keys.ts';

/** The content of an element without its tag and length. */
export function contentOf(encoded: Bytes): Bytes {
  const [, size = 0] = encoded;
  return encoded.subarray(size < 128 ? 2 : 2 + (size & 127));
}

/** The elements in an element, each as its bytes. */
export function partsOf(encoded: Bytes): Bytes[] {
  const parts: Bytes[] = [];
  for (let rest = contentOf(encoded); rest.length > 0; ) {
    const [, size = 0] = rest;
    const count = size < 128 ? 0 : size & 127;
    const length =
      count === 0 ? size : Number(`0x${Buffer.from(rest.subarray(2, 2 + count)).toString('hex')}`);
    parts.push(rest.subarray(0, 2 + count + length));
    rest = rest.subarray(2 + count + length);
  }
  return parts;
}

/** With another element at this place: of each level the number of the element, from the end if it is negative. */
export function withChange(encoded: Bytes, place: number[], change: (part: Bytes) => Bytes): Bytes {
  const [first, ...rest] = place;
  if (first === undefined) return change(encoded);
  const parts = partsOf(encoded);
  const part = parts.at(first);
  if (part === undefined) throw new Error(`there is no element ${place.join('.')}`);
  return element(encoded[0] ?? 0, join(...parts.with(first, withChange(part, rest, change))));
}

/** With this at the end of the element at that place. */
export function withMore(encoded: Bytes, place: number[], more: Bytes): Bytes {
  return withChange(encoded, place, (part) => element(part[0] ?? 0, join(contentOf(part), more)));
}

/** A certificate or list whose signed part was changed, signed again. */
export function signedAgain(
  whole: Bytes,
  change: (signed: Bytes) => Bytes,
  { by, rule = { hash: 'sha256' } }: { by: TestKey; rule?: SigningRule },
): Bytes {
  const [signed, algorithm] = partsOf(whole);
  if (!signed || !algorithm) throw new Error('it is not signed');
  const changed = change(signed);
  return sequence(changed, algorithm, bits(signWith(by, rule, changed)));
}
