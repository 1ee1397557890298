/** Tokens whose certificate has ended, with and without later batches that cover them, and renewals that cover nothing. */
import type { Hex } from 'viem';
import type { Proof, Renewal } from '../../../src/proof/verify/proof.ts';
import { anchorOf, fixed } from '../fixtures/proof-fixture.ts';
import { type BaseThing, blocksOf, evmOf, firstTime, givenWith } from './base-batches.ts';
import { changed } from './changed.ts';
import { bytesOf, commitRoot, openTimestamps, type Stamp, stampRoot } from './clocks.ts';
import { anchoredBy, stampedAt } from './good-vectors.ts';
import { renewalOf } from './renewal-batch.ts';
import { expect, type NamedVector, type Outcome, type TrustFile, trustOf } from './vector.ts';

/** The first certificate ends on 2036-11-12, ten times 365 days after the token. */
const afterTheEnd = '2040-01-01T00:00:00Z';
const laterBlock = { chainId: 1, blockNumber: 44_000_000, blockTime: 2_072_000_000 };
/** Of that block: the certificate was still valid. */
const renewedAt = '2035-08-29T11:33:20Z';
/** An hour before the token. */
const earlierBlock = { chainId: 1, blockNumber: 23_900_000, blockTime: Date.parse(stampedAt) / 1000 - 3_600 };
const tooLateBlock = { chainId: 1, blockNumber: 48_000_000, blockTime: 2_124_000_000 };

/** One renewal, anchored in a block of Ethereum. */
export async function renewalsFor(item: Uint8Array, covers: Renewal['covers']): Promise<Renewal[]> {
  return [await renewalOf(item, covers, { clocks: async (batch) => [await anchorOf(batch, laterBlock)] })];
}

interface Parts {
  record: BaseThing;
  stamp: Stamp;
  /** The proof with nothing but that token. */
  stamped: Proof;
  /** The same, renewed by a block in 2035. */
  renewed: Proof;
  trust: TrustFile;
}

export async function renewalVectors(record: BaseThing): Promise<NamedVector[]> {
  const stamp = stampRoot(record.proof.merkle.root, { at: stampedAt });
  const stamped = anchoredBy(record.proof, stamp.anchor);
  const renewals = await renewalsFor(stamp.token, { renewal: null, anchor: 0 });
  const trust = trustOf({
    blocks: renewals.flatMap(({ anchors }) => blocksOf(anchors)),
    tsaRoots: [stamp.root],
  });
  const parts = { record, stamp, stamped, renewed: { ...stamped, renewals }, trust };
  return [
    ...endedVectors(parts),
    ...(await generationVectors(parts)),
    ...(await rootVectors(parts)),
    ...(await brokenVectors(parts)),
  ];
}

function endedVectors({ record, stamp, stamped, renewed, trust }: Parts): NamedVector[] {
  const given = { ...givenWith(record, renewed), trust, at: afterTheEnd };
  const onlyToken = trustOf({ tsaRoots: [stamp.root] });
  return [
    {
      name: 'renewal-of-an-ended-token',
      about: 'The certificate ended in 2036; a block of 2035 shows that the token existed before.',
      ...given,
      expected: expect(renewed, { time: stampedAt }),
    },
    {
      name: 'renewal-not-needed',
      about: 'The certificate is still valid, so nobody has to know the later block.',
      ...{ ...given, trust: onlyToken, at: '2036-01-01T00:00:00Z' },
      expected: expect(renewed, { skip: ['chain', 'finality'], time: stampedAt }),
    },
    {
      name: 'renewal-missing',
      about: 'The certificate has ended, and nothing covers the token.',
      ...{ ...given, proof: stamped, trust: onlyToken },
      expected: expect(stamped, { skip: ['token', 'time'], time: null }),
    },
    {
      name: 'renewal-by-an-untrusted-block',
      about: 'The certificate has ended, and nobody knows the block that would vouch for the later batch.',
      ...{ ...given, trust: onlyToken },
      expected: expect(renewed, { skip: ['token', 'chain', 'finality', 'time'], time: null }),
    },
    {
      name: 'renewal-and-a-wrong-path',
      about: 'The path of the document is wrong, but its renewal is right, and is judged all the same.',
      ...{ ...given, proof: changed(renewed, 'merkle.proof[0]', fixed(9)) },
      expected: expect(renewed, { fail: ['path'], skip: ['token', 'time'], time: null }),
    },
    {
      name: 'renewal-and-a-wrong-leaf',
      about: 'The leaf is wrong, so that nobody follows its path, but the renewal is judged all the same.',
      ...{ ...given, proof: changed(renewed, 'leaf.values[1]', fixed(9)) },
      expected: expect(renewed, { fail: ['leaf'], skip: ['path', 'token', 'time'], time: null }),
    },
    {
      name: 'renewal-later-than-the-judgement',
      about:
        'At the time of judgement the later batch did not exist yet, but then the certificate was valid.',
      ...{ ...given, at: '2030-01-01T00:00:00Z' },
      expected: expect(renewed, { skip: ['registry', 'chain', 'finality'], time: stampedAt }),
    },
  ];
}

async function generationVectors({ record, stamp, stamped }: Parts): Promise<NamedVector[]> {
  const { second, third, renewals } = await twoGenerations(stamp);
  const long = { ...stamped, renewals };
  const given = givenWith(record, long);
  const roots = [stamp.root, second.root, third.root];
  const tooLate = {
    ...stamped,
    renewals: [
      await renewalOf(
        stamp.token,
        { renewal: null, anchor: 0 },
        { clocks: async (batch) => [await anchorOf(batch, tooLateBlock)] },
      ),
    ],
  };
  const [inTime] = await renewalsFor(stamp.token, { renewal: null, anchor: 0 });
  const several = { ...tooLate, renewals: [...tooLate.renewals, inTime as Renewal] };
  const behind = {
    ...stamped,
    renewals: [
      await renewalOf(
        stamp.token,
        { renewal: null, anchor: 0 },
        { clocks: (batch) => Promise.all([earlierBlock, laterBlock].map((block) => anchorOf(batch, block))) },
      ),
    ],
  };
  const middle = await laterToken(stamped, stamp);
  return [
    {
      name: 'renewal-by-a-clock-that-is-behind',
      about:
        'Of the two clocks of the later batch, one says a time before that of the token, which does not count for it.',
      ...{ ...givenWith(record, behind), at: afterTheEnd },
      trust: trustOf({
        blocks: blocksOf(behind.renewals.flatMap(({ anchors }) => anchors)),
        tsaRoots: [stamp.root],
      }),
      expected: expect(behind, { time: stampedAt }),
    },
    {
      name: 'renewal-of-another-token',
      about:
        'The root is covered by a batch of 2034, whose token is covered by one of 2035; the token of 2026 is covered by none.',
      ...{ ...givenWith(record, middle.proof), trust: middle.trust, at: '2050-01-01T00:00:00Z' },
      expected: expect(middle.proof, { skip: ['token 0'], time: '2034-01-01T00:00:00Z' }),
    },
    {
      name: 'renewal-by-two-batches',
      about: 'Two later batches cover the token: one too late, one in time. The earliest time counts.',
      ...{ ...givenWith(record, several), at: afterTheEnd },
      trust: trustOf({
        blocks: several.renewals.flatMap(({ anchors }) => blocksOf(anchors)),
        tsaRoots: [stamp.root],
      }),
      expected: expect(several, { time: stampedAt }),
    },
    {
      name: 'renewal-of-two-generations',
      about: 'The token of 2026 is covered by a token of 2036, which a token of 2046 covers; judged in 2050.',
      ...{ ...given, trust: trustOf({ tsaRoots: roots }), at: '2050-01-01T00:00:00Z' },
      expected: expect(long, { time: stampedAt }),
    },
    {
      name: 'renewal-of-two-generations-first-half',
      about: 'Judged in 2040: the second token is still valid, and the third one counts as absent.',
      ...{ ...given, trust: trustOf({ tsaRoots: roots }), at: afterTheEnd },
      expected: expect(long, { skip: ['token 1.0'], time: stampedAt }),
    },
    {
      name: 'renewal-of-two-generations-last-untrusted',
      about: 'Nobody trusts the last authority: all three tokens have ended or count for nothing.',
      ...{ ...given, trust: trustOf({ tsaRoots: roots.slice(0, 2) }), at: '2050-01-01T00:00:00Z' },
      expected: expect(long, { skip: ['token', 'time'], time: null }),
    },
    {
      name: 'renewal-too-late',
      about: 'The later batch is of 2037, when the certificate had already ended.',
      ...{ ...givenWith(record, tooLate), at: afterTheEnd },
      trust: trustOf({ blocks: blocksOf(tooLate.renewals[0]?.anchors ?? []), tsaRoots: [stamp.root] }),
      expected: expect(tooLate, { skip: ['token', 'time'], time: null }),
    },
  ];
}

/** A token that has ended, a root that is covered, and a renewal that covers the token of that. */
async function laterToken(stamped: Proof, stamp: Stamp): Promise<{ proof: Proof; trust: TrustFile }> {
  const stamps: Stamp[] = [];
  const root = bytesOf(stamped.merkle.root);
  const first = await renewalOf(
    root,
    { renewal: null, anchor: null },
    {
      clocks: (batch) => {
        stamps.push(stampRoot(batch.root, { at: '2034-01-01T00:00:00Z', kind: 'p384' }));
        return stamps.map(({ anchor }) => anchor);
      },
    },
  );
  const [middle] = stamps;
  if (!middle) throw new Error('nothing was stamped');
  const [next] = await renewalsFor(middle.token, { renewal: 0, anchor: 0 });
  if (!next) throw new Error('nothing was renewed');
  return {
    proof: { ...stamped, renewals: [first, next] },
    trust: trustOf({ blocks: blocksOf(next.anchors), tsaRoots: [stamp.root, middle.root] }),
  };
}

/** Two renewals; each authority has keys of its own. */
async function twoGenerations(stamp: Stamp) {
  const stamps: Stamp[] = [];
  const by = (at: string, kind: 'p384' | 'rsa') => (batch: { root: Hex }) => {
    const made = stampRoot(batch.root, { at, kind });
    stamps.push(made);
    return [made.anchor];
  };
  const first = await renewalOf(
    stamp.token,
    { renewal: null, anchor: 0 },
    { clocks: by('2036-01-01T00:00:00Z', 'p384') },
  );
  const [second] = stamps;
  if (!second) throw new Error('nothing was stamped');
  const next = await renewalOf(
    second.token,
    { renewal: 0, anchor: 0 },
    { clocks: by('2045-06-01T00:00:00Z', 'rsa'), sequence: 80 },
  );
  const [, third] = stamps;
  if (!third) throw new Error('nothing was stamped');
  return { second, third, renewals: [first, next] };
}

/** Batches that were not stamped themselves, because of the authority's rate limit. */
async function rootVectors({ record, trust }: Parts): Promise<NamedVector[]> {
  const { proof } = record;
  const { root } = proof.merkle;
  const pending = openTimestamps(commitRoot(root, { height: 925_000, at: stampedAt }).file);
  const renewals = await renewalsFor(bytesOf(root), { renewal: null, anchor: null });
  const unstamped = { ...anchoredBy(proof, pending), renewals };
  const [first] = renewals as [Renewal];
  const second = await renewalOf(
    bytesOf(first.root),
    { renewal: 0, anchor: null },
    { clocks: async (batch) => [await anchorOf(batch, tooLateBlock)], sequence: 80, others: 0 },
  );
  const twice = { ...unstamped, renewals: [first, second] };
  const astray = changed(unstamped, 'merkle.proof[0]', fixed(9));
  const file = Buffer.from(pending.proof, 'base64');
  const swapped = {
    ...unstamped,
    renewals: [
      { ...second, covers: { renewal: 1, anchor: null } },
      { ...first, covers: { renewal: null, anchor: null } },
    ],
  };
  const ofFile = { ...unstamped, renewals: await renewalsFor(file, { renewal: null, anchor: 0 }) };
  return [
    {
      name: 'renewal-of-a-root',
      about: 'Nobody vouches for the batch itself; the head of a later batch covers its root.',
      ...{ ...givenWith(record, unstamped), trust: trustOf({ blocks: blocksOf(first.anchors) }) },
      at: afterTheEnd,
      expected: expect(unstamped, { skip: ['block'], time: renewedAt }),
    },
    {
      name: 'renewal-of-a-root-without-a-path',
      about: 'The root is covered, but the leaf does not lead to it.',
      ...{ ...givenWith(record, astray), trust: trustOf({ blocks: blocksOf(first.anchors) }) },
      at: afterTheEnd,
      expected: expect(astray, { fail: ['path'], skip: ['block', 'time'], time: null }),
    },
    {
      name: 'renewal-of-a-root-twice',
      about: 'The root is covered by a batch whose root is covered by a third one; only the last is trusted.',
      ...{ ...givenWith(record, twice), trust: trustOf({ blocks: blocksOf(second.anchors) }) },
      at: afterTheEnd,
      expected: expect(twice, { skip: ['block', 'chain 0.0', 'finality 0.0'], time: '2037-04-22T08:00:00Z' }),
    },
    {
      name: 'renewal-broken-order',
      about:
        'The first renewal really covers the second one, but a renewal covers only what comes before it.',
      ...{
        ...givenWith(record, swapped),
        trust: trustOf({ blocks: blocksOf([...first.anchors, ...second.anchors]) }),
      },
      at: afterTheEnd,
      expected: expect(swapped, {
        fail: ['renewal 0'],
        skip: ['block', 'registry 0.0', 'chain 0.0', 'finality 0.0'],
        time: renewedAt,
      }),
    },
    {
      name: 'renewal-of-an-opentimestamps-file',
      about: 'The file is an item of evidence; what its block says does not change by that.',
      ...{ ...givenWith(record, ofFile), at: afterTheEnd },
      trust: trustOf({ blocks: ofFile.renewals.flatMap(({ anchors }) => blocksOf(anchors)) }),
      expected: expect(ofFile, { skip: ['block', 'time'], time: null }),
    },
    {
      name: 'renewal-of-a-root-untrusted',
      about: 'The later batch covers the root, but nobody knows its block.',
      ...{ ...givenWith(record, unstamped), trust: trustOf({ tsaRoots: trust.tsaRoots ?? [] }) },
      at: afterTheEnd,
      expected: expect(unstamped, { skip: ['block', 'chain', 'finality', 'time'], time: null }),
    },
  ];
}

/** Everything is trusted, but the item is not where the renewal says. */
async function brokenVectors({ record, stamp, renewed, trust }: Parts): Promise<NamedVector[]> {
  const given = { ...givenWith(record, renewed), trust, at: afterTheEnd };
  const notLed = ['token', 'registry', 'chain', 'finality', 'time'];
  const rows: [name: string, about: string, path: string, value: unknown][] = [
    ['itself', 'It covers its own token.', 'renewals[0].covers', { renewal: 0, anchor: 0 }],
    ['a-later-one', 'It covers a renewal that does not exist.', 'renewals[0].covers.renewal', 1],
    ['far-beyond', 'It covers a renewal far beyond the list.', 'renewals[0].covers.renewal', 1_000_000],
    ['a-missing-anchor', 'It covers an anchor that is not there.', 'renewals[0].covers.anchor', 1],
    ['another-anchor', 'It covers the root instead of the token.', 'renewals[0].covers.anchor', null],
    ['wrong-path', 'The path in the tree of evidence has another element.', 'renewals[0].path[0]', fixed(9)],
    ['path-one-short', 'The path in the tree of evidence is too short.', 'renewals[0].path', []],
    ['wrong-evidence-root', 'The head has another root.', 'renewals[0].head.evidenceRoot', fixed(0x09)],
    ['wrong-log-head', 'The head has another log.', 'renewals[0].head.logHead', fixed(0x09)],
    ['wrong-proof', 'The head is not in the batch.', 'renewals[0].proof[0]', fixed(0x09)],
    ['wrong-root', 'The batch has another root.', 'renewals[0].root', fixed(0x09)],
  ];
  const broken = rows.map(([name, about, path, value]) =>
    brokenVector(name, about, changed(renewed, path, value), { fail: ['renewal'], skip: notLed, time: null }),
  );
  const evm = evmOf(record.proof);
  const both = { ...renewed, anchors: [evm, stamp.anchor] };
  const trustBoth = { ...trust, blocks: [...(trust.blocks ?? []), ...blocksOf([evm])] };
  const ofEvm = {
    ...both,
    renewals: await renewalsFor(bytesOf(evm.blockHash), { renewal: null, anchor: 0 }),
  };
  const unknown = { type: 'witness-log' };
  const ofUnknown = {
    ...anchoredBy(record.proof, unknown, evm),
    renewals: await renewalsFor(bytesOf(fixed(9)), { renewal: null, anchor: 0 }),
  };
  const [first] = renewed.renewals as [Renewal];
  const ofLater = { ...renewed, renewals: [{ ...first, covers: { renewal: 1, anchor: 0 } }, first] };
  const outcome = { fail: ['renewal'], skip: ['registry 0.0', 'chain 0.0', 'finality 0.0'], time: firstTime };
  return [
    ...broken,
    brokenVector('wrong-size', 'The anchor is of another size.', changed(renewed, 'renewals[0].size', 3), {
      ...{ fail: ['chain'], skip: ['finality', 'token', 'time'], time: null },
    }),
    {
      ...brokenVector('an-evm-anchor', 'It covers a block, which is no item of evidence.', ofEvm, {
        ...{ ...outcome, skip: [...outcome.skip, 'token'] },
      }),
      trust: trustBoth,
    },
    {
      ...brokenVector('an-unknown-anchor', 'It covers an anchor of an unknown type.', ofUnknown, outcome),
      trust: trustBoth,
    },
    brokenVector('a-renewal-after-it', 'The first renewal covers the second; the second is right.', ofLater, {
      ...{ fail: ['renewal 0'], skip: ['registry 0.0', 'chain 0.0', 'finality 0.0'], time: stampedAt },
    }),
    {
      ...brokenVector('with-another-clock', 'A clock vouches, but the renewal is wrong.', both, {
        ...outcome,
        skip: [...outcome.skip, 'token'],
      }),
      trust: trustBoth,
      proof: changed(both, 'renewals[0].covers.anchor', null),
    },
  ];

  function brokenVector(name: string, about: string, proof: Proof, found: Outcome): NamedVector {
    return {
      name: `renewal-broken-${name}`,
      about,
      ...{ ...given, proof },
      expected: expect(proof, found),
    };
  }
}
