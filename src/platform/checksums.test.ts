import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { checksummed } from '../address.ts';
import { loadChecksum } from './checksums.ts';

test('an address has the same EIP-55 form as everywhere else, asked once or again', async () => {
  const checksum = await loadChecksum();
  const all = ['5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', '0'.repeat(40), 'f'.repeat(40)];
  for (let turn = 0; turn < 500; turn += 1) all.push(randomBytes(20).toString('hex'));
  for (const digits of [...all, ...all]) assert.equal(checksum(digits), checksummed(`0x${digits}`));
});
