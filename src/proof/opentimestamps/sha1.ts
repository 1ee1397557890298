/**
 * SHA-1 (FIPS 180-4), for the few proofs that use it. Collisions are no hazard to a timestamp: a forger would need a second
 * message for a hash that is already in a block. WebCrypto has it too, but not on pages without https.
 */

export function sha1(message: Uint8Array): Uint8Array {
  const padded = new DataView(new ArrayBuffer(64 * Math.ceil((message.length + 9) / 64)));
  new Uint8Array(padded.buffer).set(message);
  padded.setUint8(message.length, 0x80);
  padded.setUint32(padded.byteLength - 4, 8 * message.length);

  let state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  for (let block = 0; block < padded.byteLength; block += 64) {
    let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
    const words: number[] = [];
    for (let round = 0; round < 80; round += 1) {
      const before = (distance: number) => words[round - distance] ?? 0;
      const word =
        round < 16
          ? padded.getInt32(block + 4 * round)
          : rotated(before(3) ^ before(8) ^ before(14) ^ before(16), 1);
      words.push(word);
      const [mix, constant] = stageOf(round, b, c, d);
      [a, b, c, d, e] = [(rotated(a, 5) + mix + e + constant + word) | 0, a, rotated(b, 30), c, d];
    }
    const [p = 0, q = 0, r = 0, s = 0, t = 0] = state;
    state = [a + p, b + q, c + r, d + s, e + t];
  }
  const digest = new DataView(new ArrayBuffer(20));
  state.forEach((value, place) => {
    digest.setInt32(4 * place, value);
  });
  return new Uint8Array(digest.buffer);
}

/** The function and the constant of a round. */
function stageOf(round: number, b: number, c: number, d: number): [number, number] {
  if (round < 20) return [(b & c) | (~b & d), 0x5a827999];
  if (round < 40) return [b ^ c ^ d, 0x6ed9eba1];
  if (round < 60) return [(b & c) | (b & d) | (c & d), 0x8f1bbcdc];
  return [b ^ c ^ d, 0xca62c1d6];
}

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
