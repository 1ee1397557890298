/** Rules about histories, each left out: a vector has to turn red. */
import { mutationsOf } from './mutation.ts';

const differ = 'Two verifiers would differ.';

export const historyMutations = mutationsOf(
  'src/proof/verify/history.ts',
  ['src/proof/verify/vectors.test.ts'],
  [
    [
      'failed proof of a history',
      "linked.status === 'fail' || verdicts.includes('fail')",
      "linked.status === 'fail'",
      'A history with a forged proof would pass.',
    ],
    [
      'failed chain',
      "linked.status === 'fail' || verdicts.includes('fail')",
      "verdicts.includes('fail')",
      'A history with a gap would pass.',
    ],
    [
      'incomplete proof of a history',
      "linked.status === 'skipped' || verdicts.includes('incomplete')",
      "linked.status === 'skipped'",
      'A history without clocks would pass.',
    ],
    [
      'spelling of a history',
      'value = parseJsonText(document);',
      'value = JSON.parse(document);',
      'Two readers could read two histories.',
    ],
    [
      'form of a history',
      'if (fault) return `$' + "{fault.path || 'The document'}",
      'if (fault === null) return `$' + "{fault.path || 'The document'}",
      differ,
    ],
    ['form of its proofs', 'if (fault) return `proofs[', 'if (fault === null) return `proofs[', differ],
    ['members of its subject', 'subject: checkSubject', 'subject: any', differ],
    ['history of nothing', '{ min: 1, max: 100_000 }', '{ max: 100_000 }', 'Nothing at all would pass.'],
    [
      'workspace of a history',
      'proof.subject.workspaceId !== subject.workspaceId || proof',
      'proof',
      'Proofs of another thing would do.',
    ],
    [
      'thing of a history',
      ' || proof.subject.id !== subject.id) {',
      ') {',
      'Proofs of another thing would do.',
    ],
    [
      'leaf before',
      'if (previousLeaf !== previous) return',
      "if (previousLeaf === '0x') return",
      'A version could be left out.',
    ],
    [
      'first leaf',
      'if (previousLeaf !== previous) return',
      'if (place > 0 && previousLeaf !== previous) return',
      'The beginning could be left out.',
    ],
    [
      'versions that rise',
      'if (BigInt(version) <= (versions.get(kind) ?? 0n)) return',
      'if (BigInt(version) < (versions.get(kind) ?? 0n)) return',
      differ,
    ],
    ['versions by kind', '(versions.get(kind) ?? 0n)', '([...versions.values()].at(-1) ?? 0n)', differ],
    [
      'versions as numbers',
      'if (BigInt(version) <= (versions.get(kind) ?? 0n)) return',
      'if (version <= String(versions.get(kind) ?? 0n)) return',
      differ,
    ],
    [
      'revoked vault',
      'if (revoked.has(vault)) return',
      "if (vault === '0x') return",
      'A vault whose key was lost could go on.',
    ],
    [
      'owner of a thing',
      'else if (vault !== owner) return',
      "else if (vault === '0x') return",
      'Anybody could go on with the thing of another.',
    ],
    [
      'owner that is not known',
      'if (owner === null) unknownOwners += 1;',
      'if (owner === null) unknownOwners += 0;',
      'Anybody could go on with a thing whose transfer was erased.',
    ],
    [
      'two seals under one number',
      'if ((seals.get(sealNumber) ?? id) !== id) {',
      "if (id === '0x') {",
      'A vault could contradict itself.',
    ],
    [
      'seal numbers by vault',
      'const sealNumber = `$' + '{vault} $' + '{seal.sequence}`;',
      'const sealNumber = seal.sequence;',
      differ,
    ],
    [
      'seal numbers that fall',
      'if (last && BigInt(seal.sequence) < BigInt(last.sequence)) {',
      "if (last?.sequence === '') {",
      'A vault could seal in the name of its past.',
    ],
    [
      'seal numbers as numbers',
      'if (last && BigInt(seal.sequence) < BigInt(last.sequence)) {',
      'if (last && seal.sequence < last.sequence) {',
      differ,
    ],
    [
      'seal that was left out',
      ' && seal.previousSeal !== last.id) {',
      " && seal.previousSeal === '0x') {",
      'A vault could hide a seal.',
    ],
    [
      'seals that do not follow',
      'BigInt(seal.sequence) === BigInt(last.sequence) + 1n && seal',
      'seal',
      'Two verifiers would differ.',
    ],
    [
      'seal numbers beyond 2^53',
      'BigInt(seal.sequence) === BigInt(last.sequence) + 1n',
      'Number(seal.sequence) === Number(last.sequence) + 1',
      'A vault could hide a seal.',
    ],
    [
      'revoke without an end',
      'if (kind === revokeKind) revoked.add(vault);',
      '',
      'A vault whose key was lost could go on.',
    ],
    [
      'transfer to another',
      'if (kind === transferKind || kind === revokeKind) {',
      'if (kind === revokeKind) {',
      'Whoever gave a thing away could go on with it.',
    ],
    [
      'revoke to another',
      'if (kind === transferKind || kind === revokeKind) {',
      'if (kind === transferKind) {',
      'Nobody could go on after a revoke.',
    ],
    [
      'taker that is none',
      'if (taker === undefined) return',
      "if (taker === '0x') return",
      'A thing could be given to nobody, and taken by anybody.',
    ],
    ['capital letters of a taker', '(to.toLowerCase() as Hex)', '(to as Hex)', differ],
  ],
);
