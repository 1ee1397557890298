/** What becomes of a token that is damaged, cut off, written in another way, or made up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longOnly } from '../../../test/support/service/long.ts';
import { fc } from '../../../test/support/service/properties.ts';
import {
  type Bytes,
  element,
  join,
  nullValue,
  octets,
  set,
} from '../../../test/support/timestamps/der-writer.ts';
import { judgeCase, questionFor } from '../../../test/support/timestamps/fault-case.ts';
import { createTestAuthority, stampedAt } from '../../../test/support/timestamps/test-authority.ts';
import {
  basicConstraints,
  makeCertificate,
  nameOf,
} from '../../../test/support/timestamps/test-certificates.ts';
import { hashAlgorithm, testKey } from '../../../test/support/timestamps/test-keys.ts';
import { attribute } from '../../../test/support/timestamps/test-token.ts';
import { type Der, elementsOf, readDer } from './der.ts';
import type { TimestampJudgement } from './judge.ts';

const authority = createTestAuthority();
const { signer, intermediate, root } = authority;
const question = questionFor(authority);
const crls = [authority.crl('root'), authority.crl('intermediate')];
const judge = (token: Bytes) => judgeCase({ anchor: authority.anchor(token, { crls }), question });

const plain = authority.stamp();

/** The parts of a token that say nothing, each with the reason. */
const silent: { why: string; bytes: Bytes }[] = [
  { why: 'a root counts as it is pinned, not as a token shows it', bytes: root.certificate },
  { why: 'lists of revoked certificates count only beside the token', bytes: authority.crl('root') },
  { why: 'nobody vouches for unsigned attributes', bytes: attribute('1.2.3.4', octets(new Uint8Array(24))) },
  { why: "of the listed hashes only the signer's counts", bytes: hashAlgorithm('sha512') },
];
const [shownRoot, shownList, unsigned, otherHash] = silent.map(({ bytes }) => bytes) as [
  Bytes,
  Bytes,
  Bytes,
  Bytes,
];
const rich = authority.stamp({
  certificates: [signer.certificate, intermediate.certificate, shownRoot],
  crls: [shownList],
  digestAlgorithms: set(otherHash, hashAlgorithm('sha256')),
  unsignedAttributes: [unsigned],
});

test('no flipped bit of a token leaves it standing', async () => {
  assert.equal((await judge(plain)).status, 'pass');
  assert.deepEqual(await standingFlips(plain, judge, oneOfEight), []);
});

test('no flipped bit of a token by RSA leaves it standing', { skip: longOnly }, async () => {
  const other = createTestAuthority({ kind: 'rsa' });
  const asked = questionFor(other);
  const judgeOther = (token: Bytes) => judgeCase({ anchor: other.anchor(token), question: asked });
  assert.deepEqual(await standingFlips(other.stamp(), judgeOther, oneOfEight), []);
});

test('not one of all the bits of a token can be flipped', { skip: longOnly, timeout: 600_000 }, async () => {
  assert.deepEqual(await standingFlips(plain, judge, allEight), []);
});

test('what can be flipped in a token that contains more than it needs changes nothing that is claimed', async () => {
  const claimed = await judge(rich);
  assert.equal(claimed.status, 'pass');
  const spans = silent.map(({ why, bytes }) => ({ why, start: Buffer.from(rich).indexOf(bytes), bytes }));
  const reasons = new Set<string>();
  for (const { at, judgement } of await standingFlips(rich, judge, oneOfEight)) {
    assert.deepEqual(judgement, claimed, `byte ${at}`);
    const span = spans.find(({ start, bytes }) => at >= start && at < start + bytes.length);
    assert.ok(span, `byte ${at} is in no part that says nothing`);
    reasons.add(span.why);
  }
  // Each reason is needed.
  assert.deepEqual([...reasons].sort(), silent.map(({ why }) => why).sort());
});

test('a damaged list of revoked certificates is refused or does not count; it never clears anybody', async () => {
  const revoking = authority.crl('intermediate', { revoked: [{ serial: 3, date: stampedAt, reason: 1 }] });
  const judgeList = (list: Bytes) =>
    judgeCase({ anchor: authority.anchor(plain, { crls: [crls[0] ?? list, list] }), question });
  assert.equal((await judgeList(revoking)).status, 'fail');
  for (const { judgement } of await standingFlips(revoking, judgeList, oneOfEight)) {
    assert.equal(judgement.status === 'pass' && judgement.revocation, 'not checked');
  }
});

test('a token that is cut off fails at every length', async () => {
  for (let length = 0; length < plain.length; length += 1) {
    const { status } = await judge(plain.subarray(0, length));
    assert.equal(status, 'fail', `${length} bytes`);
  }
});

test('nothing in a token can be written in a second way', async () => {
  const claimed = await judge(rich);
  const rewritten: string[] = [];
  for (const { name, token } of rewritings(rich)) {
    const judgement = await judge(token);
    if (judgement.status !== 'pass') continue;
    assert.deepEqual(judgement, claimed, name);
    rewritten.push(name);
  }
  // A certificate or a hash that is listed once more says nothing new; the others are the parts that say nothing.
  const repeated = ['certificates, 1: twice', 'certificates, 2: twice', 'hashes, 2: twice'];
  const unread = ['certificates, 3', 'hashes, 1', 'lists', 'unsigned attributes'];
  const unexpected = rewritten.filter(
    (name) => ![...repeated, ...unread].some((start) => name.startsWith(start)),
  );
  assert.deepEqual(unexpected, []);
  assert.ok(rewritten.includes('certificates, 1: twice'), 'the rewriting itself works');
});

test('made-up tokens are judged, whatever they contain', async () => {
  const nodes = treeOf(rich);
  const anyNode = fc.nat(nodes.length - 1);
  const anyEdit = fc.oneof(
    fc.record({ place: anyNode, bytes: fc.uint8Array({ maxLength: 40 }) }),
    fc.record({ place: anyNode, bytes: anyNode.map((other) => nodes[other]?.der.bytes ?? new Uint8Array()) }),
    fc.record({ place: anyNode, bytes: anyElement() }),
  );
  await fc.assert(
    fc.asyncProperty(anyEdit, async ({ place, bytes }) => {
      const { status } = await judge(replaced(rich, nodes[place]?.path ?? [], () => bytes));
      assert.ok(['pass', 'fail', 'untrusted'].includes(status));
    }),
    { numRuns: 1_500, interruptAfterTimeLimit: 8_000 },
  );
  await fc.assert(
    fc.asyncProperty(anyElement(), async (bytes) => {
      assert.equal((await judge(bytes)).status, 'fail');
    }),
    { numRuns: 1_500, interruptAfterTimeLimit: 4_000 },
  );
});

test('hostile anchors take a bounded amount of work', async () => {
  const key = testKey('rsa', 'everybody');
  const name = nameOf('Everybody');
  // Each one could have issued each other: 15 signatures to verify for each of them.
  const everybody = Array.from({ length: 14 }, (_, serial) =>
    makeCertificate({
      ...{ subject: name, issuer: name, key, signedBy: key, serial: serial + 10 },
      ...{ notBefore: stampedAt, notAfter: stampedAt, extensions: [basicConstraints(true)] },
    }),
  );
  const lost = createTestAuthority({ signer: { issuer: name, signedBy: key } });
  const before = process.cpuUsage();
  const cases: [Bytes, { certificates?: Bytes[]; crls?: Bytes[] }][] = [
    [lost.stamp(), { certificates: everybody }],
    [plain, { crls: Array.from({ length: 4 }, () => element(0x30, new Uint8Array(1_048_000))) }],
    [plain, { crls: Array.from({ length: 4 }, () => element(0x30, Buffer.alloc(1_048_000, '3000', 'hex'))) }],
    [nested(20_000), {}],
    [element(0x30, element(0x06, new Uint8Array(65_000).fill(0xff))), {}],
  ];
  for (const [token, more] of cases) {
    const { status } = await judgeCase({
      anchor: authority.anchor(token, more),
      question: questionFor(lost),
    });
    assert.ok(status === 'fail' || status === 'untrusted', status);
  }
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 5_000_000, `${(user + system) / 1_000} ms of CPU time`);
});

interface Standing {
  at: number;
  judgement: TimestampJudgement;
}

function oneOfEight(at: number): number[] {
  return [at % 8];
}

function allEight(): number[] {
  return [0, 1, 2, 3, 4, 5, 6, 7];
}

/** The flips after which the token still passes. */
async function standingFlips(
  bytes: Bytes,
  judgeFlipped: (bytes: Bytes) => Promise<TimestampJudgement>,
  bitsOf: (at: number) => number[],
): Promise<Standing[]> {
  const standing: Standing[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    for (const bit of bitsOf(at)) {
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
      const judgement = await judgeFlipped(flipped);
      if (judgement.status === 'pass') standing.push({ at, judgement });
    }
  }
  return standing;
}

interface Node {
  der: Der;
  /** The places of the elements that lead to it. */
  path: number[];
}

/** Every element of the token, also those inside the TSTInfo. */
function treeOf(token: Bytes): Node[] {
  const walk = (der: Der, path: number[]): Node[] => [
    { der, path },
    ...(containsOthers(der, path)
      ? elementsOf(der).flatMap((inside, at) => walk(inside, [...path, at]))
      : []),
  ];
  return walk(readDer(token, 'The token'), []);
}

/** ContentInfo, [0], SignedData, encapContentInfo, [0], OCTET STRING. */
const tstInfoPath = '1,0,2,1,0';

function containsOthers({ tag }: Der, path: number[]): boolean {
  return (tag & 0x20) !== 0 || path.join() === tstInfoPath;
}

/** The token with one element exchanged, and the lengths around it corrected. */
function replaced(bytes: Bytes, [place, ...rest]: number[], edit: (bytes: Bytes) => Bytes): Bytes {
  if (place === undefined) return edit(bytes);
  const { tag, value } = elementsOf({ tag: 0, value: bytes, bytes })[0] ?? { tag: 0, value: bytes };
  const inside = elementsOf({ tag, value, bytes }).map((one, at) =>
    at === place ? replaced(one.bytes, rest, edit) : one.bytes,
  );
  return element(tag, join(...inside));
}

/** Each element twice, with another one inside, with a longer length, and with an indefinite one. */
function* rewritings(token: Bytes): Generator<{ name: string; token: Bytes }> {
  for (const { der, path } of treeOf(token)) {
    const edits: Record<string, Bytes> = {
      twice: join(der.bytes, der.bytes),
      'with a longer length': element(der.tag, der.value, der.value.length < 128 ? 1 : 3),
      'with an indefinite length': element(der.tag, der.value, 0),
      ...(containsOthers(der, path) && {
        'with one more inside': element(der.tag, join(der.value, nullValue)),
      }),
      ...((der.tag & 0x20) === 0 && { 'in pieces': element(der.tag | 0x20, der.bytes) }),
    };
    for (const [how, bytes] of Object.entries(edits)) {
      yield { name: `${nameOfPath(path)}: ${how}`, token: replaced(token, path, () => bytes) };
    }
  }
}

/** By the field of SignedData. */
function nameOfPath(path: number[]): string {
  const fields: Record<string, string> = {
    '1,0,1': 'hashes',
    '1,0,3': 'certificates',
    '1,0,4': 'lists',
    '1,0,5,0,6': 'unsigned attributes',
  };
  const field = Object.keys(fields).find((prefix) => `${path.join()},`.startsWith(`${prefix},`));
  if (field === undefined) return path.join();
  const rest = path.slice(field.split(',').length).map((place) => place + 1);
  return [fields[field], ...rest].join(', ');
}

function anyElement(): fc.Arbitrary<Bytes> {
  const { tree } = fc.letrec<{ tree: Bytes }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6 },
      fc.tuple(fc.nat(255), fc.uint8Array({ maxLength: 12 })).map(([tag, value]) => element(tag, value)),
      fc
        .tuple(fc.constantFrom(0x30, 0x31, 0xa0, 0xa1), fc.array(tie('tree'), { maxLength: 6 }))
        .map(([tag, parts]) => element(tag, join(...parts))),
    ),
  }));
  return tree;
}

function nested(depth: number): Bytes {
  // From the inside out, in one array.
  const bytes: number[] = [];
  for (let level = 0; level < depth && bytes.length < 65_000; level += 1) {
    const { length } = bytes;
    bytes.push(...(length < 128 ? [length, 0x30] : [length & 255, length >> 8, 0x82, 0x30]));
  }
  return Uint8Array.from(bytes.reverse());
}
