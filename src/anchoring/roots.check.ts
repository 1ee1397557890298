/** Compares confirmed batches with the chain: the registry has each root, logged once, in the stored transaction. */
import { sql } from 'kysely';
import { type Hex, type PublicClient, parseEventLogs } from 'viem';
import { registryAbi } from '../chain/registry/registry.ts';
import { fromBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import { rowsPass } from '../db/rows-pass.ts';
import { writtenNumbers } from '../db/written-since.ts';
import type { Finding, Pass } from '../runtime/check.ts';

export interface RootsPassDeps {
  db: Db;
  /** Throws NotMade when the chain cannot be reached. */
  chain(): Promise<PublicClient>;
}

interface Row {
  id: number;
  root: Buffer;
  size: number;
  transaction_hash: Buffer;
  block_number: number;
  block_hash: Buffer;
  block_time: number;
  /** Sender and recipient of the transaction. */
  account: Buffer;
  to_address: Buffer;
}

interface Logged {
  registry: Hex;
  submitter: Hex;
  root: Hex;
  size: number;
  transactionHash: Hex;
  blockHash: Hex;
}

/** Blocks per request for logs: no provider we know of allows fewer. */
const logWindow = 500;
/** Concurrent calls. */
const inFlight = 8;

export function rootsPass({ db, chain }: RootsPassDeps): Pass {
  return rowsPass<Row>({
    db,
    what: 'confirmed batches against the chain',
    table: 'anchor_batches',
    written: [writtenNumbers(db, { table: 'anchor_batches' })],
    key: [{ column: 'b.id', member: 'id' }],
    pageRows: 200,
    read: ({ where, end }) => sql<Row>`
      select b.id, b.root, b.size, b.transaction_hash, b.block_number, b.block_hash, b.block_time, t.account, t.to_address
      from anchor_batches b join outgoing_transactions t on t.id = b.outgoing_id
      where b.status in ('confirmed', 'finalized') and ${where} ${end}`,
    async judge(rows) {
      const client = await chain();
      const logs = await readLogs(client, rows);
      const findings: Finding[] = [];
      for (let at = 0; at < rows.length; at += inFlight) {
        const judged = rows.slice(at, at + inFlight).map((row) => judge(client, row, logs));
        findings.push(...(await Promise.all(judged)).flat());
      }
      return findings;
    },
  });
}

async function judge(client: PublicClient, row: Row, logs: Logged[]): Promise<Finding[]> {
  const { id: batch, root, account, to_address } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { batch, root: fromBytea(root), transaction: fromBytea(row.transaction_hash) },
      message: `The root of batch ${batch} ${what}.`,
      advice:
        'Proofs of this batch fail. Check whether the service follows the chain (`holdfast chain status`); if it does, compare the rows with a backup.',
    });

  const [time, size] = await client.readContract({
    abi: registryAbi,
    address: fromBytea(to_address),
    functionName: 'anchors',
    args: [fromBytea(account), fromBytea(root)],
  });
  if (time === 0n) find('not_anchored', 'is not in the registry');
  else if (Number(time) !== row.block_time || Number(size) !== row.size) {
    find(
      'anchored_otherwise',
      `is in the registry with time ${time} and size ${size}, not ${row.block_time} and ${row.size}`,
    );
  }

  const mine = logs.filter(
    (log) =>
      log.root === fromBytea(root) &&
      log.submitter === fromBytea(account) &&
      log.registry === fromBytea(to_address),
  );
  const [only] = mine;
  if (mine.length > 1 || !only) find('anchored_times', `was logged ${mine.length} times around its block`);
  else if (
    only.transactionHash !== fromBytea(row.transaction_hash) ||
    only.blockHash !== fromBytea(row.block_hash) ||
    only.size !== row.size
  ) {
    find(
      'anchored_elsewhere',
      `was logged in transaction ${only.transactionHash}, block ${only.blockHash}, not in the stored ones`,
    );
  }
  return findings;
}

/** Logs of the blocks of these batches, and of the blocks between batches that are close together. */
async function readLogs(client: PublicClient, rows: Row[]): Promise<Logged[]> {
  const numbers = [...new Set(rows.map((row) => row.block_number))].sort((one, other) => one - other);
  const registries = [...new Set(rows.map((row) => fromBytea(row.to_address)))];
  const found: Logged[] = [];
  for (let at = 0; at < numbers.length; ) {
    const from = numbers[at] ?? 0;
    while (at < numbers.length && (numbers[at] ?? 0) < from + logWindow) at += 1;
    const to = numbers[at - 1] ?? from;
    const logs = await client.getLogs({
      address: registries,
      event: registryAbi[0],
      fromBlock: BigInt(from),
      toBlock: BigInt(to),
    });
    found.push(...parseEventLogs({ abi: registryAbi, eventName: 'Anchored', logs }).map(toLogged));
  }
  return found;
}

interface AnchoredLog {
  address: Hex;
  args: { submitter: Hex; root: Hex; size: bigint };
  transactionHash: Hex;
  blockHash: Hex;
}

function toLogged({ address, args, transactionHash, blockHash }: AnchoredLog): Logged {
  return {
    registry: address.toLowerCase() as Hex,
    submitter: args.submitter.toLowerCase() as Hex,
    root: args.root,
    size: Number(args.size),
    transactionHash,
    blockHash,
  };
}
