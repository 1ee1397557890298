/** Which bytes are a receipt, and what they say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NestedUint8Array, RLP } from '@ethereumjs/rlp';
import { bytesToHex, type Hex, hexToBytes } from 'viem';
import { encodeReceipt } from '../../../test/support/chain/inclusion-fixtures.ts';
import { readReceipt } from './receipt.ts';

const address: Hex = `0x${'ab'.repeat(20)}`;
const topic: Hex = `0x${'cd'.repeat(32)}`;
const logs = [
  { address, topics: [topic, topic, topic, topic], data: '0x1234' as Hex },
  { address, topics: [], data: '0x' as Hex },
];
const bytes = (...values: number[]) => Uint8Array.from(values);

/** The four fields of a receipt, to be spoiled one at a time. */
const fields: NestedUint8Array = [
  bytes(1),
  bytes(0x52, 0x08),
  new Uint8Array(256),
  [[hexToBytes(address), [hexToBytes(topic)], bytes(7)]],
];
const withField = (place: number, field: NestedUint8Array[number]) => fields.with(place, field);
const encoded = (list: NestedUint8Array, type?: number) =>
  type === undefined ? RLP.encode(list) : Uint8Array.from([type, ...RLP.encode(list)]);

test('reads receipts with and without a type, of transactions that succeeded and that failed', () => {
  // Ethereum's types, and those of Arbitrum: deposit, contract, retry, internal, legacy.
  for (const type of [0, 1, 2, 3, 4, 0x64, 0x66, 0x68, 0x6a, 0x78, 0x7f]) {
    assert.deepEqual(readReceipt(encodeReceipt({ type, logs }, 21_000)), { succeeded: true, logs });
    const failed = encodeReceipt({ type, succeeded: false }, 0);
    assert.deepEqual(readReceipt(failed), { succeeded: false, logs: [] });
  }
});

test('a deposit of the OP Stack has two more fields since Canyon, and no other receipt has', () => {
  const deposit = { type: 0x7e, logs };
  assert.deepEqual(readReceipt(encodeReceipt(deposit, 1)).logs, logs);
  const canyon = encodeReceipt({ ...deposit, deposit: { nonce: 0x1ba3d8a, version: 1 } }, 1);
  assert.deepEqual(readReceipt(canyon), { succeeded: true, logs });
  const [nonce, version] = [bytes(9), bytes(1)];
  const surplus: [NestedUint8Array, number | undefined][] = [
    [[...fields, nonce], 0x7e],
    [[...fields, nonce, version, version], 0x7e],
    [[...fields, nonce, version], 2],
    [[...fields, nonce, version], undefined],
    [[...fields, nonce], 0x7b],
  ];
  for (const [list, type] of surplus) {
    assert.throws(() => readReceipt(encoded(list, type)), /fields, which its type does not have/);
  }
  assert.throws(() => readReceipt(encoded([...fields, [], version], 0x7e)), /a field of the deposit/);
  assert.throws(() => readReceipt(encoded([...fields, nonce, bytes(0)], 0x7e)), /a field of the deposit/);
});

test('refuses a state root in place of the status, and any other status', () => {
  for (const status of [new Uint8Array(32), bytes(0), bytes(2), bytes(1, 1), new Uint8Array(31)]) {
    const receipt = encoded(withField(0, status));
    assert.throws(() => readReceipt(receipt), /status of the receipt is neither 0 nor 1/, bytesToHex(status));
  }
});

test('refuses fields of another form', () => {
  const [log] = fields[3] as [NestedUint8Array];
  const withLog = (place: number, part: NestedUint8Array[number]) => withField(3, [log.with(place, part)]);
  const wrong: [NestedUint8Array, RegExp][] = [
    [[], /the gas of the receipt is not bytes/],
    [fields.slice(0, 3), /the list of logs of the receipt is not a list/],
    [withField(0, []), /the status of the receipt is not bytes/],
    [withField(1, []), /the gas of the receipt is not bytes/],
    [withField(1, bytes(0, 1)), /the gas of the receipt is not an integer/],
    [withField(2, new Uint8Array(255)), /the bloom filter of the receipt is not 256 bytes/],
    [withField(2, []), /the bloom filter of the receipt is not bytes/],
    [withField(3, bytes()), /the list of logs of the receipt is not a list/],
    [withField(3, [bytes(1)]), /a log is not a list/],
    [withField(3, [[]]), /a log has 0 fields/],
    [withField(3, [[...log, bytes(1)]]), /a log has 4 fields/],
    [withLog(0, new Uint8Array(19)), /the address of a log is not 20 bytes/],
    [withLog(0, []), /the address of a log is not bytes/],
    [withLog(1, bytes(1)), /the list of topics of a log is not a list/],
    [withLog(1, [new Uint8Array(31)]), /a topic is not 32 bytes/],
    [withLog(1, [[]]), /more than 4 levels/],
    [
      withLog(
        1,
        Array.from({ length: 5 }, () => new Uint8Array(32)),
      ),
      /a log has 5 topics/,
    ],
    [withLog(2, []), /the data of a log is not bytes/],
  ];
  assert.doesNotThrow(() => readReceipt(encoded(fields)));
  for (const [list, message] of wrong)
    assert.throws(() => readReceipt(encoded(list)), message, String(message));
});

test('refuses what is not a list, or has something after it', () => {
  const receipt = encoded(fields, 2);
  const longer = Uint8Array.from([...receipt, 0]);
  assert.throws(() => readReceipt(longer), /bytes after its end/);
  assert.throws(() => readReceipt(receipt.subarray(0, -1)), /ends too early/);
  assert.throws(() => readReceipt(bytes()), /the receipt is not canonical RLP: it is empty/);
  assert.throws(() => readReceipt(bytes(2)), /the receipt is not canonical RLP: it is empty/);
  // Neither a type nor a list: a string that contains one, as transactions have it within blocks.
  assert.throws(() => readReceipt(RLP.encode(receipt)), /the receipt is not a list/);
  assert.throws(() => readReceipt(Uint8Array.from([2, ...receipt])), /bytes after its end/);
});
