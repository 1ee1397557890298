/** Which addresses count as one client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOf } from './client-network.ts';

test('counts IPv4 addresses individually, even inside IPv6', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7');
  assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7');
});

test('counts IPv6 addresses of one network together', () => {
  const network = networkOf('2001:db8:1:2::1');
  assert.equal(network, '2001:db8:1:2::/64');
  assert.equal(networkOf('2001:0db8:0001:0002:ffff:ffff:ffff:ffff'), network);
  assert.equal(networkOf('2001:db8:1:2::1%eth0'), network);
  assert.notEqual(networkOf('2001:db8:1:3::1'), network);
});

test('counts clients that have left as one', () => {
  assert.equal(networkOf(undefined), 'gone');
});

test('leaves text that is not an address unchanged', () => {
  assert.equal(networkOf('not:an address'), 'not:an address');
  assert.equal(networkOf(''), '');
});
