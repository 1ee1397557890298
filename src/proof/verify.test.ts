/** What a verifier finds: every field of a proof that is changed, and every lie of a chain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { type ChainFacts, fixed } from '../../test/support/fixtures/proof-fixture.ts';
import { readVector, type Vector, vectorNames } from '../../test/support/fixtures/vectors.ts';
import { messageOf, optionsOf, statuses, verify } from '../../test/support/fixtures/verify-fixture.ts';
import type { EvmAnchor, Proof } from './proof.ts';
import { type StepName, stepNames } from './steps.ts';
import { verifyProof } from './verify.ts';

for (const name of vectorNames) {
  test(`the frozen proof ${name} verifies`, async () => {
    const vector = readVector(name);
    const result = await verify(vector);
    assert.deepEqual(statuses(result), Object.fromEntries(stepNames.map((step) => [step, 'pass'])));
    assert.equal(result.verdict, 'pass');
    assert.match(messageOf(result, 'leaf'), new RegExp(vector.leaf));
    assert.equal((await verifyProof(JSON.stringify(vector.proof), optionsOf(vector))).verdict, 'pass');
  });
}

test('the second version names the leaf of the first', () => {
  assert.equal(readVector('second-version').proof.leaf.values[5], readVector('file-raw').leaf);
});

type Tampering = (proof: Proof, chain: ChainFacts, vector: Vector) => unknown;

const other = fixed(0x99);
const otherAddress: Hex = `0x${'99'.repeat(20)}`;
const evm = ({ anchors: [anchor] }: Proof) => anchor as EvmAnchor;
const values = ({ leaf }: Proof) => leaf.values as unknown as string[];
const loose = (part: unknown) => part as Record<string, unknown>;

/** Changes every field of the document on its own: exactly these steps fail. */
const tamperings: [what: string, failing: StepName[], tamper: Tampering][] = [
  ['format', ['leaf'], (proof) => (loose(proof).format = 'holdfast/proof@2')],
  ['kind', ['leaf'], (proof) => (proof.kind = 'file')],
  ['kind, malformed', ['leaf'], (proof) => (proof.kind = 'Record')],
  ['subject.workspaceId', ['leaf'], (proof) => (proof.subject.workspaceId = 'ws_other')],
  ['subject.id', ['leaf'], (proof) => (proof.subject.id = 'rec_other')],
  ['content.algorithm', ['digest'], (proof) => (loose(proof.content).algorithm = 'sha-512')],
  ['content.digest', ['digest'], (proof) => (proof.content.digest = other)],
  ['content.canonicalization', ['digest'], (proof) => (proof.content.canonicalization = 'hmac-sha256')],
  ['content.canonicalization, raw', ['digest'], (proof) => (proof.content.canonicalization = 'raw')],
  ['content.salt', ['digest'], (proof) => (proof.content.salt = other)],
  ['claims.salt', ['claims'], (proof) => (loose(proof.claims).salt = other)],
  ['claims.salt, shorter', ['claims'], (proof) => (loose(proof.claims).salt = '0x00')],
  ['a claim', ['claims'], (proof) => (loose(proof.claims).externalId = 'shipment-8')],
  ['another claim', ['claims'], (proof) => (loose(proof.claims).owner = 'me')],
  ['a claim beyond 2^53', ['claims'], (proof) => (loose(proof.claims).externalId = 2 ** 53)],
  ['leaf.types, widened', ['leaf'], (proof) => (loose(proof.leaf.types)['4'] = 'uint256 version')],
  ['leaf.types, renamed', ['leaf'], (proof) => (loose(proof.leaf.types)['4'] = 'uint64 revision')],
  ['leaf.types, one more', ['leaf'], (proof) => (proof.leaf.types as unknown as string[]).push('bytes32 x')],
  ['leaf.values domain', ['leaf'], (proof) => (values(proof)[0] = other)],
  ['leaf.values kind', ['leaf'], (proof) => (values(proof)[1] = other)],
  ['leaf.values digest', ['digest', 'path'], (proof) => (values(proof)[2] = other)],
  ['leaf.values subject', ['leaf'], (proof) => (values(proof)[3] = other)],
  ['leaf.values version', ['path'], (proof) => (values(proof)[4] = '2')],
  ['leaf.values version, other spelling', ['leaf'], (proof) => (values(proof)[4] = '01')],
  ['leaf.values previousLeaf', ['path'], (proof) => (values(proof)[5] = other)],
  ['leaf.values vault', ['path', 'seal'], (proof) => (values(proof)[6] = otherAddress)],
  ['leaf.values claimsHash', ['claims', 'path'], (proof) => (values(proof)[7] = other)],
  ['leaf.values, one more', ['leaf'], (proof) => values(proof).push(other)],
  ['merkle.proof, an element', ['path'], (proof) => (proof.merkle.proof[0] = other)],
  ['merkle.proof, the last element', ['path'], (proof) => proof.merkle.proof.splice(-1, 1, other)],
  ['merkle.proof, swapped siblings', ['path'], ({ merkle }) => merkle.proof.reverse()],
  ['merkle.proof, one more', ['path'], (proof) => proof.merkle.proof.push(other)],
  ['merkle.proof, one more in front', ['path'], (proof) => proof.merkle.proof.unshift(other)],
  ['merkle.proof, one fewer', ['path'], (proof) => proof.merkle.proof.pop()],
  [
    'merkle.proof, 65 long',
    ['path'],
    ({ merkle }) => (merkle.proof = Array.from({ length: 65 }, () => other)),
  ],
  ['merkle.root', ['path'], (proof) => (proof.merkle.root = other)],
  ['merkle.size', ['chain'], (proof) => (proof.merkle.size += 1)],
  ['seal.vault', ['seal'], (proof) => (proof.seal.vault = otherAddress)],
  ['seal.subtreeRoot', ['path', 'seal'], (proof) => (proof.seal.subtreeRoot = other)],
  ['seal.depth, one more', ['path'], (proof) => (proof.seal.depth += 1)],
  ['seal.depth, one fewer', ['path'], (proof) => (proof.seal.depth -= 1)],
  ['seal.depth, beyond the path', ['path'], (proof) => (proof.seal.depth = 64)],
  ['seal.depth, beyond 64', ['path'], (proof) => (proof.seal.depth = 65)],
  ['seal.leaves', ['seal'], (proof) => (proof.seal.leaves += 1)],
  ['seal.sequence', ['seal'], (proof) => (proof.seal.sequence += 1)],
  ['seal.signature, high s', ['seal'], ({ seal }) => (seal.signature = withHighS(seal.signature))],
  ['seal.signature, upper case', ['seal'], ({ seal }) => (seal.signature = upper(seal.signature))],
  [
    'seal.signature, v 0 or 1',
    ['seal'],
    ({ seal }) => (seal.signature = withV(seal.signature, (v) => v - 27)),
  ],
  [
    'seal.signature, other v',
    ['seal'],
    ({ seal }) => (seal.signature = withV(seal.signature, (v) => 55 - v)),
  ],
  ['seal.signature, v 29', ['seal'], ({ seal }) => (seal.signature = withV(seal.signature, () => 29))],
  [
    'seal.signature, r',
    ['seal'],
    ({ seal }) => (seal.signature = `0x${'11'.repeat(32)}${seal.signature.slice(66)}`),
  ],
  ['seal.signature, zeros', ['seal'], ({ seal }) => (seal.signature = `0x${'00'.repeat(64)}1b`)],
  ['seal.signature, 64 bytes', ['seal'], ({ seal }) => (seal.signature = seal.signature.slice(0, -2) as Hex)],
  ['seal.signature, 66 bytes', ['seal'], ({ seal }) => (seal.signature = `${seal.signature}00`)],
  ['anchors, none', ['chain'], (proof) => (loose(proof).anchors = [])],
  ['anchors.type', ['chain'], (proof) => (loose(evm(proof)).type = 'other')],
  ['anchors.chainId, malformed', ['chain'], (proof) => (loose(evm(proof)).chainId = '1')],
  ['anchors.contract', ['registry'], (proof) => (evm(proof).contract = otherAddress)],
  [
    'anchors.contract, upper case',
    ['registry'],
    (proof) => (evm(proof).contract = upper(evm(proof).contract)),
  ],
  ['anchors.submitter', ['chain'], (proof) => (evm(proof).submitter = otherAddress)],
  ['anchors.transactionHash', ['chain'], (proof) => (evm(proof).transactionHash = other)],
  ['anchors.blockNumber', ['chain'], (proof) => (evm(proof).blockNumber -= 1)],
  ['anchors.blockHash', ['chain'], (proof) => (evm(proof).blockHash = other)],
  ['anchors.blockTime', ['time'], (proof) => (evm(proof).blockTime -= 1)],
  ['anchors.blockTime, malformed', ['time'], (proof) => (loose(evm(proof)).blockTime = '2026-11-15')],
  ['anchors, another field', ['chain'], (proof) => (loose(evm(proof)).rpc = 'https://rpc.example')],
  ['a field of no meaning', ['leaf'], (proof) => (loose(proof).verified = true)],
];

for (const [what, failing, tamper] of tamperings) {
  test(`a proof with ${what} changed fails ${failing.join(' and ')}`, () => expectFailing(failing, tamper));
}

test('the table covers every field of the document', () => {
  const changed = tamperings.map(([what]) => what);
  const { proof } = readVector('record-jcs');
  const fields = Object.entries(proof).flatMap(([part, value]) => {
    if (typeof value === 'string') return [part];
    if (part === 'claims') return ['claims.salt', 'a claim'];
    const members = Object.keys(Array.isArray(value) ? (value[0] ?? {}) : (value as object));
    return members.map((member) => `${part}.${member}`);
  });
  const leafFields = proof.leaf.types.map((type) => `leaf.values ${type.split(' ')[1]}`);
  const missing = [...fields, ...leafFields].filter(
    (field) => !changed.some((what) => what.startsWith(field)),
  );
  assert.deepEqual(missing, []);
});

const lies: typeof tamperings = [
  [
    'a look-alike registry with backdated times',
    ['registry'],
    (proof, chain) => {
      const { submitter } = evm(proof);
      const backdated = { time: 1_000_000_000, size: proof.merkle.size };
      chain.codeHashes[otherAddress] = fixed(0xc0);
      chain.anchors[`${otherAddress}/${submitter}/${proof.merkle.root}`] = backdated;
      Object.assign(evm(proof), { contract: otherAddress, blockTime: backdated.time });
      for (const block of Object.values(chain.blocks)) block.time = backdated.time;
    },
  ],
  [
    "other code at the registry's address",
    ['registry'],
    (_, chain, { registry }) => (chain.codeHashes[registry.address] = other),
  ],
  ['no code there', ['registry'], (_, chain) => (chain.codeHashes = {})],
  ['no entry in the registry', ['chain'], (_, chain) => (chain.anchors = {})],
  [
    'another size in the registry than in the log',
    ['chain'],
    (_, chain) => {
      for (const anchor of Object.values(chain.anchors)) anchor.size += 1;
    },
  ],
  [
    "another number for the transaction's block",
    ['chain'],
    (_, chain) => {
      for (const transaction of Object.values(chain.transactions)) transaction.blockNumber += 1;
    },
  ],
  ['no such transaction', ['chain'], (_, chain) => (chain.transactions = {})],
  [
    'a reverted transaction',
    ['chain'],
    (_, chain) => {
      for (const transaction of Object.values(chain.transactions)) transaction.succeeded = false;
    },
  ],
  [
    "only another registry's log in it",
    ['chain'],
    (_, chain) => {
      for (const { anchored } of Object.values(chain.transactions)) {
        for (const log of anchored) log.registry = otherAddress;
      }
    },
  ],
  [
    'the transaction in another block after a reorg',
    ['chain'],
    (_, chain) => {
      for (const transaction of Object.values(chain.transactions)) transaction.blockHash = other;
    },
  ],
  [
    'another block at that height after a reorg',
    ['chain'],
    (_, chain) => {
      for (const block of Object.values(chain.blocks)) block.hash = other;
    },
  ],
  ['no block at that height', ['chain'], (_, chain) => (chain.blocks = {})],
  [
    'another time in the registry than in the block',
    ['time'],
    (_, chain) => {
      for (const anchor of Object.values(chain.anchors)) anchor.time -= 60;
    },
  ],
];

for (const [what, failing, lie] of lies) {
  test(`a chain with ${what} fails ${failing.join(' and ')}`, () => expectFailing(failing, lie));
}

async function expectFailing(failing: StepName[], tamper: Tampering): Promise<void> {
  const vector = readVector('record-jcs');
  tamper(vector.proof, vector.chain, vector);
  const result = await verify(vector);
  assert.deepEqual(
    result.steps.filter(({ status }) => status === 'fail').map(({ name }) => name),
    failing,
    JSON.stringify(result.steps, null, 1),
  );
  assert.equal(result.verdict, 'fail');
}

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The other signature that recovers to the same address. */
function withHighS(signature: Hex): Hex {
  const s = order - BigInt(`0x${signature.slice(66, 130)}`);
  const r = signature.slice(2, 66);
  return withV(`0x${r}${s.toString(16).padStart(64, '0')}${signature.slice(130)}`, (v) => 55 - v);
}

function withV(signature: Hex, change: (v: number) => number): Hex {
  const v = change(Number.parseInt(signature.slice(130), 16));
  return `${signature.slice(0, 130)}${v.toString(16).padStart(2, '0')}` as Hex;
}

function upper(hex: Hex): Hex {
  return `0x${hex.slice(2).toUpperCase()}`;
}
