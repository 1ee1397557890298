/** Which chains count as development chains. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as chains from 'viem/chains';
import { embeddedChainIds, isDevelopmentChain } from './development-chain.ts';

const geth = 'Geth/v1.16.7-stable/linux-amd64/go1.24';

test('recognizes a chain id from the range of embedded chains, whatever the client version', () => {
  for (const chainId of [embeddedChainIds.from, 1_500_000_000, embeddedChainIds.to - 1]) {
    assert.equal(isDevelopmentChain({ chainId, clientVersion: geth }), true);
  }
  for (const chainId of [1, embeddedChainIds.from - 1, embeddedChainIds.to]) {
    assert.equal(isDevelopmentChain({ chainId, clientVersion: geth }), false);
  }
});

test('does not mistake public chains with an id in that range for development chains', () => {
  const within = Object.values(chains).filter(
    ({ id }) => id >= embeddedChainIds.from && id < embeddedChainIds.to,
  );
  assert.ok(within.length > 10);
  for (const { id, name } of within) {
    assert.equal(isDevelopmentChain({ chainId: id, clientVersion: geth }), false, name);
  }
});

test('recognizes a development node by its client version, even under the id of a public chain', () => {
  for (const clientVersion of [
    'anvil/v1.7.1',
    'HardhatNetwork/2.26.3',
    'Ganache/v7.9.2/EthereumJS TestRPC',
  ]) {
    assert.equal(isDevelopmentChain({ chainId: 1, clientVersion }), true, clientVersion);
  }
  for (const chainId of [1_337, 31_337]) {
    assert.equal(isDevelopmentChain({ chainId, clientVersion: geth }), true);
  }
});

test('throws if the chain node does not report its client version', () => {
  for (const clientVersion of ['', null, undefined, 7]) {
    assert.throws(() => isDevelopmentChain({ chainId: 1, clientVersion }), /does not say/);
  }
});
