/** Bodies of a given size that cost a careless parser more than their size. */

const bytes = (text: string) => Buffer.from(text);

/** Each has about `size` bytes, never more. */
export const hostileBodies: Record<string, (size: number) => Buffer> = {
  'one long name above many elements': (size) =>
    bytes(`{"${'a'.repeat(size / 2 - 10)}":[${'0,'.repeat(size / 4 - 10)}0]}`),
  'many names': (size) => members(size, (n) => `"k${n}":0`),
  'many names that are numbers': (size) => members(size, (n) => `"${n * 40_009}":0`),
  'many names that begin alike': (size) => members(size, (n) => `"${'a'.repeat(100)}${n}":0`),
  'one name again and again': (size) => members(size, () => '"name":0'),
  'many elements': (size) => bytes(`{"data":[${'0,'.repeat(size / 2 - 10)}0]}`),
  'many empty objects': (size) => bytes(`{"data":[${'{},'.repeat(size / 3 - 10)}{}]}`),
  'deep nesting': (size) => bytes(`{"data":${'['.repeat(size / 2 - 10)}${']'.repeat(size / 2 - 10)}}`),
  'nesting that does not end': (size) => bytes('{"a":'.repeat(size / 5 - 1)),
  'a long string of escapes': (size) => bytes(`{"data":{"t":"${'\\u0041'.repeat(size / 6 - 10)}"}}`),
  'a long string of quotes': (size) => bytes(`{"data":{"t":"${'\\"'.repeat(size / 2 - 20)}"}}`),
  'a long string that ends badly': (size) => bytes(`{"data":{"t":"${'a'.repeat(size - 40)}\\u0000"}}`),
  'a string of high characters': (size) => bytes(`{"name":"${'\u{10ffff}'.repeat(size / 4 - 10)}"}`),
  'one huge number': (size) => bytes(`{"data":{"n":${'9'.repeat(size - 40)}}}`),
  'many long numbers': (size) => bytes(`{"data":[${'0.12345678901234567,'.repeat(size / 20 - 2)}0]}`),
  // As programs write them that print all digits of a double; within the number of values that a body may have.
  'many numbers with more digits than they need': (size) =>
    bytes(`{"data":{"n":[${'0.10000000000000001,'.repeat(Math.min(49_000, size / 20 - 2))}0]}}`),
  'many such numbers with an exponent': (size) =>
    bytes(`{"data":{"n":[${'1.0000000000000001e-17,'.repeat(Math.min(45_000, size / 23 - 2))}0]}}`),
  'many numbers with exponents': (size) => bytes(`{"data":[${'1e300,'.repeat(size / 6 - 4)}0]}`),
  'blanks alone': (size) => Buffer.alloc(size, ' '),
  'bytes that are not UTF-8': (size) => Buffer.alloc(size, 0xff),
  'text that is not JSON': (size) => Buffer.alloc(size, 'x'),
};

/** Adds members until the size is reached. */
function members(size: number, member: (number: number) => string): Buffer {
  const made: string[] = [];
  for (let length = 2; ; ) {
    const next = member(made.length);
    length += next.length + 1;
    if (length > size) return bytes(`{${made.join()}}`);
    made.push(next);
  }
}

/** A form of many small parts; it may be larger than the service accepts. */
export function hostileForm(size: number): { contentType: string; body: Buffer } {
  const boundary = 'x'.repeat(70);
  const part = (n: number) => `--${boundary}\r\nContent-Disposition: form-data; name="f${n}"\r\n\r\n\r\n`;
  const parts = Array.from({ length: Math.floor(size / part(10_000).length) }, (_, n) => part(n));
  const body = bytes(`${parts.join('')}--${boundary}--\r\n`);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}
