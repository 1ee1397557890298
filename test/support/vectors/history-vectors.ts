/** Histories: proofs of one thing that follow each other, and each way in which they do not. Every proof by itself is right. */
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type History, historyFormat } from '../../../src/proof/verify/history.ts';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { fixed, type Made, makeProofs, type Thing, utf8 } from '../fixtures/proof-fixture.ts';
import { blocksOf, judgedAt, vaultKeys } from './base-batches.ts';
import { type ExpectedHistory, expect, type NamedVector, type Outcome, trustOf } from './vector.ts';

const { first: ann, second: bob, stranger: eve } = vaultKeys;
const addressOf = (key: Hex) => privateKeyToAccount(key).address;

/** A leaf in a batch of its own, after the one before. The rest follows, unless it is given. */
interface Leaf {
  kind: string;
  key: Hex;
  version: number;
  claims?: Record<string, unknown>;
  previousLeaf?: Hex;
  sequence?: number | bigint;
  previousSeal?: Hex;
  id?: string;
}

const file = (key: Hex, version: number, more: Partial<Leaf> = {}): Leaf => ({
  ...{ kind: 'file', key, version, ...more },
});
const give = (from: Hex, to: Hex, version: number, kind = 'transfer'): Leaf => ({
  ...{ kind, key: from, version, claims: { to: addressOf(to) } },
});

/** What was given away and came back. */
const usual = [file(ann, 1), file(ann, 2), give(ann, bob, 1), file(bob, 3), give(bob, ann, 2), file(ann, 4)];
/** Of a vault that said that it would seal nothing more. */
const revoked = [file(ann, 1), give(ann, bob, 1, 'revoke'), file(bob, 2), give(bob, ann, 1)];

interface Row {
  name: string;
  about: string;
  leaves: Leaf[];
  /** Of the chain; it passes unless given. */
  chain?: 'fail' | 'skipped';
  /** What becomes of the finished history. */
  edit?: (history: History) => unknown;
  /** Of the proof at this place. */
  outcomes?: Record<number, Outcome>;
  /** Blocks of these proofs are not trusted. */
  untrusted?: number[];
}

const good: Row[] = [
  {
    name: 'good',
    about:
      'Versions and transfers that follow each other; versions of transfers count by themselves, and numbers of seals by vault.',
    leaves: usual,
  },
  {
    name: 'of-one',
    about: 'One proof is a history too.',
    leaves: [file(ann, 7)],
  },
  {
    name: 'revoked-with-a-transfer-back',
    about: 'A vault that was revoked may get the thing back, as long as it seals nothing.',
    leaves: revoked,
  },
  {
    name: 'seals-apart',
    about: 'Between two seals of a vault there are others, so that the second cannot name the first.',
    leaves: [file(ann, 1), file(ann, 2, { sequence: 7, previousSeal: fixed(0x77) })],
  },
  {
    name: 'seals-of-two-epochs',
    about: 'The number of the second seal is of a new epoch, beyond 2^53.',
    leaves: [
      file(ann, 1, { sequence: 2n ** 53n }),
      file(ann, 2, { sequence: 2n ** 53n + 2n, previousSeal: fixed(0x77) }),
    ],
  },
  {
    name: 'one-untrusted',
    about: 'Nobody vouches for the time of one proof: the history is incomplete.',
    leaves: usual.slice(0, 3),
    untrusted: [1],
    outcomes: { 1: { skip: ['chain', 'finality', 'time'], time: null } },
  },
  {
    name: 'erased-transfer',
    about: 'The claims of a transfer were erased, so that nobody knows whether the next vault is its taker.',
    leaves: [file(ann, 1), give(ann, bob, 1), file(bob, 2)],
    chain: 'skipped',
    edit: (history) => erased(history, 1),
    outcomes: { 1: { skip: ['claims'], time: timeAt(1) } },
  },
  {
    name: 'erased-transfer-before-a-known-one',
    about: 'The claims of the first of two transfers were erased: the second does not make up for that.',
    leaves: [file(ann, 1), give(ann, bob, 1), file(bob, 2), give(bob, ann, 2), file(ann, 3)],
    chain: 'skipped',
    edit: (history) => erased(history, 1),
    outcomes: { 1: { skip: ['claims'], time: timeAt(1) } },
  },
  {
    name: 'erased-transfer-at-the-end',
    about: 'The claims of the last transfer were erased, but nobody has to know its taker yet.',
    leaves: [file(ann, 1), give(ann, bob, 1)],
    edit: (history) => erased(history, 1),
    outcomes: { 1: { skip: ['claims'], time: timeAt(1) } },
  },
];

const broken: Row[] = [
  {
    name: 'erased-transfer-and-another-vault',
    about: 'After a transfer that was erased, a second vault goes on with what a first one has taken.',
    leaves: [file(ann, 1), give(ann, bob, 1), file(bob, 2), file(eve, 3)],
    chain: 'fail',
    edit: (history) => erased(history, 1),
    outcomes: { 1: { skip: ['claims'], time: timeAt(1) } },
  },
  {
    name: 'one-failed',
    about: 'One proof is wrong by itself, although the chain is right: the history fails.',
    leaves: usual.slice(0, 3),
    edit: ({ proofs, ...rest }) => ({
      ...rest,
      proofs: proofs.map((proof, at) =>
        at === 1 ? { ...proof, content: { ...proof.content, digest: fixed(9) } } : proof,
      ),
    }),
    outcomes: { 1: { fail: ['digest'], time: timeAt(1) } },
  },
  {
    name: 'another-id',
    about: 'The history is said to be that of another thing.',
    leaves: usual.slice(0, 2),
    chain: 'fail',
    edit: (history) => ({ ...history, subject: { ...history.subject, id: 'fil_2' } }),
  },
  {
    name: 'another-workspace',
    about: 'The history is said to be that of another workspace.',
    leaves: usual.slice(0, 2),
    chain: 'fail',
    edit: (history) => ({ ...history, subject: { ...history.subject, workspaceId: 'ws_2' } }),
  },
  {
    name: 'two-things',
    about: 'The second proof is that of another thing, although it names the leaf before.',
    leaves: [file(ann, 1), file(ann, 2, { id: 'fil_2' })],
    chain: 'fail',
  },
  {
    name: 'gap',
    about: 'One proof was left out.',
    leaves: usual.slice(0, 3),
    chain: 'fail',
    edit: (history) => ({ ...history, proofs: history.proofs.toSpliced(1, 1) }),
    outcomes: { 1: { time: timeAt(2) } },
  },
  {
    name: 'without-its-beginning',
    about: 'The first proof was left out.',
    leaves: usual.slice(0, 2),
    chain: 'fail',
    edit: (history) => ({ ...history, proofs: history.proofs.slice(1) }),
    outcomes: { 0: { time: timeAt(1) } },
  },
  {
    name: 'two-beginnings',
    about: 'The second leaf names no leaf before it.',
    leaves: [file(ann, 1), file(ann, 2, { previousLeaf: `0x${'00'.repeat(32)}` })],
    chain: 'fail',
  },
  {
    name: 'version-twice',
    about: 'Two leaves of one kind have the same version.',
    leaves: [file(ann, 2), file(ann, 2)],
    chain: 'fail',
  },
  {
    name: 'version-falls',
    about: 'The version falls; compared as texts it would rise.',
    leaves: [file(ann, 10), file(ann, 9)],
    chain: 'fail',
  },
  {
    name: 'version-falls-after-a-transfer',
    about: 'The version falls, with a leaf of another kind in between.',
    leaves: [file(ann, 3), give(ann, bob, 4), file(bob, 2)],
    chain: 'fail',
  },
  {
    name: 'another-vault',
    about: 'Another vault seals the second version, although the thing was not given to it.',
    leaves: [file(ann, 1), file(eve, 2)],
    chain: 'fail',
  },
  {
    name: 'another-taker',
    about: 'Another vault than the one that it was given to seals what follows.',
    leaves: [file(ann, 1), give(ann, bob, 1), file(eve, 2)],
    chain: 'fail',
  },
  {
    name: 'kept-after-a-transfer',
    about: 'The vault that gave it away seals what follows.',
    leaves: [file(ann, 1), give(ann, bob, 1), file(ann, 2)],
    chain: 'fail',
  },
  {
    name: 'kept-after-a-revoke',
    about: 'The vault seals what follows its revoke.',
    leaves: [file(ann, 1), give(ann, ann, 1, 'revoke'), file(ann, 2)],
    chain: 'fail',
  },
  {
    name: 'taker-after-a-revoke',
    about: 'Another vault than the one that the revoke names seals what follows.',
    leaves: [file(ann, 1), give(ann, bob, 1, 'revoke'), file(eve, 2)],
    chain: 'fail',
  },
  {
    name: 'revoked-and-back',
    about: 'A vault that was revoked gets the thing back, and seals again.',
    leaves: [...revoked, file(ann, 3)],
    chain: 'fail',
  },
  {
    name: 'transfer-to-nobody',
    about: 'A transfer names something that is no address.',
    leaves: [file(ann, 1), { ...give(ann, bob, 1), claims: { to: 'bob' } }],
    chain: 'fail',
  },
  {
    name: 'transfer-to-a-number',
    about: 'A transfer names a number.',
    leaves: [file(ann, 1), { ...give(ann, bob, 1), claims: { to: 5 } }],
    chain: 'fail',
  },
  {
    name: 'transfer-without-a-taker',
    about: 'A transfer names nobody.',
    leaves: [file(ann, 1), { ...give(ann, bob, 1), claims: {} }],
    chain: 'fail',
  },
  {
    name: 'seal-number-twice',
    about: 'One vault has two seals under one number.',
    leaves: [file(ann, 1), file(ann, 2, { sequence: 1, previousSeal: fixed(0x77) })],
    chain: 'fail',
  },
  {
    name: 'seal-number-twice-apart',
    about: 'One vault has two seals under one number, with one of another vault in between.',
    leaves: [
      ...[file(ann, 1), give(ann, bob, 1), give(bob, ann, 2)],
      file(ann, 2, { sequence: 2, previousSeal: fixed(0x77) }),
    ],
    chain: 'fail',
  },
  {
    name: 'seal-numbers-fall',
    about: 'The numbers of the seals fall; compared as texts they would rise.',
    leaves: [file(ann, 1, { sequence: 10 }), file(ann, 2, { sequence: 9, previousSeal: fixed(0x77) })],
    chain: 'fail',
  },
  {
    name: 'seal-before-not-named',
    about: 'The numbers of two seals follow each other, but the second names another seal as the one before.',
    leaves: [file(ann, 1), file(ann, 2, { previousSeal: fixed(0x77) })],
    chain: 'fail',
  },
  {
    name: 'seal-before-not-named-beyond-2-53',
    about: 'The same with numbers that a double cannot tell apart.',
    leaves: [
      file(ann, 1, { sequence: 2n ** 53n + 1n }),
      file(ann, 2, { sequence: 2n ** 53n + 2n, previousSeal: fixed(0x77) }),
    ],
    chain: 'fail',
  },
];

/** Then no proof is looked at. */
const malformed: [name: string, about: string, edit: (history: History) => unknown][] = [
  ['no-proofs', 'A history without proofs.', (history) => ({ ...history, proofs: [] })],
  ['proofs-no-list', 'Its proofs are no list.', (history) => ({ ...history, proofs: history.proofs[0] })],
  ['proofs-a-text', 'Its proofs are a text.', (history) => ({ ...history, proofs: 'x' })],
  ['proofs-an-object', 'Its proofs are an object.', (history) => ({ ...history, proofs: { a: 1 } })],
  ['format', 'It is of a later format.', (history) => ({ ...history, format: 'holdfast/history@2' })],
  ['unknown-member', 'A member that the format does not have.', (history) => ({ ...history, note: '' })],
  [
    'unknown-in-subject',
    'A member that the subject does not have.',
    (history) => ({ ...history, subject: { ...history.subject, name: 'note.txt' } }),
  ],
  [
    'subject-with-a-number',
    'The id of the subject is a number.',
    (history) => ({ ...history, subject: { ...history.subject, id: 7 } }),
  ],
  ['without-subject', 'The subject is missing.', ({ subject: _, ...rest }) => rest],
  [
    'malformed-proof',
    'One of its proofs is malformed.',
    (history) => ({ ...history, proofs: [...history.proofs, { ...history.proofs[0], kind: 'File' }] }),
  ],
  [
    'name-twice',
    'A name occurs twice.',
    (history) => JSON.stringify(history).replace('"format":', `"format":"${historyFormat}","format":`),
  ],
];

export async function historyVectors(): Promise<NamedVector[]> {
  const rows = await Promise.all([...good, ...broken].map(vectorOf));
  const short = await makeHistory(usual.slice(0, 1));
  return [
    ...rows,
    ...malformed.map(([name, about, edit]) => {
      const document = edit(short);
      return {
        name: `history-malformed-${name}`,
        about,
        ...(typeof document === 'string' ? { document } : { proof: document }),
        ...givenFor(short),
        expected: { verdict: 'fail', chain: 'fail', proofs: [] } satisfies ExpectedHistory,
      };
    }),
  ];
}

async function vectorOf(row: Row): Promise<NamedVector> {
  const { name, about, leaves, chain = 'pass', edit, outcomes = {}, untrusted = [] } = row;
  const made = await makeHistory(leaves);
  const history = (edit?.(made) ?? made) as History;
  const proofs = history.proofs.map((proof, at) => expect(proof, outcomes[at] ?? { time: timeAt(at) }));
  const all = [chain, ...proofs.map(({ verdict }) => verdict)];
  const verdict = all.includes('fail') ? 'fail' : all.every((one) => one === 'pass') ? 'pass' : 'incomplete';
  return {
    name: `history-${name}`,
    about,
    proof: history,
    ...givenFor({ ...made, proofs: made.proofs.filter((_, at) => !untrusted.includes(at)) }),
    expected: { verdict, chain, proofs },
  };
}

function givenFor({ proofs }: History): Pick<NamedVector, 'content' | 'trust' | 'at' | 'rpc'> {
  const blocks = proofs.flatMap(({ anchors }) => blocksOf(anchors));
  return { content: null, trust: trustOf({ blocks }), at: judgedAt, rpc: null };
}

async function makeHistory(leaves: Leaf[]): Promise<History> {
  const made: Made[] = [];
  /** Of each vault. */
  const last = new Map<Hex, { sequence: bigint; sealId: Hex }>();
  for (const [place, { sequence, previousSeal, ...leaf }] of leaves.entries()) {
    const before = last.get(leaf.key);
    const number = BigInt(sequence ?? (before?.sequence ?? 0n) + 1n);
    const thing: Thing = {
      ...{ id: 'fil_01M7EG19SH3FMASFKSTVVAKF4G', canonicalization: 'raw', content: utf8(`${place}\n`) },
      ...(made.length > 0 ? { previousLeaf: made.at(-1)?.leaf as Hex } : {}),
      ...leaf,
    };
    const seal = previousSeal ?? before?.sealId;
    const [proved] = await makeProofs([thing], {
      ...{ chainId: 1, blockNumber: 21_000_000 + place, blockTime: secondsAt(place) },
      ...{ sequence: number, ...(seal ? { previousSeal: seal } : {}) },
    });
    if (!proved) throw new Error('nothing was proved');
    last.set(leaf.key, { sequence: number, sealId: proved.sealId });
    made.push(proved);
  }
  const proofs = made.map(({ proof }) => proof);
  const [{ subject }] = proofs as [Proof];
  return { format: historyFormat, subject, proofs };
}

function erased(history: History, place: number): History {
  const proofs = history.proofs.map((proof, at) => (at === place ? { ...proof, claims: null } : proof));
  return { ...history, proofs };
}

function secondsAt(place: number): number {
  return 1_794_709_170 + 12 * place;
}

function timeAt(place: number): string {
  return new Date(secondsAt(place) * 1000).toISOString().replace('.000', '');
}
