import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type ChainFacts, fixed, memoryChain, utf8 } from '../../test/support/fixtures/proof-fixture.ts';
import { readVector, type Vector, vectorNames } from '../../test/support/fixtures/vectors.ts';
import type { AnchorKey } from './chain-reader.ts';
import type { EvmAnchor, Proof } from './proof.ts';
import { sealTypedData } from './seal.ts';
import { type StepName, stepNames, type Verification } from './steps.ts';
import { type VerifyOptions, verifyProof } from './verify.ts';

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

test('the table has every field of the document', () => {
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

test('a depth beyond the path fails it, even where the fold would come out right', async () => {
  const vector = readVector('single-leaf');
  vector.proof.seal.depth = 1;
  assert.equal(statuses(await verify(vector)).path, 'fail');
});

test('another record fails the digest, and content that is no JSON says so', async () => {
  const vector = readVector('second-vault');
  const digestOf = async (content: string) => {
    const result = await verify({ ...vector, content });
    return [statuses(result).digest, messageOf(result, 'digest')] as const;
  };
  assert.equal((await digestOf(' {"a":1.0, "b":2e0}\n'))[0], 'pass');
  assert.equal((await digestOf('{"a":1,"b":3}'))[0], 'fail');
  assert.match((await digestOf('{"a":0,"a":1,"b":2}')).join(), /fail.*occurs twice/);
  assert.match((await digestOf('{"a":1,')).join(), /fail.*not the JSON/);
});

test('a name that occurs twice in the document is refused when it is given as text', async () => {
  const { proof } = readVector('file-raw');
  const text = JSON.stringify(proof).replace('"kind":', '"kind":"record","kind":');
  assert.equal((await verifyProof(JSON.parse(text))).verdict, 'incomplete');
  const result = await verifyProof(text);
  assert.match(messageOf(result, 'leaf'), /occurs twice/);
  assert.equal(result.verdict, 'fail');
  assert.equal((await verifyProof('{')).verdict, 'fail');
});

test('what cannot be checked is skipped, and skipped is never a pass', async () => {
  const vector = readVector('file-raw');
  const skippedWith = async (options: VerifyOptions, proof: Proof = vector.proof) => {
    const result = await verifyProof(proof, options);
    assert.equal(result.verdict, 'incomplete');
    return result.steps.filter(({ status }) => status === 'skipped').map(({ name }) => name);
  };
  const onChain = ['registry', 'chain', 'time', 'finality'];
  const { content, chain, registry } = optionsOf(vector);
  assert.deepEqual(await skippedWith({}), ['digest', ...onChain]);
  assert.deepEqual(await skippedWith({ content }), onChain);
  assert.deepEqual(await skippedWith({ content, registry }), onChain);
  assert.deepEqual(await skippedWith({ content, chain }), onChain);
  assert.deepEqual(await skippedWith({ chain, registry }), ['digest']);
  assert.deepEqual(await skippedWith({ content, chain, registry }, { ...vector.proof, claims: null }), [
    'claims',
  ]);
});

test('on the embedded chain time is skipped, unless the proof gives another', async () => {
  const vector = readVector('file-raw');
  vector.chain.embedded = true;
  const result = await verify(vector);
  assert.equal(result.verdict, 'incomplete');
  assert.deepEqual(
    result.steps.filter(({ status }) => status !== 'pass').map(({ name, status }) => [name, status]),
    [['time', 'skipped']],
  );
  evm(vector.proof).blockTime += 1;
  assert.equal(statuses(await verify(vector)).time, 'fail');
});

test('a block that is not final yet skips finality; the last final one passes', async () => {
  const vector = readVector('file-raw');
  vector.chain.finalized = evm(vector.proof).blockNumber - 1;
  assert.equal(statuses(await verify(vector)).finality, 'skipped');
  assert.equal((await verify(vector)).verdict, 'incomplete');
  vector.chain.finalized += 1;
  assert.equal((await verify(vector)).verdict, 'pass');
});

test('a node that gives no answer skips the step instead of failing it', async () => {
  const vector = readVector('file-raw');
  const away = async () => {
    throw new Error('connect ECONNREFUSED');
  };
  const options = optionsOf(vector);
  const calls = [
    'chainId',
    'codeHash',
    'storedAnchor',
    'transaction',
    'block',
    'isEmbedded',
    'finality',
  ] as const;
  const firstSkipped: Record<(typeof calls)[number], StepName> = {
    chainId: 'registry',
    codeHash: 'registry',
    storedAnchor: 'chain',
    transaction: 'chain',
    block: 'chain',
    isEmbedded: 'time',
    finality: 'finality',
  };
  for (const call of calls) {
    const chain = { ...memoryChain(vector.chain), [call]: away };
    const result = await verifyProof(vector.proof, { ...options, chain });
    assert.equal(result.verdict, 'incomplete', call);
    const first = result.steps.find(({ status }) => status === 'skipped');
    assert.equal(first?.name, firstSkipped[call]);
    assert.match(first?.message ?? '', /ECONNREFUSED/);
  }
});

test('a node that is not yet at the block of the anchor has not contradicted it', async () => {
  for (const [what, lacking] of [
    ['anchors', 'chain'],
    ['codeHashes', 'registry'],
  ] as const) {
    const vector = readVector('file-raw');
    vector.chain[what] = {};
    assert.equal(statuses(await verify(vector))[lacking], 'fail');
    vector.chain.head = evm(vector.proof).blockNumber - 1;
    const result = await verify(vector);
    assert.equal(statuses(result)[lacking], 'skipped');
    assert.match(messageOf(result, lacking), /the node is at block/);
  }
});

test('a node of another chain is the wrong one to ask, and contradicts nothing', async () => {
  const vector = readVector('file-raw');
  vector.chain.chainId = 11155111;
  const result = await verify(vector);
  assert.equal(result.verdict, 'incomplete');
  const onChain = ['registry', 'chain', 'time', 'finality'];
  assert.deepEqual(
    result.steps.filter(({ status }) => status !== 'pass').map(({ name, status }) => [name, status]),
    onChain.map((name) => [name, 'skipped']),
  );
  assert.match(
    messageOf(result, 'registry'),
    /belongs to chain 11155111, but the proof is anchored on chain 1\./,
  );
  evm(vector.proof).contract = otherAddress;
  assert.equal(statuses(await verify(vector)).registry, 'fail', 'no node is needed to see this');
});

test('nothing is read from the contract that the proof names', async () => {
  const vector = readVector('file-raw');
  const asked = new Set<string>();
  const chain = memoryChain(vector.chain);
  const spied = {
    ...chain,
    codeHash(address: Hex) {
      asked.add(address);
      return chain.codeHash(address);
    },
    storedAnchor(key: AnchorKey) {
      asked.add(key.registry);
      return chain.storedAnchor(key);
    },
  };
  await verify(vector, { chain: spied });
  evm(vector.proof).contract = otherAddress;
  await verify(vector, { chain: spied });
  assert.deepEqual([...asked], [vector.registry.address]);
});

test('of several anchors the one on the chain that was asked counts', async () => {
  const vector = readVector('file-raw');
  const elsewhere = { ...evm(vector.proof), chainId: 137, transactionHash: other, contract: otherAddress };
  vector.proof.anchors = [elsewhere, { type: 'bitcoin', height: 1 }, evm(vector.proof)];
  const result = await verify(vector);
  assert.equal(result.verdict, 'pass');
  assert.match(messageOf(result, 'chain'), /2 more on other chains were not checked/);
});

test("without a chain, a proof that names no anchor in the registry fails 'registry'", async () => {
  const { proof, registry } = readVector('file-raw');
  evm(proof).contract = otherAddress;
  assert.equal(statuses(await verifyProof(proof, { registry })).registry, 'fail');
});

test('the salt of an HMAC may stay with its owner', async () => {
  const vector = readVector('file-hmac');
  const { salt } = vector.proof.content;
  assert.ok(salt);
  vector.proof.content.salt = null;
  assert.equal(statuses(await verify(vector)).digest, 'skipped');
  assert.equal((await verify(vector, { salt })).verdict, 'pass');
  assert.equal(statuses(await verify(vector, { salt: other })).digest, 'fail');
  vector.proof.content.salt = salt;
  assert.equal(statuses(await verify(vector, { salt: other })).digest, 'fail');
});

test('content may come in pieces', async () => {
  for (const name of vectorNames) {
    const vector = readVector(name);
    const pieces = async function* () {
      for (const byte of utf8(vector.content)) yield new Uint8Array([byte]);
    };
    assert.equal((await verify(vector, { content: pieces() })).verdict, 'pass', name);
  }
});

test("another vault's seal over the same subtree fails", async () => {
  const vector = readVector('file-raw');
  const { seal } = vector.proof;
  const stranger = privateKeyToAccount(fixed(0x33));
  const vault = stranger.address.toLowerCase() as Hex;
  const signature = await stranger.signTypedData(sealTypedData({ ...seal, vault }));
  vector.proof.seal = { ...seal, vault, signature };
  assert.equal(statuses(await verify(vector)).seal, 'fail');
  vector.proof.seal = { ...seal, signature: await stranger.signTypedData(sealTypedData(seal)) };
  assert.equal(statuses(await verify(vector)).seal, 'fail');
});

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

function verify(vector: Vector, options: VerifyOptions = {}): Promise<Verification> {
  return verifyProof(vector.proof, { ...optionsOf(vector), ...options });
}

function optionsOf({ content, chain, registry }: Vector): VerifyOptions {
  return { content: utf8(content), chain: memoryChain(chain), registry };
}

function statuses({ steps }: Verification): Partial<Record<StepName, string>> {
  return Object.fromEntries(steps.map(({ name, status }) => [name, status]));
}

function messageOf({ steps }: Verification, step: StepName): string {
  return steps.find(({ name }) => name === step)?.message ?? '';
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
