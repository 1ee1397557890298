/** How the signatures of a document's tokens are counted, each rule left out: a vector has to turn red. */
import { mutationsOf } from './mutation.ts';

const vectors = ['src/proof/verify/vectors.test.ts'];
const differ = 'Two verifiers would differ.';
const busy = 'A small document could keep a verifier busy.';
const names = '[...(named.get(name) ?? []), ...(rooted.get(name) ?? [])]';

export const tokenWorkMutations = [
  ...mutationsOf('src/proof/rfc3161/reading.ts', vectors, [
    ['number of certificates', 'must(all.length <= most, `There', 'must(all.length <= 99, `There', busy],
    ['one check more', 'const mostChecks = 768;', 'const mostChecks = 769;', differ],
    ['one check less', 'const mostChecks = 768;', 'const mostChecks = 767;', differ],
    ['checks of tokens', 'checks += 1;', 'checks += 0;', differ],
    ['checks of lists', 'of [...one.pool, ...one.crls]) {', 'of one.pool) {', differ],
    ['checks by roots', names, 'named.get(name) ?? []', differ],
    ['checks by other certificates', names, 'rooted.get(name) ?? []', busy],
    ['checks that come again', 'signers.set(signed, keys);', '', differ],
    ['checks by the same key', 'keys.add(textOf(spki));', 'keys.add(keys.size + textOf(spki));', differ],
    [
      'checks of what cannot be read',
      'if (one === null) continue;',
      'if (one === null) checks += 1;\n    if (one === null) continue;',
      differ,
    ],
  ]),
  ...mutationsOf('src/proof/rfc3161/judge.ts', vectors, [
    ['too many checks', 'if (!areTooMany) return', 'if (one) return', busy],
    [
      'what cannot be read among too many',
      'const one = read(anchor);',
      'const one = areTooMany ? readOr(null as never, () => read(anchor)) : read(anchor);',
      differ,
    ],
  ]),
  ...mutationsOf('src/proof/verify/clocks.ts', vectors, [
    [
      'work for the tokens of renewals',
      'const all = [anchors, ...renewals.map((renewal) => renewal.anchors)].flat();',
      'const all = renewals.length < 99 ? anchors : [];',
      busy,
    ],
  ]),
];
