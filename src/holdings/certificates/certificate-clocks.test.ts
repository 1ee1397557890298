/** Who vouches for a proof, and for whom they count: by chain, by authority, by time. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  type ClockedProof,
  clockedAt,
  coverItem,
  makeClockedProof,
  makeRenewedProof,
} from '../../../test/support/fixtures/clocked-proof.ts';
import { fixed } from '../../../test/support/fixtures/proof-fixture.ts';
import { registryAddress } from '../../chain/registry/registry.ts';
import type { StoredChain } from '../../chain/stored-chain.ts';
import { knownChain } from '../../proof/evm/known-chains.ts';
import { fromHex } from '../../proof/hex.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { shippedTrust } from '../../proof/verify/trust.ts';
import { type ClocksGiven, certificateClocks } from './certificate-clocks.ts';

const ethereum: StoredChain = {
  chainId: 1,
  genesisHash: knownChain(1)?.genesisHash ?? '0x',
  embedded: false,
  registry: registryAddress,
  submitter: registryAddress,
};
const privateChain = { ...ethereum, genesisHash: fixed(0x99) };

let clocked: ClockedProof;
before(async () => {
  clocked = await makeClockedProof();
});

async function clocksOf(proof: Proof, more: Partial<ClocksGiven> = {}) {
  const at = new Date('2026-06-01T00:00:00Z');
  return certificateClocks(proof, { chain: ethereum, isFinal: true, operatorRoots: [], at, ...more });
}

const standings = (clocks: Awaited<ReturnType<typeof clocksOf>>) => clocks.map(({ standing }) => standing);

describe('the block of a chain', () => {
  test('counts on a known public chain once it is final', async () => {
    const [block] = await clocksOf(clocked.proof);
    assert.equal(block.standing, 'shipped');
    assert.deepEqual(
      [block.chain, block.name, block.number],
      ['public', 'Ethereum', clocked.evm.blockNumber],
    );
    assert.equal(Number(block.at), clocked.evm.blockTime * 1000);
    const [early] = await clocksOf(clocked.proof, { isFinal: false });
    assert.deepEqual([early.standing, early.isFinal], ['nobody', false]);
  });

  test('counts too if the chain allows no proof of inclusion', async () => {
    const anchors = [{ ...clocked.evm, inclusion: null }];
    assert.deepEqual(standings(await clocksOf({ ...clocked.proof, anchors })), ['shipped']);
  });

  test('does not count under the id of a public chain alone, on a test network, or on the embedded chain', async () => {
    const [impostor] = await clocksOf(clocked.proof, { chain: privateChain });
    assert.deepEqual([impostor.standing, impostor.chain, impostor.name], ['nobody', 'unknown', null]);
    const sepolia = knownChain(11_155_111);
    assert.ok(sepolia);
    const { proof } = await makeClockedProof({ chainId: sepolia.chainId });
    const [test] = await clocksOf(proof, { chain: { ...ethereum, ...sepolia } });
    assert.deepEqual([test.standing, test.chain, test.name], ['nobody', 'test', 'Sepolia']);
    const [embedded] = await clocksOf(clocked.proof, { chain: { ...ethereum, embedded: true } });
    assert.deepEqual([embedded.standing, embedded.chain], ['nobody', 'embedded']);
  });
});

describe('a timestamp authority', () => {
  test('counts by the trust that ships, by the choice of the operator, or for nobody', async () => {
    const { proof, authority } = clocked;
    const tokenOf = async (more: Partial<ClocksGiven>) => {
      const clock = (await clocksOf(proof, { chain: privateChain, ...more }))[1];
      assert.ok(clock?.kind === 'authority');
      return clock;
    };
    const unknown = await tokenOf({});
    assert.deepEqual([unknown.standing, unknown.root, unknown.name], ['nobody', null, 'CN=Test TSA']);
    const chosen = await tokenOf({ operatorRoots: [authority.trusted] });
    assert.equal(chosen.standing, 'operator');
    assert.deepEqual(chosen.root, { name: 'CN=Test Root', fingerprint: authority.trusted.fingerprint });
    assert.equal(Number(chosen.at), clockedAt);
    const trust = { ...shippedTrust, tsaRoots: [authority.trusted] };
    assert.equal((await tokenOf({ trust })).standing, 'shipped');
    assert.equal((await tokenOf({ trust, operatorRoots: [authority.trusted] })).standing, 'shipped');
    const ended = { operatorRoots: [authority.trusted], at: new Date('2040-01-01T00:00:00Z') };
    assert.equal((await tokenOf(ended)).standing, 'nobody');
  });

  test('counts after the end of its certificate if a later batch covers the token', async () => {
    const { proof, authorities } = await makeRenewedProof();
    const operatorRoots = authorities.map(({ trusted }) => trusted);
    const renewals = proof.renewals.map((renewal) => ({ ...renewal, covers: { renewal: null, anchor: 1 } }));
    const whole = { ...proof, anchors: [clocked.evm, ...proof.anchors], renewals };
    const at = new Date('2040-01-01T00:00:00Z');
    const clocks = await clocksOf(whole, { chain: privateChain, operatorRoots, at });
    assert.equal(clocks.length, 2, 'the clocks of a renewal of a token are no clocks of the root');
    const [, token] = clocks;
    assert.ok(token?.kind === 'authority');
    assert.deepEqual([token.standing, token.isRenewed, Number(token.at)], ['operator', true, clockedAt]);
  });

  test('of a later batch counts if the head of that batch covers this one', async () => {
    const later = clockedAt + 60_000;
    const { renewal, authority } = await coverItem(fromHex(clocked.proof.merkle.root), later);
    const covers = { renewal: null, anchor: null };
    const proof = { ...clocked.proof, anchors: [clocked.evm], renewals: [{ covers, ...renewal }] };
    const clocks = await clocksOf(proof, { chain: privateChain, operatorRoots: [authority.trusted] });
    const [, token] = clocks;
    assert.ok(token?.kind === 'authority');
    assert.deepEqual([token.standing, token.isLater, Number(token.at)], ['operator', true, later]);
  });
});

test('a Bitcoin block is named with its time, and counts for nobody by itself', async () => {
  const bitcoin = (await clocksOf(clocked.proof))[2];
  assert.ok(bitcoin?.kind === 'bitcoin');
  assert.deepEqual(
    [bitcoin.standing, bitcoin.height, bitcoin.hash],
    ['nobody', 939_000, clocked.bitcoin.hash],
  );
  assert.equal(Number(bitcoin.at), clocked.bitcoin.time);
});

test('nobody certifies a proof that fails', async () => {
  const proof = structuredClone(clocked.proof);
  proof.seal.sequence = '8';
  await assert.rejects(clocksOf(proof), /fails: seal/);
});
