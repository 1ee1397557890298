/** For which anchors of a dossier somebody else vouches, and when a dossier is development evidence. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  type ClockedProof,
  clockedAt,
  coverItem,
  makeClockedProof,
} from '../../../test/support/fixtures/clocked-proof.ts';
import { fixed } from '../../../test/support/fixtures/proof-fixture.ts';
import { registryAddress } from '../../chain/registry/registry.ts';
import { knownChain } from '../../proof/evm/known-chains.ts';
import { fromHex } from '../../proof/hex.ts';
import { shippedTrust, type Trust } from '../../proof/verify/trust.ts';
import { createDossierClocks } from './dossier-clocks.ts';
import { stateInWords } from './logbook-words.ts';

const ethereum = {
  ...{ chainId: 1, genesisHash: knownChain(1)?.genesisHash ?? '0x', embedded: false },
  ...{ registry: registryAddress, submitter: registryAddress },
} as const;
const privateChain = { ...ethereum, genesisHash: fixed(0x99) };
const at = new Date('2026-06-01T00:00:00Z');

let clocked: ClockedProof;
let anchor: { chainId: number; transactionHash: `0x${string}`; blockNumber: number; anchoredAt: Date };
before(async () => {
  clocked = await makeClockedProof();
  const { chainId, transactionHash, blockNumber } = clocked.evm;
  anchor = { chainId, transactionHash, blockNumber, anchoredAt: new Date(clockedAt) };
});

/** Of the anchor, and of the whole dossier. */
async function judge(trust: Trust, { proof = clocked.proof, chain = privateChain as typeof ethereum } = {}) {
  const clocks = createDossierClocks({ chain, at, trust });
  await clocks.add(proof);
  return [clocks.isDevelopment(anchor), clocks.isAnyDevelopment()];
}

test('a known public chain vouches for everything, also for what is not confirmed yet', async () => {
  assert.deepEqual(await judge(shippedTrust, { chain: ethereum }), [false, false]);
  const clocks = createDossierClocks({ chain: ethereum, at });
  assert.deepEqual([clocks.isDevelopment(null), clocks.isAnyDevelopment()], [false, false]);
});

test('on any other chain a clock of the trust that ships has to vouch, and not only one of somebody’s choice', async () => {
  assert.deepEqual(await judge(shippedTrust), [true, true]);
  const trust = { ...shippedTrust, tsaRoots: [clocked.authority.trusted] };
  assert.deepEqual(await judge(trust), [false, false]);
  assert.deepEqual(await judge(trust, { chain: { ...ethereum, embedded: true } as never }), [false, false]);
  assert.deepEqual(await judge({ ...trust, isShipped: false }), [true, true]);
  const alone = { ...clocked.proof, anchors: [clocked.evm] };
  assert.deepEqual(await judge(trust, { proof: alone }), [true, true]);
});

test('the clock of a later batch vouches too, and one anchor without a clock marks the whole dossier', async () => {
  const { renewal, authority } = await coverItem(fromHex(clocked.proof.merkle.root), clockedAt + 60_000);
  const renewals = [{ covers: { renewal: null, anchor: null }, ...renewal }];
  const proof = { ...clocked.proof, anchors: [clocked.evm], renewals };
  const trust = { ...shippedTrust, tsaRoots: [authority.trusted] };
  assert.deepEqual(await judge(trust, { proof }), [false, false]);

  const clocks = createDossierClocks({ chain: privateChain, at, trust });
  await clocks.add(proof);
  const transactionHash = fixed(0x77);
  await clocks.add({ ...proof, anchors: [{ ...clocked.evm, transactionHash }], renewals: [] });
  assert.deepEqual(
    [clocks.isDevelopment(anchor), clocks.isDevelopment({ ...anchor, transactionHash })],
    [false, true],
  );
  assert.equal(clocks.isAnyDevelopment(), true);
});

test('without a proof, nobody vouches for a dossier', () => {
  for (const chain of [privateChain, null]) {
    assert.equal(createDossierClocks({ chain, at }).isAnyDevelopment(), true);
  }
});

test('a chain has a name only if its first block is that of the known chain', () => {
  const words = (chain: Parameters<typeof createDossierClocks>[0]['chain']) =>
    stateInWords({ status: 'finalized', anchor }, createDossierClocks({ chain, at }));
  assert.match(words(ethereum), /^Anchored in block 24,500,000 of Ethereum \(chain id 1\) on .*, final\.$/);
  assert.match(words(privateChain), /of a chain that is not known publicly \(chain id 1\) on/);
  assert.match(
    words({ ...privateChain, embedded: true }),
    /of the development chain of this service \(chain/,
  );
});
