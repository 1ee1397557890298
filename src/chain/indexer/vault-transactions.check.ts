/** Compares the transaction lists of vaults with the chain's own data on their addresses. */
import { sql } from 'kysely';
import type { Hex, PublicClient } from 'viem';
import { hexToBigInt, numberToHex } from 'viem/utils';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { type Check, type Finding, NotMade } from '../../runtime/check.ts';
import { readHash } from './blocks.ts';
import { newestBlock } from './indexer.store.ts';

export interface VaultTransactionsCheckDeps {
  db: Db;
  client: PublicClient;
  /** The embedded chain allows a stricter check: see below. */
  embedded: boolean;
}

interface Row {
  workspace_id: string;
  id: string;
  address: string;
  sent: number;
  received_wei: string;
}

/** Each vault takes two requests to the node. */
const vaultsAtOnce = 100;
const inFlight = 8;

/**
 * As of the newest indexed block:
 * - each vault's address has sent exactly as many transactions as its list contains;
 * - an address that never sent anything has at least the amount that its list says it received. Contracts can pay it
 *   too, which no transaction list shows, so a higher balance is a finding only on the embedded chain.
 * The balance of an address that has sent something is not checked, because the gas that it paid is not stored.
 */
export function vaultTransactionsCheck({ db, client, embedded }: VaultTransactionsCheckDeps): Check {
  return {
    name: 'vault-transactions',
    passes: [
      rowsPass<Row>({
        db,
        what: 'vaults',
        table: 'vaults',
        key: [
          { column: 'v.workspace_id', member: 'workspace_id' },
          { column: 'v.id', member: 'id' },
        ],
        pageRows: vaultsAtOnce,
        read: ({ where, end }) => sql<Row>`
          select v.workspace_id, v.id, v.address, coalesce(t.sent, 0) as sent,
                 coalesce(t.received_wei, 0)::text as received_wei
          from vaults v cross join lateral (
            select count(*) filter (where from_address = v.address) as sent,
                   sum(value_wei) filter (where to_address = v.address) as received_wei
            from vault_transactions
            where workspace_id = v.workspace_id and vault_id = v.id
          ) as t
          where ${where} ${end}`,
        async judge(rows) {
          // Rows and block are read one after the other; the check runner looks a second time at what changed in between.
          const head = await newestBlock(db);
          if (head === null) throw new NotMade('no block is indexed yet');
          if ((await readHash(client, head.number)) !== head.hash) {
            throw new NotMade(`the node is not on the branch of the indexed block ${head.number}`);
          }
          const judged = await inGroups(rows, (row) => judge(row, head.number));
          return judged.flat();
        },
      }),
    ],
  };

  async function judge(row: Row, blockNumber: number): Promise<Finding[]> {
    const block = numberToHex(blockNumber);
    const address = row.address as Hex;
    const [nonce, balance] = await Promise.all([
      client.request({ method: 'eth_getTransactionCount', params: [address, block] }),
      client.request({ method: 'eth_getBalance', params: [address, block] }),
    ]);
    const sent = Number(hexToBigInt(nonce));
    const held = hexToBigInt(balance);
    const received = BigInt(row.received_wei);
    const finding = (rule: string, message: string): Finding => ({
      rule,
      ids: { vaultId: row.id, address },
      message,
      advice: 'Some blocks were not indexed, or a node left something out while they were. Index them again.',
    });
    const findings: Finding[] = [];
    if (sent !== row.sent) {
      findings.push(
        finding('every-sent-transaction', `${address} has sent ${sent}, and ${row.sent} are listed.`),
      );
    }
    const wrong = embedded ? held !== received : held < received;
    if (sent === 0 && row.sent === 0 && wrong) {
      findings.push(
        finding('every-received-amount', `${address} has ${held} wei, and ${received} are listed.`),
      );
    }
    return findings;
  }
}

async function inGroups<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let first = 0; first < items.length; first += inFlight) {
    results.push(...(await Promise.all(items.slice(first, first + inFlight).map(work))));
  }
  return results;
}
