/** Proofs that hold, with each clock alone and with several, and proofs of which something is not known. */
import type { Hex } from 'viem';
import type { Anchor, Proof } from '../../../src/proof/verify/proof.ts';
import { anchorOf } from '../fixtures/proof-fixture.ts';
import { accuracy } from '../timestamps/test-token.ts';
import {
  type BaseName,
  type BaseThing,
  blocksOf,
  evmOf,
  firstTime,
  givenWith,
  judgedAt,
} from './base-batches.ts';
import { commitRoot, stampRoot } from './clocks.ts';
import { nodeOf } from './recorded-node.ts';
import { expect, type NamedVector, trustOf } from './vector.ts';

const aboutBase: Record<BaseName, { about: string; time: string }> = {
  'file-raw': { about: 'A file, anchored with things of two vaults.', time: firstTime },
  'record-jcs': {
    about: 'A record; its content is given as it was sent, not in its canonical form.',
    time: firstTime,
  },
  'file-hmac': {
    about: 'A file of guessable content, known to the service only by its HMAC.',
    time: firstTime,
  },
  'second-vault': { about: 'A record of the second vault in the same batch.', time: firstTime },
  'second-version': {
    about: 'The second version of the file in file-raw.json; leaf and seal name those before.',
    time: '2026-11-15T02:20:30Z',
  },
  'single-leaf': {
    about: 'A batch of one leaf: leaf and subtree root are the same, and the path has only seal and head.',
    time: '2026-11-15T02:20:42Z',
  },
};

export async function goodVectors(base: Record<BaseName, BaseThing>): Promise<NamedVector[]> {
  return [
    ...baseVectors(base),
    ...(await clockVectors(base['record-jcs'])),
    ...unknownVectors(base),
    ...(await severalAnchors(base['file-raw'])),
  ];
}

function baseVectors(base: Record<BaseName, BaseThing>): NamedVector[] {
  return Object.entries(aboutBase).map(([name, { about, time }]) => {
    const thing = base[name as BaseName];
    return {
      ...{ name, about },
      ...givenWith(thing, thing.proof),
      expected: expect(thing.proof, { time }),
    };
  });
}

export const stampedAt = '2026-11-15T02:30:00Z';
export const minedAt = '2026-11-15T03:10:00Z';

/** The proof with these anchors instead. */
export function anchoredBy(proof: Proof, ...anchors: Anchor[]): Proof {
  return { ...proof, anchors };
}

async function clockVectors(record: BaseThing): Promise<NamedVector[]> {
  const { proof, content } = record;
  const { root, size } = proof.merkle;
  const evm = evmOf(proof);
  const given = { content: { utf8: content }, at: judgedAt, rpc: null };
  const stamp = stampRoot(root, { at: stampedAt, token: { accuracy: accuracy(1) } });
  const bitcoin = commitRoot(root, { height: 925_000, at: minedAt });
  const stamped = anchoredBy(proof, stamp.anchor);
  const committed = anchoredBy(proof, bitcoin.anchor);
  const all = anchoredBy(proof, evm, stamp.anchor, bitcoin.anchor);
  return [
    {
      name: 'evm-by-node',
      about: 'A node of Ethereum knows the block; header and receipt are in the document.',
      ...{ ...given, proof, trust: null, rpc: nodeOf(evm, { root, size }) },
      expected: expect(proof, { time: firstTime }),
    },
    {
      name: 'evm-by-node-without-inclusion',
      about: 'The document has no header and receipt, so the node is asked for the receipt too.',
      ...{ ...given, trust: null },
      proof: anchoredBy(proof, { ...evm, inclusion: null }),
      rpc: nodeOf({ ...evm, inclusion: null }, { root, size }),
      expected: expect(proof, { time: firstTime }),
    },
    {
      name: 'rfc3161-alone',
      about: 'A timestamp authority vouches, with an accuracy of one second.',
      ...{ ...given, proof: stamped, trust: trustOf({ tsaRoots: [stamp.root] }) },
      expected: expect(stamped, { time: '2026-11-15T02:30:01Z' }),
    },
    {
      name: 'opentimestamps-alone',
      about: 'A Bitcoin block vouches.',
      ...{ ...given, proof: committed, trust: trustOf({ bitcoin: [bitcoin.trusted] }) },
      expected: expect(committed, { time: minedAt }),
    },
    {
      name: 'three-clocks',
      about:
        'A block of Ethereum, a timestamp authority and a Bitcoin block vouch; the earliest time counts.',
      ...{ ...given, proof: all },
      trust: trustOf({
        blocks: blocksOf([evm]),
        tsaRoots: [stamp.root],
        bitcoin: [bitcoin.trusted],
      }),
      expected: expect(all, { time: firstTime }),
    },
    {
      name: 'three-clocks-one-trusted',
      about: 'Of three clocks only Bitcoin is trusted; the others are skipped and do no harm.',
      ...{ ...given, proof: all, trust: trustOf({ bitcoin: [bitcoin.trusted] }) },
      expected: expect(all, { skip: ['chain', 'finality', 'token'], time: minedAt }),
    },
    {
      name: 'three-clocks-none-trusted',
      about: 'Three clocks, and the trust file trusts none of them.',
      ...{ ...given, proof: all, trust: trustOf({}) },
      expected: expect(all, { skip: ['chain', 'finality', 'token', 'block', 'time'], time: null }),
    },
    {
      name: 'three-clocks-shipped-trust',
      about: 'Without a trust file and without a node nobody vouches for these clocks.',
      ...{ ...given, proof: all, trust: null },
      expected: expect(all, { skip: ['chain', 'finality', 'token', 'block', 'time'], time: null }),
    },
    {
      name: 'three-clocks-one-wrong',
      about: 'Two clocks vouch, but the hash of the Ethereum block is not the trusted one.',
      ...{ ...given, proof: all },
      trust: trustOf({
        blocks: [{ chainId: 1, number: evm.blockNumber, hash: proof.merkle.root }],
        tsaRoots: [stamp.root],
        bitcoin: [bitcoin.trusted],
      }),
      expected: expect(all, { fail: ['chain'], skip: ['finality'], time: '2026-11-15T02:30:01Z' }),
    },
  ];
}

/** Something is missing that only the owner, or nobody, has. */
function unknownVectors(base: Record<BaseName, BaseThing>): NamedVector[] {
  const hmac = base['file-hmac'];
  const record = base['record-jcs'];
  const withSalt = ({ proof }: BaseThing, salt: Hex | null): Proof => ({
    ...{ ...proof, content: { ...proof.content, salt } },
  });
  const unsalted = (thing: BaseThing): Proof => withSalt(thing, null);
  const erased = (proof: Proof): Proof => ({ ...proof, claims: null });
  const salt = hmac.proof.content.salt as Hex;
  const otherSalt: Hex = `0x${salt.slice(2, -1)}0`;
  return [
    {
      name: 'hmac-salt-beside',
      about: 'The owner keeps the salt out of the document and gives it to the verifier.',
      ...{ ...givenWith(hmac, unsalted(hmac)), salt },
      expected: expect(hmac.proof, { time: firstTime }),
    },
    {
      name: 'record-salt-beside',
      about: 'The salt of a record was taken out of the document, and is given to the verifier.',
      ...{ ...givenWith(record, unsalted(record)), salt: record.proof.content.salt as Hex },
      expected: expect(record.proof, { time: firstTime }),
    },
    {
      name: 'hmac-salt-unknown',
      about: 'Nobody gives the salt, so the content cannot be compared.',
      ...givenWith(hmac, unsalted(hmac)),
      expected: expect(hmac.proof, { skip: ['digest'], time: firstTime }),
    },
    {
      name: 'hmac-salt-unknown-without-content',
      about: 'Without content no salt is needed.',
      ...{ ...givenWith(hmac, unsalted(hmac)), content: null },
      expected: expect(hmac.proof, { time: firstTime }),
    },
    {
      name: 'hmac-salt-wrong',
      about: 'The salt that is given is not the one of the digest.',
      ...{ ...givenWith(hmac, unsalted(hmac)), salt: otherSalt },
      expected: expect(hmac.proof, { fail: ['digest'], time: firstTime }),
    },
    {
      name: 'hmac-salt-contradicts',
      about: 'The salt that is given is not the one in the document.',
      ...{ ...givenWith(hmac, hmac.proof), salt: otherSalt },
      expected: expect(hmac.proof, { fail: ['digest'], time: firstTime }),
    },
    {
      name: 'hmac-salt-contradicts-without-content',
      about: 'The salt that is given is not the one in the document, but without content nobody compares it.',
      ...{ ...givenWith(hmac, hmac.proof), salt: otherSalt, content: null },
      expected: expect(hmac.proof, { time: firstTime }),
    },
    {
      name: 'hmac-salt-wrong-without-content',
      about: 'The salt that is given is not the one of the digest, but without content nobody uses it.',
      ...{ ...givenWith(hmac, unsalted(hmac)), salt: otherSalt, content: null },
      expected: expect(hmac.proof, { time: firstTime }),
    },
    {
      name: 'hmac-salt-right-beside-a-wrong-one',
      about: 'The salt that is given is right, and the one in the document is not.',
      ...{ ...givenWith(hmac, withSalt(hmac, otherSalt)), salt },
      expected: expect(hmac.proof, { fail: ['digest'], time: firstTime }),
    },
    {
      name: 'hmac-salt-twice',
      about: 'The salt that is given is also in the document.',
      ...{ ...givenWith(hmac, hmac.proof), salt },
      expected: expect(hmac.proof, { time: firstTime }),
    },
    {
      name: 'record-salt-contradicts',
      about: 'The salt that is given for a record is not the one in the document.',
      ...{ ...givenWith(record, record.proof), salt: otherSalt },
      expected: expect(record.proof, { fail: ['digest'], time: firstTime }),
    },
    {
      name: 'erased-claims',
      about: 'The claims were erased, so their hash cannot be compared.',
      ...givenWith(base['file-raw'], erased(base['file-raw'].proof)),
      expected: expect(base['file-raw'].proof, { skip: ['claims'], time: firstTime }),
    },
    {
      name: 'erased-record',
      about: 'Content, salt and claims of a record were erased; somebody kept the content.',
      ...givenWith(record, erased(unsalted(record))),
      expected: expect(record.proof, { skip: ['digest', 'claims'], time: firstTime }),
    },
    {
      name: 'no-content',
      about: 'No content is given: the verdict is about the digest.',
      ...{ ...givenWith(record, record.proof), content: null },
      expected: expect(record.proof, { time: firstTime }),
    },
    {
      name: 'empty-content',
      about: 'Content that is empty is content all the same, and not that of the digest.',
      ...{ ...givenWith(base['file-raw'], base['file-raw'].proof), content: { utf8: '' } },
      expected: expect(base['file-raw'].proof, { fail: ['digest'], time: firstTime }),
    },
  ];
}

async function severalAnchors(file: BaseThing): Promise<NamedVector[]> {
  const { proof } = file;
  const { merkle } = proof;
  const evm = evmOf(proof);
  const later = await anchorOf(merkle, { chainId: 1, blockNumber: 21_000_100, blockTime: 1_794_710_400 });
  const gnosis = await anchorOf(merkle, {
    chainId: 100,
    blockNumber: 43_000_000,
    blockTime: 1_794_709_100,
  });
  const future = anchoredBy(
    proof,
    await anchorOf(merkle, { chainId: 1, blockNumber: 90_000_000, blockTime: 4_102_444_800 }),
  );
  const unknown = { type: 'witness-log', tree: [1, { size: 2 }], note: null };
  const three = anchoredBy(proof, later, gnosis, evm);
  const withUnknown = anchoredBy(proof, unknown, evm);
  const onlyUnknown = anchoredBy(proof, unknown);
  return [
    {
      name: 'evm-judged-at-no-time',
      about: 'No time of judgement is given, so that no block is too late, not even one of the year 2100.',
      ...{ ...givenWith(file, future), at: null },
      expected: expect(future, { time: '2100-01-01T00:00:00Z' }),
    },
    {
      name: 'several-anchors',
      about: 'Anchors in three blocks of two chains: the earliest time counts, wherever it is in the list.',
      ...{ ...givenWith(file, three), trust: trustOf({ blocks: blocksOf([evm, later, gnosis]) }) },
      expected: expect(three, { time: '2026-11-15T02:18:20Z' }),
    },
    {
      name: 'several-anchors-one-known',
      about: 'Only one of three blocks is trusted.',
      ...{ ...givenWith(file, three), trust: trustOf({ blocks: blocksOf([later]) }) },
      expected: expect(three, {
        skip: ['chain 1', 'finality 1', 'chain 2', 'finality 2'],
        time: '2026-11-15T02:40:00Z',
      }),
    },
    {
      name: 'several-anchors-by-one-node',
      about: 'A node of Ethereum knows its own block; that of the other chain is skipped.',
      ...{ ...givenWith(file, anchoredBy(proof, gnosis, evm)), trust: null, rpc: nodeOf(evm, merkle) },
      expected: expect(anchoredBy(proof, gnosis, evm), {
        skip: ['chain 0', 'finality 0'],
        time: firstTime,
      }),
    },
    {
      name: 'unknown-anchor',
      about: 'An anchor of a type that this version does not know may have any members, and is ignored.',
      ...givenWith(file, withUnknown),
      expected: expect(withUnknown, { time: firstTime }),
    },
    {
      name: 'unknown-anchor-alone',
      about: 'Only an anchor of an unknown type: nobody vouches.',
      ...{ ...givenWith(file, onlyUnknown), trust: trustOf({}) },
      expected: expect(onlyUnknown, { skip: ['time'], time: null }),
    },
  ];
}
