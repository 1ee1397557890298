/** Rules about the keys and signature algorithms of timestamp tokens, each left out: a vector has to turn red. */
import { mutationsOf } from './mutation.ts';

const vectors = ['src/proof/verify/vectors.test.ts'];
const differ = 'Two verifiers would differ.';

export const tokenAlgorithmMutations = mutationsOf('src/proof/rfc3161/algorithms.ts', vectors, [
  ['parameters of a hash', "return isPlain ? hashAt(oid, '2.16", "return true ? hashAt(oid, '2.16", differ],
  [
    'hash that is named',
    '(named ?? hash) !== hash ? undefined',
    'false ? undefined',
    'A token could be signed over another hash than it says.',
  ],
  ['parameters of ECDSA', "return parameters ? undefined : scheme('ECDSA'", "return scheme('ECDSA'", differ],
  ['parameters of RSA', 'return isPlain ? scheme(', 'return true ? scheme(', differ],
  [
    'two parameters',
    "const oid = id?.tag === objectId && more === undefined ? oidOf(id) : '';",
    "const oid = id?.tag === objectId ? oidOf(id) : '';",
    differ,
  ],
  [
    'mask of PSS',
    'if (mask.oid !== `$' +
      '{rsa}8` || !mask.parameters || hashOf(mask.parameters) !== hash) return undefined;',
    '',
    differ,
  ],
  ['function of the mask', 'if (mask.oid !== `$' + '{rsa}8` || !mask', 'if (!mask', differ],
  ['salt of PSS', 'salt === undefined ? 20 : smallInteger', 'salt === undefined ? 32 : smallInteger', differ],
  ['small RSA keys', 'bits >= 2048 && bits <= 8192', 'bits <= 8192', 'A key that is broken could stamp.'],
  ['large RSA keys', 'bits >= 2048 && bits <= 8192', 'bits >= 2048', differ],
  ['RSA keys of 8,192 bits', 'bits >= 2048 && bits <= 8192', 'bits >= 2048 && bits < 8192', differ],
  ['RSA keys of 2,048 bits', 'bits >= 2048 && bits <= 8192', 'bits > 2048 && bits <= 8192', differ],
  ['exponent 1', 'power > 1 &&', 'power > 0 &&', 'Anybody could sign.'],
  ['exponent 3', 'power > 1 &&', 'power > 3 &&', differ],
  ['even exponent', '&& power % 2 === 1;', ';', differ],
  ['hash of the mask', '|| hashOf(mask.parameters) !== hash) return', ') return', differ],
  [
    'trailer of PSS',
    '[around(0), around(1), [around(2)]]',
    '[around(0), around(1), [around(2)], [around(3)]]',
    differ,
  ],
  ['old form of a key', 'key[0] !== 4 || key.length', 'key.length', differ],
  ['key off its curve', ' && (y * y - x * x * x + 3n * x - b) % p === 0n', '', differ],
  ['key beyond its curve', 'x < p && y < p && (', '(', differ],
  ['even modulus', 'first < 128 && isOdd && bits', 'first < 128 && bits', differ],
  [
    'long number of a signature',
    '> 127 || number.length > size) return undefined;',
    '> 127) return undefined;',
    'A verifier would end instead of judging.',
  ],
  [
    'parameters of an RSA key',
    'return parameters?.tag === nullTag && isRsaKey(key)',
    'return isRsaKey(key)',
    differ,
  ],
  [
    'negative number of a signature',
    'if ((value[0] ?? 0) > 127 || number.length > size) return undefined;',
    'if (number.length > size) return undefined;',
    'A signature could be written in two ways.',
  ],
]);
