/** `holdfast chain` without a service, beside one, and over RPC addresses; each command at least once as a process. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Address, isAddress, parseEther } from 'viem';
import { deployerAddress, deployerDeployment, registryAddress } from '../../src/chain/registry/registry.ts';
import { startAnvil } from '../support/chain/anvil.ts';
import { type LeadFixture, openLeadFixture } from '../support/fixtures/lead-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { command } from '../support/service/commands.ts';
import {
  type CommandResult,
  holdfast,
  processesMentioning,
  type Settings,
} from '../support/service/process.ts';

const someone: Address = '0x00000000000000000000000000000000000A11cE';

const onAnvil = needs('anvil');

describe('holdfast chain', { concurrency: 2 }, () => {
  test('on the embedded chain, with and without a service', async (t) => {
    const fixture = await openLeadFixture(t);

    await t.test('status says that nothing ran yet, and who will submit', async () => {
      const { submitter, ...status } = await json(fixture.settings, 'chain', 'status');
      assert.ok(isAddress(submitter));
      assert.deepEqual(status, {
        chainId: null,
        embedded: true,
        developmentEvidence: true,
        genesisHash: null,
        rpcUrl: null,
        rpc: [],
        head: null,
        indexedBlock: null,
        lag: null,
        registry: registryAddress,
        registryState: null,
        balanceWei: null,
        anchorsLeft: null,
        pendingLeaves: 0,
        openTransactions: 0,
        setAsideBatches: 0,
        setAside: [],
      });
    });

    await t.test('fund starts the chain without a service, pays, and stops it', async () => {
      const { transactionHash } = await jsonOfProcess(fixture.settings, 'chain', 'fund', someone, '5');
      assert.match(transactionHash, /^0x[0-9a-f]{64}$/);
      assert.deepEqual(processesMentioning(fixture.dataDir), []);
      const status = await json(fixture.settings, 'chain', 'status');
      assert.equal(status.rpcUrl, null);
      // The registry and the payment; a slow machine has time for an empty block between them.
      assert.ok(status.head.number >= 2, `the head is ${status.head.number}`);
      assert.ok(Math.abs(Date.parse(status.head.time) - Date.now()) < 600_000);
    });

    await t.test('fund uses the chain of a running service, and two concurrent runs both pay', async () => {
      const node = await fixture.node();
      const { chain } = await node.leads();
      // Each in a process of its own.
      const paid = await Promise.all([
        json(fixture.settings, 'chain', 'fund', someone.toLowerCase(), '7'),
        jsonOfProcess(fixture.settings, 'chain', 'fund', someone, '30'),
      ]);
      assert.equal(new Set(paid.map(({ transactionHash }) => transactionHash)).size, 2);
      assert.equal(await chain.client.getBalance({ address: someone }), 42n);
      const { to, value, blockHash } = await chain.client.getTransaction({ hash: paid[0]?.transactionHash });
      assert.deepEqual([to, value], [someone.toLowerCase(), 7n]);
      assert.ok(await isJournalled(fixture, blockHash));

      const status = await json(fixture.settings, 'chain', 'status');
      const asked = await ask(status.rpcUrl, 'eth_chainId');
      assert.equal(Number(asked.result), chain.chainId);
      const refused = await ask(status.rpcUrl, 'anvil_setBalance', someone, '0x0');
      assert.match(refused.error.message, /must not be changed from outside/);
      assert.equal(await chain.client.getBalance({ address: someone }), 42n);
      assert.equal(status.chainId, chain.chainId);
      assert.equal(status.genesisHash, chain.genesisHash);
      assert.equal(status.registryState, 'present');
      assert.equal(status.balanceWei, String(parseEther('1000000')));
      assert.ok(status.anchorsLeft > 1_000_000);
      const { stdout } = await command(fixture.settings, 'chain', 'status');
      assert.match(stdout, /Gas for +\d+ anchors at current fees/);
      assert.match(stdout, /Development evidence only/);
      await node.stop();
    });

    await t.test('lists batches that were set aside, and resends them one by one or all', async () => {
      await setAside(fixture, ['it reverted', 'the chain \u001b[31mrefuses it', null]);
      const setAsideAll = [
        { id: 1, size: 5, reason: 'it reverted' },
        { id: 2, size: 5, reason: 'the chain \u001b[31mrefuses it' },
        { id: 3, size: 5, reason: null },
      ];
      const status = await json(fixture.settings, 'chain', 'status');
      assert.deepEqual([status.setAsideBatches, status.setAside], [3, setAsideAll]);
      const { stdout } = await command(fixture.settings, 'chain', 'status');
      assert.match(
        stdout,
        /Set aside +3 batches; .*"holdfast chain retry BATCH".*\n.*\n +1 +5 +it reverted\n/,
      );
      assert.ok(!stdout.includes('\u001b'));
      const cases = [
        [[], /Name a batch, or give --all. Set aside: 1, 2, 3\./],
        [['1', '--all'], /not both/],
        [['4'], /There is no batch 4\./],
        [['1.5'], /number of a batch/],
      ] as const;
      const refused = async (args: readonly string[], message: RegExp) => {
        const { code, stderr } = await command(fixture.settings, 'chain', 'retry', ...args);
        assert.equal(code, 1);
        assert.match(stderr, message);
      };
      await Promise.all(cases.map(([args, message]) => refused(args, message)));

      assert.deepEqual(await json(fixture.settings, 'chain', 'retry', '2'), [setAsideAll[1]]);
      await refused(['2'], /Batch 2 is not set aside: it is batched\./);
      const told = await holdfast(fixture.settings, 'chain', 'retry', '--all');
      assert.match(told.stdout, /1 +5 +it reverted\n3 +5 +unknown\n\nThe leading node sends them/);
      await refused(['--all'], /No batch is set aside\./);
      const { rows } = await fixture.database.pool.query(
        'select status, to_resend, sends, reason from anchor_batches order by id',
      );
      assert.deepEqual(rows, Array(3).fill({ status: 'batched', to_resend: true, sends: 0, reason: null }));
    });

    await t.test('explains an invalid address or amount, and sends nothing', async () => {
      const cases = [
        ['0x00000000000000000000000000000000000a11cE', '1', /correct checksum/],
        [someone, '1e18', /whole number of wei/],
        [someone, String(10n ** 27n + 1n), /whole number of wei/],
      ] as const;
      const results = await Promise.all(
        cases.map(([to, amount]) => command(fixture.settings, 'chain', 'fund', to, amount)),
      );
      for (const [place, [, , message]] of cases.entries()) {
        assert.equal(results[place]?.code, 1);
        assert.match(results[place]?.stderr ?? '', message);
      }
      const { code, stderr } = await command(fixture.settings, 'chain', 'deploy');
      assert.equal(code, 1);
      assert.match(stderr, /deploys the registry on the embedded chain by itself/);
    });
  });

  onAnvil.test(
    'on another chain, deploy says what is missing and deploys the registry once, and fund refuses',
    async (t) => {
      const anvil = await startAnvil({ chainId: 4_242 });
      t.after(() => anvil.stop());
      const fixture = await openLeadFixture(t);
      const settings = { ...fixture.settings, HOLDFAST_CHAIN_RPC_URLS: anvil.url };
      const refused = async (message: RegExp, ...args: string[]) => {
        const { code, stderr } = await command(settings, ...args);
        assert.equal(code, 1);
        assert.match(stderr, message);
        assert.doesNotMatch(stderr, /\n\s+at /);
      };
      await refused(/only the embedded chain has a faucet/, 'chain', 'fund', someone, '1');
      await refused(new RegExp(`Chain 4242 lacks .* ${deployerAddress}`), 'chain', 'deploy');

      const { signer, fundingWei, rawTransaction } = deployerDeployment;
      const [account] = anvil.accounts;
      const pay = async (to: Address, value: bigint) =>
        anvil.mined(await anvil.client.sendTransaction({ account, to, value }));
      await pay(signer, fundingWei);
      await anvil.mined(await anvil.client.sendRawTransaction({ serializedTransaction: rawTransaction }));
      const { submitter, registryState, developmentEvidence, rpc, rpcUrl } = await json(
        settings,
        'chain',
        'status',
      );
      assert.deepEqual([registryState, developmentEvidence, rpcUrl], ['missing', true, null]);
      assert.equal(rpc[0].host, new URL(anvil.url).host);
      await refused(
        new RegExp(`${submitter} has 0 wei on chain 4242.* Send it at least \\d+ wei`),
        'chain',
        'deploy',
      );

      await pay(submitter, parseEther('1'));
      const deployed = await jsonOfProcess(settings, 'chain', 'deploy');
      assert.equal(deployed.registry, registryAddress);
      const { from } = await anvil.client.getTransaction({ hash: deployed.transactionHash });
      assert.equal(from, submitter.toLowerCase());
      assert.deepEqual(await json(settings, 'chain', 'deploy'), { ...deployed, transactionHash: null });

      settings.HOLDFAST_CHAIN_RPC_URLS = 'http://127.0.0.1:1/v3/secret';
      const { stderr } = await holdfast(settings, 'chain', 'status');
      assert.match(stderr, /^The chain cannot be used: .*127\.0\.0\.1:1/);
      assert.doesNotMatch(stderr, /secret/);
    },
  );
});

async function json(settings: Settings, ...args: string[]) {
  return parsed(await command(settings, ...args, '--json'));
}

async function jsonOfProcess(settings: Settings, ...args: string[]) {
  return parsed(await holdfast(settings, ...args, '--json'));
}

function parsed({ code, stdout, stderr }: CommandResult) {
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Batches whose transactions failed for these reasons. */
async function setAside({ database }: LeadFixture, reasons: (string | null)[]): Promise<void> {
  const account = Buffer.alloc(20, 0xac);
  await database.pool.query('insert into sender_accounts (address, next_nonce) values ($1, 9)', [account]);
  for (const [nonce, reason] of reasons.entries()) {
    await database.pool.query(
      `with sent as (
         insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit, status)
         values ($1, $2, 'anchor', $1, '', 1, 'failed') returning id
       )
       insert into anchor_batches (root, size, outgoing_id, status, sends, reason, evidence_root, head_path)
       select decode(repeat('ab', 32), 'hex'), 5, id, 'set_aside', 3, $3, sha256('e'), '' from sent`,
      [account, nonce, reason],
    );
  }
}

async function isJournalled({ database }: LeadFixture, blockHash: string): Promise<boolean> {
  const { rows } = await database.pool.query(
    "select 1 from embedded_chain_blocks where hash = decode($1, 'hex')",
    [blockHash.slice(2)],
  );
  return rows.length === 1;
}

async function ask(url: string, method: string, ...params: unknown[]) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
  return (await answer.json()) as any;
}
