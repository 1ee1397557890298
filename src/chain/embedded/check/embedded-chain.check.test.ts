/** The check of the embedded chain on a chain in which all is right, and on the same with one thing broken at a time. */
// tier: process
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { type Hex, numberToHex } from 'viem';
import { alloc, owner, type TestDatabase } from '../../../../test/support/fixtures/embedded-chain-fixture.ts';
import { openTestDatabase } from '../../../../test/support/service/database.ts';
import { toBytea } from '../../../db/bytea.ts';
import type { Db } from '../../../db/database.ts';
import { type CheckReport, runEach } from '../../../runtime/check.ts';
import { createEngine } from '../engine/engine.ts';
import type { ParentBlock, StoredReceipt } from '../engine/protocol.ts';
import { newChain } from '../genesis.ts';
import { createJournal } from '../journal.ts';
import { decodeReceipt, encodeReceipt } from '../results/receipt-bytes.ts';
import { createResults, keptStates } from '../results/results.store.ts';
import { embeddedChainCheck } from './embedded-chain.check.ts';
import { statePass } from './state-pass.ts';

let database: TestDatabase;
let head: ParentBlock;

before(async () => {
  database = await openTestDatabase();
  head = await makeChain(database.db);
});
after(() => database.close());

/** Stores 1 in the slot that it is called with, and logs it. Its creation fills three slots. */
const runtime = '600160003555602a60206000a100';
const creation: Hex = `0x600160005560026001556003600255${`6d${runtime}`}600052600e6012f3`;
const contract = '0x5678901234567890123456789012345678901234';

async function makeChain(db: Db): Promise<ParentBlock> {
  const journal = createJournal(db, (work) => db.transaction().execute(work));
  const results = createResults(db);
  const withContract = { ...alloc, [contract]: { code: `0x${runtime}` as Hex } };
  const { chainId, genesis } = await journal.birth(() => newChain(withContract, new Date()));
  const engine = createEngine({ chainId, readNode: results.node, readBlockHash: results.blockHash });
  try {
    const first = await engine.ask('genesis', { genesis });
    await journal.begin({ ...first, transactions: [] }, 'test', first);
    let parent: ParentBlock = first;
    for (const transactions of await transactionsOf(chainId)) {
      const template = { parent, timestampSeconds: parent.timestampSeconds + 1, transactions, exact: true };
      const { block } = await engine.ask('build', template, { timeoutMs: 60_000 });
      const raws = block.transactions.map(({ raw }) => raw);
      assert.equal(await journal.append({ ...block, transactions: raws }, block), true);
      parent = block;
    }
    return parent;
  } finally {
    await engine.close();
  }
}

/** Transactions of every type by block; blocks without any are between them. */
async function transactionsOf(chainId: number): Promise<Hex[][]> {
  const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n };
  const slot = (value: number) => numberToHex(value, { size: 32 });
  const call = { to: contract, gas: 100_000n } as const;
  const delegation = await owner.signAuthorization({ chainId, address: contract, nonce: 8 });
  const sign = (request: object) =>
    owner.signTransaction(request as Parameters<typeof owner.signTransaction>[0]);
  const price = { gasPrice: 2_000_000_000n };
  return [
    [await sign({ type: 'eip1559', chainId, nonce: 0, data: creation, gas: 500_000n, ...fees })],
    [],
    [
      await sign({ type: 'eip1559', chainId, nonce: 1, ...call, data: slot(1), ...fees }),
      await sign({ type: 'eip1559', chainId, nonce: 2, ...call, data: slot(2), ...fees }),
      await sign({ type: 'legacy', chainId, nonce: 3, ...call, data: slot(0x30303), ...price }),
    ],
    // Without a chain id, and without enough gas for what it does.
    [await sign({ type: 'legacy', nonce: 4, ...call, gas: 30_000n, data: slot(4), ...price })],
    [await sign({ type: 'eip2930', chainId, nonce: 5, ...call, data: slot(5), ...price })],
    [],
    [
      await sign({
        type: 'eip1559',
        chainId,
        nonce: 6,
        to: numberToHex(7, { size: 20 }),
        gas: 50_000n,
        ...fees,
      }),
      await sign({ type: 'eip7702', chainId, nonce: 7, ...call, ...fees, authorizationList: [delegation] }),
    ],
    [],
  ];
}

const run = (db: Db) => runEach([embeddedChainCheck(db)], { settleMs: 0 });

const rulesOf = (reports: CheckReport[]) =>
  reports.flatMap(({ findings }) => findings.map(({ rule }) => rule)).sort();

/** Breaks something, looks, and takes it back. */
async function broken(break_: (db: Db) => Promise<unknown>): Promise<CheckReport[]> {
  const takeBack = new Error('taken back');
  let reports: CheckReport[] = [];
  await database.db
    .transaction()
    .execute(async (db) => {
      await break_(db);
      reports = await run(db);
      throw takeBack;
    })
    .catch((error) => {
      if (error !== takeBack) throw error;
    });
  return reports;
}

test('finds nothing in a correct chain, and looks at all of it', async () => {
  const [report] = await run(database.db);
  assert.deepEqual([report?.findings, report?.skipped], [[], []]);
  const counted = async (table: 'embedded_chain_blocks' | 'embedded_chain_transactions') =>
    Number((await database.db.selectFrom(table).select(sql`count(*)`.as('count')).executeTakeFirst())?.count);
  const rows = (await counted('embedded_chain_blocks')) + (await counted('embedded_chain_transactions'));
  // The state has at least the accounts and the storage of two contracts, and their code.
  assert.ok((report?.checked ?? 0) > rows + 10, `${report?.checked} rows`);
});

test('has nothing to check without an embedded chain', async (t) => {
  const other = await openTestDatabase();
  t.after(() => other.close());
  assert.deepEqual(await run(other.db), [
    { name: 'embedded-chain', checked: 0, found: 0, findings: [], skipped: [] },
  ]);
});

const flipped = (column: string, place = 0) =>
  sql.raw(`${column} = set_byte(${column}, ${place}, 255 - get_byte(${column}, ${place}))`);
const results = (change: RawBuilder<unknown>, number: number) =>
  sql`update embedded_chain_results set ${change} where number = ${number}`;
/** The state of the last block. */
const nodes = (condition: string) => sql.raw(`(select key from embedded_chain_nodes where ${condition})`);
const code = nodes('length(key) = 33 order by key limit 1');
const delegation = nodes('length(key) = 49');
const storage = nodes('length(key) = 48 order by since desc limit 1');
const root = sql`(select state_root from embedded_chain_results order by number desc limit 1)`;

const cases: [name: string, statement: RawBuilder<unknown>, rules: string[]][] = [
  ['a root of transactions', results(flipped('transactions_root'), 3), ['transactions_root']],
  ['a root of receipts', results(flipped('receipts_root'), 3), ['receipts_root']],
  ['a state root', results(flipped('state_root'), 3), ['block_hash']],
  ['the gas of a block', results(sql`gas_used = gas_used + 1`, 3), ['gas_used']],
  ['the gas of an empty block', results(sql`gas_used = 1`, 2), ['gas_used']],
  ['a base fee', results(sql`base_fee_wei = base_fee_wei + 1`, 4), ['base_fee']],
  ['a base fee that is none', results(sql`base_fee_wei = 0.5`, 4), ['base_fee']],
  ['bytes of a receipt', results(sql`receipts[2] = '\\x00'`, 3), ['receipt_undecodable']],
  ['more bytes of a receipt', results(sql`receipts[2] = receipts[2] || '\\x00'`, 3), ['receipt_undecodable']],
  [
    'receipts in another order',
    results(sql`receipts = array[receipts[3], receipts[2], receipts[1]]`, 3),
    ['receipts_root'],
  ],
  ['too few receipts', results(sql`receipts = receipts[1:2]`, 3), ['receipts_count']],
  ['a block without results', sql`delete from embedded_chain_results where number = 3`, ['result_missing']],
  [
    'the time of a block',
    sql`update embedded_chain_blocks set timestamp_seconds = 1 where number = 3`,
    ['block_hash'],
  ],
  [
    'a transaction of the journal',
    sql`update embedded_chain_blocks set transactions = array[transactions[2], transactions[1], transactions[3]] where number = 3`,
    ['transactions_root', 'transaction_unknown', 'transaction_unknown', 'transaction_misplaced'],
  ],
  [
    'an unlisted transaction',
    sql`delete from embedded_chain_transactions where number = 4`,
    ['transaction_unlisted'],
  ],
  [
    'a place after the real one',
    sql`update embedded_chain_transactions set index = 1 where number = 4`,
    ['transaction_misplaced', 'transaction_unknown'],
  ],
  [
    'a place before the real one',
    sql`update embedded_chain_transactions set number = 3 where number = 4`,
    ['transaction_unknown'],
  ],
  [
    'a block that is not there',
    sql`update embedded_chain_transactions set number = 99 where number = 4`,
    ['transaction_misplaced', 'transaction_unknown'],
  ],
  [
    'a transaction that no block has',
    sql`insert into embedded_chain_transactions (number, index, hash) values (3, 32767, ${Buffer.alloc(32, 1)})`,
    ['transaction_unknown'],
  ],
  ['a missing root', sql`delete from embedded_chain_nodes where key = ${root}`, ['node_missing']],
  [
    'a changed root',
    sql`update embedded_chain_nodes set ${flipped('value', 30)} where key = ${root}`,
    ['node_changed'],
  ],
  [
    'a missing node of a storage',
    sql`delete from embedded_chain_nodes where key = ${storage}`,
    ['node_missing'],
  ],
  [
    'a changed node of a storage',
    sql`update embedded_chain_nodes set ${flipped('value', 3)} where key = ${storage}`,
    ['node_changed'],
  ],
  ['missing code', sql`delete from embedded_chain_nodes where key = ${code}`, ['code_missing']],
  [
    'changed code',
    sql`update embedded_chain_nodes set ${flipped('value', 1)} where key = ${code}`,
    ['code_changed'],
  ],
  [
    'missing code of an account that delegates',
    sql`delete from embedded_chain_nodes where key = ${delegation}`,
    ['code_missing'],
  ],
  [
    'changed code of an account that delegates',
    sql`update embedded_chain_nodes set ${flipped('value', 9)} where key = ${delegation}`,
    ['code_changed'],
  ],
];

for (const [name, statement, rules] of cases) {
  test(`finds ${name}`, async () => {
    const reports = await broken(async (db) => {
      const { numAffectedRows } = await statement.execute(db);
      assert.ok(numAffectedRows === undefined || numAffectedRows > 0n, 'nothing was broken');
    });
    assert.deepEqual(
      reports.flatMap(({ skipped }) => skipped),
      [],
    );
    assert.deepEqual(rulesOf(reports), rules.toSorted());
  });
}

test('finds a changed sender and a missing log of a receipt', async () => {
  const { rows } = await database.pool.query<{ receipts: Buffer[] }>(
    'select receipts from embedded_chain_results where number = 3',
  );
  const receipts = (rows[0]?.receipts ?? []).map(decodeReceipt);
  const rulesWith = async (change: (receipt: StoredReceipt, place: number) => StoredReceipt) => {
    const changed = receipts.map(change).map(encodeReceipt);
    return rulesOf(await broken((db) => results(sql`receipts = ${changed}`, 3).execute(db)));
  };
  const other: Hex = `0x${'12'.repeat(20)}`;
  assert.deepEqual(await rulesWith((receipt) => receipt), []);
  assert.deepEqual(
    await rulesWith((receipt, place) => (place === 1 ? { ...receipt, from: other } : receipt)),
    ['receipt_sender'],
  );
  assert.ok(receipts.some(({ logs }) => logs.length > 0));
  assert.deepEqual(await rulesWith((receipt) => ({ ...receipt, logs: [] })), ['receipts_root']);
});

test('does not report blocks that the next start executes, but a gap before blocks with results', async () => {
  const without = (numbers: RawBuilder<unknown>) =>
    broken((db) => sql`delete from embedded_chain_results where ${numbers}`.execute(db));
  const atEnd = (await without(sql`number > 6`))[0]?.findings ?? [];
  assert.deepEqual(
    atEnd.filter(({ rule }) => rule === 'result_missing'),
    [],
  );
  const truncated = sql`truncate embedded_chain_results, embedded_chain_transactions, embedded_chain_nodes`;
  assert.deepEqual(rulesOf(await broken((db) => truncated.execute(db))), []);
  const [between] = (await without(sql`number in (3, 4)`))[0]?.findings ?? [];
  assert.deepEqual([between?.rule, between?.ids], ['result_missing', { block: 3, to: 4 }]);
  assert.match(between?.advice ?? '', /delete all rows of embedded_chain_results/);
});

test('accepts a transaction that an earlier block has too', async () => {
  const reports = await broken(async (db) => {
    await sql`
      insert into embedded_chain_blocks (number, hash, parent_hash, timestamp_seconds, transactions)
      select ${head.number + 1}, ${Buffer.alloc(32, 1)}, ${toBytea(head.hash)}, timestamp_seconds + 9, transactions
      from embedded_chain_blocks where number = 4`.execute(db);
    const from = owner.address.toLowerCase() as Hex;
    const receipt = encodeReceipt({ from, succeeded: true, gasUsed: 1, logs: [] });
    await sql`
      insert into embedded_chain_results
      select ${head.number + 1}, 1, base_fee_wei, state_root, transactions_root, receipts_root, ${[receipt]}
      from embedded_chain_results where number = ${head.number}`.execute(db);
  });
  assert.deepEqual(rulesOf(reports), ['base_fee', 'receipts_root', 'transactions_root']);
});

test('begins again when the state was deleted meanwhile, and gives up after three times', async () => {
  const deleted: Hex = `0x${'12'.repeat(32)}`;
  const passOn = (stateRootOf: (look: number) => Hex) => {
    let looks = 0;
    const readHead = async () => {
      looks += 1;
      return { number: looks * keptStates, stateRoot: stateRootOf(looks) };
    };
    return { name: 'state', passes: [statePass(database.db, { readHead, groupSize: 2 })] };
  };
  // Read at the beginning, then when the node is missing, and again for the new beginning.
  const [again] = await runEach([passOn((look) => (look < 3 ? deleted : head.stateRoot))], { settleMs: 0 });
  assert.deepEqual([again?.found, again?.skipped], [0, []]);
  assert.ok((again?.checked ?? 0) > 10);

  const [given] = await runEach([passOn(() => deleted)], { settleMs: 0 });
  assert.equal(given?.found, 0);
  assert.match(given?.skipped[0]?.reason ?? '', /was deleted while it was read/);
});
