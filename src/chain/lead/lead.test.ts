/** Leadership on the chain: who leads, that the chain stays the same, and what stops it with an error. */
// tier: process
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseEther } from 'viem';
import { startAnvil } from '../../../test/support/chain/anvil.ts';
import { enginesOf } from '../../../test/support/chain/engine-process.ts';
import { takeLead } from '../../../test/support/chain/lead-taker.ts';
import { killed, openLeadFixture } from '../../../test/support/fixtures/lead-fixture.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { findEmbeddedChain } from '../embedded/embedded-chain.ts';
import {
  deployerAddress,
  deployerRuntimeCode,
  registryAddress,
  registryDeploymentData,
} from '../registry/registry.ts';
import { readRegistryState } from '../registry/registry-deployment.ts';
import { findStoredChain } from '../stored-chain.ts';

const onAnvil = needs('anvil');

describe('the lead on the chain', () => {
  test('the first leader creates the chain with funds, deployer and registry, and keeps it', async (t) => {
    const fixture = await openLeadFixture(t);
    const { db, pool } = fixture.database;
    const node = await fixture.node({}, { patienceMs: 600_000 });
    const { chain, term } = await node.leads();
    assert.equal(await node.openChain(), chain);
    const stored = await findStoredChain(db);
    assert.ok(stored);
    const { submitter, ...identity } = stored;
    assert.deepEqual(identity, {
      chainId: chain.chainId,
      genesisHash: chain.genesisHash,
      embedded: true,
      registry: registryAddress,
    });
    assert.equal(chain.confirmations, 1);
    assert.equal(await readRegistryState(chain.client, registryAddress), 'present');
    assert.equal(await chain.client.getTransactionCount({ address: deployerAddress }), 2);
    assert.equal(await chain.client.getBalance({ address: submitter }), parseEther('1000000'));
    assert.equal(await chain.client.getTransactionCount({ address: submitter }), 0);
    const head = await chain.head();
    assert.equal((await chain.client.getBlock({ blockNumber: BigInt(head.number) })).hash, head.hash);
    assert.deepEqual(await Promise.all([1, 2, 9].map(chain.finalizedNumber)), [-1, 0, 7]);

    await t.test('replaces a killed engine within the same term', async () => {
      const engines = enginesOf(process.pid);
      assert.equal(engines.length, 1);
      for (const pid of engines) process.kill(pid, 'SIGKILL');
      await waitUntil(() => fixture.logged.some(({ message }) => /engine .* was lost/.test(message)));
      assert.equal(await chain.client.getBalance({ address: submitter }), parseEther('1000000'));
      assert.equal((await node.leads()).term.epoch, term.epoch);
    });

    await t.test('a lost term ends the lead, and the next leader goes on with the same chain', async (t) => {
      const away = await takeLead(t, fixture.database);
      await waitUntil(() => fixture.logged.some(({ message }) => message === 'loop failed'));
      assert.ok(term.signal.aborted);
      assert.equal(node.lead(), null);
      // Readers wait for the chain.
      const read = node.openChain().then((open) => open?.client.getBlock({ blockNumber: 0n }));
      await away.giveBack();
      assert.equal((await read)?.hash, chain.genesisHash);
      const again = await node.leads();
      assert.ok(again.term.epoch > term.epoch);
      assert.deepEqual(await findStoredChain(db), stored);
      assert.equal((await again.chain.client.getBlock({ blockNumber: 0n })).hash, chain.genesisHash);
    });

    await t.test('nothing runs after a stop', async () => {
      await node.stop();
      assert.equal(node.lead(), null);
      assert.deepEqual(enginesOf(process.pid), []);
      assert.equal(await findEmbeddedChain(db, fixture.dataDir), null);
    });

    await t.test('waits and writes nothing if the genesis is not the stored one', async () => {
      await pool.query("update chain set genesis_hash = decode(repeat('ab', 32), 'hex')");
      const before = await fixture.counts();
      const other = await fixture.node();
      assert.match(
        await other.waitsFor(),
        /^anchoring waits: This database belongs to a different chain .*0xabab/s,
      );
      assert.equal(other.lead(), null);
      await other.stop();
      assert.deepEqual(await fixture.counts(), before);
      assert.deepEqual(enginesOf(process.pid), []);
    });

    await t.test('does not start a new journal if the stored one is missing', async () => {
      await pool.query('truncate embedded_chain, embedded_chain_blocks cascade');
      const other = await fixture.node();
      assert.match(await other.waitsFor(), /journal of the embedded chain \d+ is missing/);
      await other.stop();
      assert.deepEqual(await fixture.counts(), { chain: 1, embedded_chain: 0, embedded_chain_blocks: 0 });
    });
  });

  test('another node continues with the same chain when the leading process is killed', async (t) => {
    const fixture = await openLeadFixture(t);
    const child = await fixture.nodeElsewhere();
    const stored = await findStoredChain(fixture.database.db);
    const node = await fixture.node({}, { patienceMs: 0 });
    const epochOf = async () =>
      (await fixture.database.pool.query('select epoch from leaders')).rows[0]?.epoch;
    const epoch = await epochOf();
    await waitUntil(() => node.looks() > 0);
    assert.equal(await node.openChain(), null);
    const looks = node.looks();
    await killed(child);
    await waitUntil(async () => (await epochOf()) > epoch);
    // It checks every half second: fewer than 5 s have passed.
    assert.ok(node.looks() - looks < 10);
    const { chain } = await node.leads();
    assert.equal((await chain.client.getBlock({ blockNumber: 0n })).hash, stored?.genesisHash);
    assert.equal(await readRegistryState(chain.client, registryAddress), 'present');
    assert.deepEqual(await findStoredChain(fixture.database.db), stored);
  });

  onAnvil.test(
    'over RPC addresses it waits for the registry before it leads, and refuses another chain',
    async (t) => {
      const deployer = {
        [deployerAddress]: { nonce: '0x1', balance: '0x0', code: deployerRuntimeCode },
      } as const;
      const anvil = await startAnvil({ alloc: deployer, chainId: 4_242 });
      t.after(() => anvil.stop());
      const fixture = await openLeadFixture(t);
      const rpcUrls = [anvil.url];
      const early = await fixture.node({ rpcUrls });
      assert.match(
        await early.waitsFor(),
        /Chain 4242 has no contract at 0x.* Run "holdfast chain deploy"\.$/s,
      );
      await early.stop();
      assert.deepEqual(await fixture.counts(), { chain: 0, embedded_chain: 0, embedded_chain_blocks: 0 });

      const [account] = anvil.accounts;
      const data = registryDeploymentData();
      await anvil.mined(await anvil.client.sendTransaction({ account, to: deployerAddress, data }));
      const node = await fixture.node({ rpcUrls });
      const { chain } = await node.leads();
      assert.deepEqual([chain.chainId, chain.embedded, chain.confirmations], [4_242, false, 12]);
      assert.equal((await chain.head()).hash, (await anvil.client.getBlock()).hash);
      assert.equal(await chain.finalizedNumber(300), 44);
      await node.stop();

      const other = await startAnvil({ alloc: deployer, chainId: 4_243 });
      t.after(() => other.stop());
      const stored = await findStoredChain(fixture.database.db);
      const reset = await fixture.node({ rpcUrls: [other.url] });
      assert.match(await reset.waitsFor(), /belongs to a different chain than this database/);
      await reset.stop();
      const unset = await fixture.node();
      assert.match(await unset.waitsFor(), /it has: not embedded/);
      await unset.stop();
      assert.deepEqual(await findStoredChain(fixture.database.db), stored);
      assert.deepEqual(await fixture.counts(), { chain: 1, embedded_chain: 0, embedded_chain_blocks: 0 });
    },
  );
});
