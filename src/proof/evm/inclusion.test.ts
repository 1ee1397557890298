/** What an inclusion shows to somebody who knows the block's hash, and that nothing in it can be changed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type NestedUint8Array, RLP } from '@ethereumjs/rlp';
import { bytesToHex, encodeAbiParameters, encodeEventTopics, type Hex, hexToBytes, keccak256 } from 'viem';
import {
  anchorLog,
  type InventedBlock,
  inventAnchor,
  inventBlock,
  mixedReceipts,
} from '../../../test/support/chain/inclusion-fixtures.ts';
import { threadCpuMs } from '../../../test/support/service/cpu-time.ts';
import { fc } from '../../../test/support/service/properties.ts';
import { registryAbi, registryAddress } from '../../chain/registry/registry.ts';
import {
  anchoredIn,
  type Inclusion,
  type InclusionReading,
  maxInclusionBytes,
  maxNodes,
  readInclusion,
} from './inclusion.ts';

const anchor = {
  registry: registryAddress.toLowerCase() as Hex,
  submitter: `0x${'5e'.repeat(20)}` as Hex,
  root: `0x${'ab'.repeat(32)}` as Hex,
  size: 3,
};

/** The anchor is one of 20, so that its path has branches, and every form of log is beside it. */
async function anchorAmongOthers(): Promise<{ block: InventedBlock; inclusion: Inclusion }> {
  const receipts = mixedReceipts(20);
  receipts[18] = { type: 2, logs: [...(receipts[19]?.logs ?? []), anchorLog(anchor)] };
  const block = await inventBlock(receipts);
  return { block, inclusion: await block.inclusionOf(18) };
}

function readOf(reading: InclusionReading) {
  if ('fault' in reading) assert.fail(reading.fault);
  return reading;
}

function faultOf(inclusion: Inclusion): string {
  const reading = readInclusion(inclusion);
  return 'fault' in reading ? reading.fault : assert.fail('it was read');
}

test('reads the block and the receipt of each transaction, after all upgrades of Ethereum', async () => {
  for (const later of [0, 1, 2, 5, 6]) {
    const receipts = mixedReceipts(20);
    const block = await inventBlock(receipts, { later, number: later, time: 2 ** 32 + later });
    for (const [index, { succeeded, logs }] of receipts.entries()) {
      assert.deepEqual(readInclusion(await block.inclusionOf(index)), {
        blockHash: block.hash,
        blockNumber: later,
        blockTime: 2 ** 32 + later,
        succeeded,
        logs,
      });
    }
  }
});

test('finds the anchor, and no anchor of another registry, submitter, root or size', async () => {
  const { inclusion } = await anchorAmongOthers();
  const reading = readOf(readInclusion(inclusion));
  assert.equal(anchoredIn(reading, anchor), true);
  // However the caller writes addresses.
  assert.equal(anchoredIn(reading, { ...anchor, registry: registryAddress }), true);
  const others = [
    { registry: anchor.submitter },
    { submitter: anchor.registry },
    { root: `0x${'ac'.repeat(32)}` },
    { size: 4 },
    { size: 0 },
    { size: 0x300 },
  ];
  for (const other of others) {
    assert.equal(anchoredIn(reading, { ...anchor, ...other }), false, JSON.stringify(other));
  }
  assert.equal(anchoredIn({ ...reading, succeeded: false }, anchor), false);
  assert.equal(anchoredIn({ ...reading, logs: [] }, anchor), false);
});

test('takes no log that only resembles an anchor for one', async () => {
  const log = anchorLog(anchor);
  const [topic, submitter, root] = log.topics as [Hex, Hex, Hex];
  const alike = [
    { ...log, topics: [root, submitter, topic] },
    { ...log, topics: [topic, submitter] },
    { ...log, topics: [topic, submitter, root, root] },
    { ...log, topics: [] },
    { ...log, data: `${log.data}00` as Hex },
    { ...log, data: '0x03' as Hex },
    // An address has only 20 of the 32 bytes of a topic.
    { ...log, topics: [topic, `0x01${submitter.slice(4)}` as Hex, root] },
  ];
  const block = await inventBlock([{ logs: alike }]);
  const reading = readOf(readInclusion(await block.inclusionOf(0)));
  assert.equal(reading.logs.length, alike.length);
  assert.equal(anchoredIn(reading, anchor), false);
});

test('the largest size that a proof can have is compared exactly', async () => {
  const size = Number.MAX_SAFE_INTEGER;
  const block = await inventAnchor({ ...anchor, size });
  const reading = readOf(readInclusion(await block.inclusionOf(0)));
  assert.equal(anchoredIn(reading, { ...anchor, size }), true);
  assert.equal(anchoredIn(reading, { ...anchor, size: size - 1 }), false);
});

test('each changed bit of the header changes the block hash, or is a fault', async () => {
  const block = await inventAnchor(anchor);
  const inclusion = await block.inclusionOf(0);
  let readable = 0;
  for (const header of flipped(inclusion.header)) {
    const reading = readInclusion({ ...inclusion, header });
    if ('fault' in reading) continue;
    readable += 1;
    assert.notEqual(reading.blockHash, block.hash);
  }
  assert.ok(readable > 1_000, `${readable}`);
});

test('each changed bit of a node is a fault', async () => {
  const { inclusion } = await anchorAmongOthers();
  for (const [place, node] of inclusion.nodes.entries()) {
    for (const changed of flipped(node)) {
      const fault = faultOf({ ...inclusion, nodes: inclusion.nodes.with(place, changed) });
      assert.match(fault, new RegExp(`^node ${place} is not the one that`));
    }
  }
});

test('each other index, each cut and each surplus is a fault', async () => {
  const { inclusion } = await anchorAmongOthers();
  for (let index = 0; index < 600; index += 1) {
    if (index !== inclusion.index) assert.match(faultOf({ ...inclusion, index }), /node|reference/);
  }
  const { header, nodes } = inclusion;
  for (let length = 2; length < header.length; length += 2) {
    assert.match(faultOf({ ...inclusion, header: header.slice(0, length) as Hex }), /^the header is not/);
  }
  assert.match(faultOf({ ...inclusion, header: `${header}00` }), /the header .* bytes after its end/);
  assert.match(faultOf({ ...inclusion, nodes: nodes.slice(0, -1) }), /the nodes end before a receipt/);
  assert.match(faultOf({ ...inclusion, nodes: nodes.slice(1) }), /node 0 is not the one that the header/);
  assert.match(faultOf({ ...inclusion, nodes: [...nodes, ...nodes.slice(-1)] }), /more nodes follow/);
  assert.match(faultOf({ ...inclusion, nodes: nodes.toReversed() }), /node 0 is not the one that the header/);
});

test('takes three fields from the header by their place, and requires their form', async () => {
  const { inclusion } = await anchorAmongOthers();
  const fields = RLP.decode(inclusion.header) as NestedUint8Array;
  const withFields = (list: NestedUint8Array) => ({ ...inclusion, header: bytesToHex(RLP.encode(list)) });
  const withField = (place: number, field: NestedUint8Array[number]) => withFields(fields.with(place, field));
  const bytes = (...values: number[]) => Uint8Array.from(values);

  assert.equal(readOf(readInclusion(withFields(fields.slice(0, 15)))).blockNumber, 21_000_000);
  assert.equal(readOf(readInclusion(withField(8, bytes()))).blockNumber, 0);
  assert.equal(readOf(readInclusion(withField(11, bytes(1, 0)))).blockTime, 256);
  // What upgrades may append, and what nobody reads.
  assert.ok(readOf(readInclusion(withFields([...fields, [], bytes(1)]))));
  assert.ok(readOf(readInclusion(withField(0, []))));

  const tooLarge = bytes(0x20, 0, 0, 0, 0, 0, 0);
  const wrong: [Inclusion, RegExp][] = [
    [withFields(fields.slice(0, 14)), /the header has 14 fields, fewer than 15/],
    [withField(5, new Uint8Array(31)), /the receipts root of the header is not 32 bytes/],
    [withField(5, []), /the receipts root of the header is not bytes/],
    [withField(5, new Uint8Array(32)), /node 0 is not the one that the header refers to/],
    [withField(8, bytes(0)), /the block number of the header is not an integer/],
    [withField(8, tooLarge), /the block number of the header is not an integer/],
    [withField(8, []), /the block number of the header is not bytes/],
    [withField(11, bytes(0, 1)), /the time of the header is not an integer/],
    [withField(11, tooLarge), /the time of the header is not an integer/],
    [
      { ...inclusion, header: bytesToHex(RLP.encode(hexToBytes(inclusion.header))) },
      /the header is not a list/,
    ],
    [{ ...inclusion, header: '0x' }, /the header is not canonical RLP: it is empty/],
  ];
  for (const [given, fault] of wrong) assert.match(faultOf(given), fault);
});

test('bounds indexes, nodes and bytes before it reads them', async () => {
  const { inclusion } = await anchorAmongOthers();
  for (const index of [
    -1,
    1.5,
    2 ** 32,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '18' as never,
    null as never,
  ]) {
    assert.match(faultOf({ ...inclusion, index }), /the index is not an integer from 0 to 4294967295/);
  }
  const node: Hex = '0xc0';
  for (const nodes of [
    [],
    Array.from({ length: maxNodes + 1 }, () => node),
    '0xc0' as never,
    null as never,
  ]) {
    assert.match(faultOf({ ...inclusion, nodes }), /the nodes are not a list of 1 to 16/);
  }
  for (const text of ['0xC0', '0xc', 'c0c0', '', '0xzz', ' 0xc0', '0xc0\n', 7, null, undefined, [], {}]) {
    const fault = /header and nodes are not all 0x and lower-case hex digits/;
    assert.match(faultOf({ ...inclusion, header: text as Hex }), fault);
    assert.match(faultOf({ ...inclusion, nodes: [...inclusion.nodes, text as Hex] }), fault);
  }
  const fill = (bytes: number): Hex => `0x${'00'.repeat(bytes)}`;
  const headerBytes = inclusion.header.length / 2 - 1;
  const most = maxInclusionBytes - headerBytes;
  assert.match(faultOf({ ...inclusion, nodes: [fill(most)] }), /node 0 is not the one/);
  assert.match(
    faultOf({ ...inclusion, nodes: [fill(most), fill(1)] }),
    /it has 65537 bytes, more than 65536/,
  );
  assert.match(faultOf({ ...inclusion, header: fill(2 ** 20) }), /more than 65536/);
});

test('anything else than an inclusion is a fault, quickly, and never an error', async () => {
  const { block, inclusion } = await anchorAmongOthers();
  const original = readInclusion(inclusion);
  const change = fc.tuple(fc.nat(), fc.constantFrom('set', 'insert', 'delete'), fc.nat(255));
  const changed = fc
    .tuple(fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(inclusion.nodes.length))
    .map(([changes, part]) => {
      const parts = [inclusion.header, ...inclusion.nodes];
      const bytes = [...hexToBytes(parts[part] ?? '0x')];
      for (const [place, how, value] of changes) {
        bytes.splice(
          place % (bytes.length + 1),
          how === 'insert' ? 0 : 1,
          ...(how === 'delete' ? [] : [value]),
        );
      }
      const [header = '0x', ...nodes] = parts.with(part, bytesToHex(Uint8Array.from(bytes)));
      return { ...inclusion, header, nodes };
    });
  /** The hashes are right, and everything below them is anything. */
  const consistent = fc.uint8Array({ maxLength: 300 }).map((node) => {
    const fields = RLP.decode(inclusion.header) as NestedUint8Array;
    const header = bytesToHex(RLP.encode(fields.with(5, keccak256(node, 'bytes'))));
    return { header, index: 0, nodes: [bytesToHex(node)] };
  });
  /** A leaf of index 0 whose value is anything. */
  const leaves = fc.uint8Array({ maxLength: 300 }).map((value) => {
    const fields = RLP.decode(inclusion.header) as NestedUint8Array;
    const node = RLP.encode([hexToBytes('0x2080'), value]);
    const header = bytesToHex(RLP.encode(fields.with(5, keccak256(node, 'bytes'))));
    return { header, index: 0, nodes: [bytesToHex(node)] };
  });
  const anything = fc.record({ header: fc.anything(), index: fc.anything(), nodes: fc.anything() });
  fc.assert(
    fc.property(fc.oneof(changed, consistent, leaves, anything), (given) => {
      const reading = readInclusion(given as Inclusion);
      if ('fault' in reading) assert.ok(reading.fault.length > 0);
      else if (reading.blockHash === block.hash) assert.deepEqual(reading, original);
    }),
    { numRuns: 4_000, interruptAfterTimeLimit: 5_000 },
  );
});

test('the largest inclusions take a moment, whatever is in them', () => {
  const sized = (bytes: number, fill: string): Hex => `0x${fill.repeat(bytes)}`;
  const half = maxInclusionBytes / 2;
  const header = bytesToHex(RLP.encode(Array.from({ length: 20_000 }, () => new Uint8Array())));
  const given: Inclusion[] = [
    { header: sized(half, 'c0'), index: 0, nodes: [sized(half, 'c0')] },
    { header: sized(half, 'f8'), index: 0, nodes: [sized(half, 'ff')] },
    { header, index: 0, nodes: [sized(half, 'c0')] },
    {
      header: sized(1, 'c0'),
      index: 2 ** 32 - 1,
      nodes: Array.from({ length: 16 }, () => sized(4_000, 'f9')),
    },
  ];
  const before = threadCpuMs();
  for (const inclusion of given) assert.ok(faultOf(inclusion));
  assert.ok(threadCpuMs() - before < 500, `${threadCpuMs() - before} ms`);
});

test('the log that is looked for is that of the registry', async () => {
  const { registry, submitter, root, size } = anchor;
  const topics = encodeEventTopics({ abi: registryAbi, eventName: 'Anchored', args: { submitter, root } });
  const data = encodeAbiParameters([{ type: 'uint64' }], [BigInt(size)]);
  const block = await inventBlock([{ logs: [{ address: registry, topics: topics as Hex[], data }] }]);
  assert.equal(anchoredIn(readOf(readInclusion(await block.inclusionOf(0))), anchor), true);
});

test('depends neither on Node.js nor on other rooms', () => {
  for (const file of ['inclusion.ts', 'receipt.ts', 'rlp.ts', 'trie.ts', 'known-chains.ts']) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    assert.doesNotMatch(text, /node:|Buffer|process\.|from '(?!viem'|\.\.\/(?:hex|keccak)\.ts'|\.\/)/, file);
  }
});

/** The same bytes with one bit changed, once for each bit. */
function* flipped(hex: Hex): Generator<Hex> {
  const bytes = hexToBytes(hex);
  for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
    const changed = Uint8Array.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield bytesToHex(changed);
  }
}
