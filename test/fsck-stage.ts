/** A small database in which everything is right, anchored on a real chain, for checks to be tried on. */
import { randomBytes } from 'node:crypto';
import { encodeFunctionData, type Hex, type PublicClient } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { chainAuditEntries } from '../src/access/audit/audit.ts';
import { createWorkspace, operatorIn } from '../src/access/workspaces/workspaces.ts';
import { buildBatch } from '../src/anchoring/batching/batch.ts';
import { firstLeaf, pendingLeaf } from '../src/anchoring/batching/pending.ts';
import { readBlocks } from '../src/chain/indexer/blocks.ts';
import { insertBlocks, insertTransactions } from '../src/chain/indexer/indexer.store.ts';
import {
  deployerAddress,
  registryAbi,
  registryAddress,
  registryDeploymentData,
} from '../src/chain/registry/registry.ts';
import { type ChainRpc, createChainRpc } from '../src/chain/rpc/rpc.ts';
import { signTransaction } from '../src/chain/sender/signing.ts';
import { fromBytea, toBytea } from '../src/db/bytea.ts';
import type { Database, Db } from '../src/db/database.ts';
import { createGroupCommit, insertAll } from '../src/db/writes.ts';
import { eventWrite, orderEvents } from '../src/events/events.ts';
import type { Vault } from '../src/holdings/vaults/vaults.store.ts';
import { createVaults } from '../src/holdings/vaults/vaults.ts';
import type { Keyring } from '../src/keys/keyring.ts';
import { createWorkers } from '../src/maintenance/workers/workers.ts';
import { canonicalJson } from '../src/proof/canonical.ts';
import { recordDigest } from '../src/proof/content.ts';
import { plainKeccak } from '../src/proof/keccak.ts';
import { signSeal } from '../src/proof/seal.ts';
import { newId } from '../src/runtime/ids.ts';
import type { Anvil } from './anvil.ts';

export interface Stage {
  rpc: ChainRpc;
  client: PublicClient;
  workspaceId: string;
  vaults: [Vault, Vault];
  endpointId: string;
  /** One with two versions in the first vault, one in the second. */
  records: [string, string];
  batchIds: number[];
}

interface Made {
  id: number;
  vault: Vault;
  leaf: Buffer;
  record: string;
  version: number;
}

export async function buildStage(database: Database, keyring: Keyring, anvil: Anvil): Promise<Stage> {
  const { db, pool } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Checked' });
  const caller = operatorIn(workspaceId);
  const commit = createGroupCommit(pool);
  const eventBell = { ring() {} };
  const vaultsOf = createVaults({ db, pool, commit, keyring, eventBell });
  const endpointId = await makeEndpoint(db, workspaceId);
  const vaults: [Vault, Vault] = [
    await vaultsOf.create(caller, { name: 'One', description: '' }, () => []),
    await vaultsOf.create(caller, { name: 'Two', description: '' }, () => []),
  ];
  await createWorkers({ db, commit, keyring }).create(caller, { name: 'Wim', address: undefined }, () => []);

  const chain = await startChain(db, anvil);
  await send(db, anvil, { nonce: 0, purpose: 'deploy', to: deployerAddress, data: registryDeploymentData() });
  const [first, second] = [newId('rec'), newId('rec')];
  const one = await makeRecord(db, { workspaceId, vault: vaults[0], record: first, version: 1 }, firstLeaf);
  const other = await makeRecord(
    db,
    { workspaceId, vault: vaults[1], record: second, version: 1 },
    firstLeaf,
  );
  await vaultsOf.setStatus(caller, vaults[1].address, 'inactive');
  const next = await makeRecord(db, { workspaceId, vault: vaults[0], record: first, version: 2 }, one.leaf);
  const making = { db, keyring, anvil, workspaceId };
  const batchIds = [
    await makeBatch(making, { nonce: 1, sequence: 1, leaves: [one, other] }),
    await makeBatch(making, { nonce: 2, sequence: 2, leaves: [next] }),
  ];
  await indexAndConfirm(db, chain.client, anvil);
  await announce(db, workspaceId, [one, other, next]);

  await orderEvents(db);
  await chainAuditEntries(db);
  await deliver(db);
  return {
    rpc: chain,
    client: chain.client,
    workspaceId,
    vaults,
    endpointId,
    records: [first, second],
    batchIds,
  };
}

/** Made long ago, so that it is certain which events it has to get. */
async function makeEndpoint(db: Db, workspaceId: string): Promise<string> {
  const id = newId('whe');
  const at = new Date(Date.now() - 3 * 60 * 60 * 1000);
  await insertAll(db, [
    {
      table: 'webhook_endpoints',
      row: {
        workspace_id: workspaceId,
        id,
        url: 'https://receiver.example/',
        description: '',
        event_types: ['vault.deactivated', 'record.anchor.confirmed'],
        enabled: true,
        revision: 1,
        created_at: at,
        updated_at: at,
      },
    },
  ]);
  return id;
}

async function startChain(db: Db, { client, url, accounts }: Anvil): Promise<ChainRpc> {
  const genesis = await client.getBlock({ blockNumber: 0n });
  const chainId = await client.getChainId();
  const submitter = toBytea(accounts[0].address.toLowerCase() as Hex);
  await db
    .insertInto('chain')
    .values({
      chain_id: chainId,
      genesis_hash: toBytea(genesis.hash),
      embedded: false,
      registry: toBytea(registryAddress.toLowerCase() as Hex),
      submitter,
    })
    .execute();
  await db.insertInto('sender_accounts').values({ address: submitter, next_nonce: 3 }).execute();
  return createChainRpc({ urls: () => [url], chainId, genesisHash: genesis.hash });
}

/** Signs, stores and mines a transaction; where it was mined is stored when the blocks are. */
async function send(
  db: Db,
  anvil: Anvil,
  { nonce, purpose, to, data }: { nonce: number; purpose: string; to: Hex; data: Hex },
): Promise<number> {
  const account = anvil.accounts[0] as PrivateKeyAccount;
  const fees = { maxFeeWei: 10n ** 10n, priorityFeeWei: 1n, legacy: false };
  const { hash, raw } = await signTransaction(
    account,
    { to, data, gasLimit: 1_000_000 },
    { chainId: await anvil.client.getChainId(), nonce, fees },
  );
  const { id } = await db
    .insertInto('outgoing_transactions')
    .values({
      account: toBytea(account.address.toLowerCase() as Hex),
      nonce,
      purpose,
      to_address: toBytea(to.toLowerCase() as Hex),
      call_data: toBytea(data),
      gas_limit: 1_000_000,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('outgoing_attempts')
    .values({
      transaction_id: id,
      number: 1,
      hash: toBytea(hash),
      raw: toBytea(raw),
      max_fee_wei: '10000000000',
      priority_fee_wei: '1',
    })
    .execute();
  await anvil.client.sendRawTransaction({ serializedTransaction: raw });
  const { blockNumber, blockHash, transactionIndex, status } = await anvil.mined(hash);
  const { timestamp } = await anvil.client.getBlock({ blockNumber });
  await db
    .updateTable('outgoing_transactions')
    .set({
      status: 'confirmed',
      mined_hash: toBytea(hash),
      block_number: Number(blockNumber),
      block_hash: toBytea(blockHash),
      block_time: Number(timestamp),
      transaction_index: transactionIndex,
      succeeded: status === 'success',
    })
    .where('id', '=', id)
    .execute();
  return id;
}

async function makeRecord(
  db: Db,
  {
    workspaceId,
    vault,
    record,
    version,
  }: { workspaceId: string; vault: Vault; record: string; version: number },
  previousLeaf: Buffer,
): Promise<Made> {
  const salt = randomBytes(32);
  const data = { temperature: 21 + version, unit: '°C' };
  const digest = toBytea(recordDigest(salt, data));
  const { leaf, write } = pendingLeaf({
    workspaceId,
    kind: 'record',
    subjectId: record,
    version,
    vault,
    digest,
    previousLeaf,
    claims: { recordedAt: '2026-11-15T00:00:00Z' },
    storedBytes: Buffer.byteLength(canonicalJson(data, 'data')),
  });
  await db.updateTable('records').set({ current: false }).where('id', '=', record).execute();
  await insertAll(db, [
    {
      table: 'records',
      row: {
        workspace_id: workspaceId,
        id: record,
        version,
        vault_id: vault.id,
        data: canonicalJson(data, 'data'),
        salt,
        data_hash: digest,
        current: true,
        created_at: new Date(),
      },
    },
    write,
  ]);
  const { id } = await db
    .selectFrom('anchor_leaves')
    .select('id')
    .where('leaf', '=', leaf)
    .executeTakeFirstOrThrow();
  return { id, vault, leaf, record, version };
}

async function makeBatch(
  { db, keyring, anvil, workspaceId }: { db: Db; keyring: Keyring; anvil: Anvil; workspaceId: string },
  { nonce, sequence, leaves }: { nonce: number; sequence: number; leaves: Made[] },
): Promise<number> {
  // One leaf for each vault, so the place of a leaf is that of its vault.
  const tree = buildBatch(
    leaves.map(({ vault, leaf }) => ({ vault: vault.address.toLowerCase(), leaves: leaf })),
    plainKeccak,
  );
  const root: Hex = `0x${Buffer.from(tree.root).toString('hex')}`;
  const outgoingId = await send(db, anvil, {
    nonce,
    purpose: 'anchor',
    to: registryAddress,
    data: encodeFunctionData({ abi: registryAbi, functionName: 'anchor', args: [root, BigInt(tree.size)] }),
  });
  const { id: batchId } = await db
    .insertInto('anchor_batches')
    .values({ root: toBytea(root), size: tree.size, outgoing_id: outgoingId, announced: 0 })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const [place, { id, vault, leaf }] of leaves.entries()) {
    const signer = await keyring.signer({ workspaceId, id: vault.id, address: vault.address });
    const fields = {
      vault: vault.address.toLowerCase(),
      subtreeRoot: `0x${Buffer.from(tree.subtrees[place]?.root ?? []).toString('hex')}` as Hex,
      leaves: 1,
      sequence,
    };
    await db
      .insertInto('anchor_subtrees')
      .values({
        batch_id: batchId,
        workspace_id: workspaceId,
        vault_id: vault.id,
        root: toBytea(fields.subtreeRoot),
        leaves: leaf,
        first_place: place,
        sequence,
        signature: toBytea(await signSeal(fields, (typedData) => signer.signTypedData(typedData))),
        upper_path: Buffer.from(tree.path(place, 0).path),
      })
      .execute();
    await db.updateTable('anchor_leaves').set({ batch_id: batchId, place }).where('id', '=', id).execute();
  }
  return batchId;
}

async function indexAndConfirm(db: Db, client: PublicClient, { accounts }: Anvil): Promise<void> {
  const blocks = await readBlocks(client, { from: 0, to: Number(await client.getBlockNumber()) });
  const batches = await db
    .selectFrom('anchor_batches')
    .innerJoin('outgoing_transactions as t', 't.id', 'anchor_batches.outgoing_id')
    .select(['anchor_batches.id', 'size', 't.mined_hash', 't.block_number', 't.block_hash', 't.block_time'])
    .execute();
  const kept = new Set(batches.map(({ block_number }) => Number(block_number)));
  await insertBlocks(db, blocks ?? [], kept);
  for (const { id, size, mined_hash, block_number, block_hash, block_time } of batches) {
    await db
      .updateTable('anchor_batches')
      .set({
        status: 'confirmed',
        announced: size,
        transaction_hash: mined_hash,
        block_number,
        block_hash,
        block_time,
        confirmed_at: new Date(),
      })
      .where('id', '=', id)
      .execute();
    const subtrees = await db
      .selectFrom('anchor_subtrees')
      .select(['workspace_id', 'vault_id'])
      .where('batch_id', '=', id)
      .execute();
    const rows = subtrees.map(({ workspace_id, vault_id }) => ({
      workspaceId: workspace_id,
      vaultId: vault_id,
      blockNumber: Number(block_number),
      index: 0,
      hash: fromBytea(mined_hash as Buffer),
      from: accounts[0].address.toLowerCase() as Hex,
      to: registryAddress.toLowerCase() as Hex,
      valueWei: '0',
      timeSeconds: Number(block_time),
    }));
    await insertTransactions(db, rows);
  }
}

async function announce(db: Db, workspaceId: string, made: Made[]): Promise<void> {
  const at = new Date();
  await insertAll(
    db,
    made.map(({ record, version, vault }) =>
      eventWrite({
        workspaceId,
        type: 'record.anchor.confirmed',
        at,
        data: {
          record_id: record,
          vault_id: vault.id,
          version,
          tx_hash: '0x',
          block_number: 1,
          anchored_at: at.toISOString(),
        },
      }),
    ),
  );
}

async function deliver(db: Db): Promise<void> {
  const attempts = [{ number: 1, at: new Date().toISOString(), durationMs: 3, statusCode: 204, error: null }];
  await db
    .updateTable('webhook_deliveries')
    .set({
      status: 'succeeded',
      attempt_count: 1,
      attempts: JSON.stringify(attempts),
    })
    .execute();
  await db.deleteFrom('webhook_queue').execute();
}
