/** The transactions of a vault: pages, dates and cursors, also across reorgs. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type Hex, keccak256, stringToHex, toHex } from 'viem';
import { createRandom, type Random } from '../../../test/faults/random.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { seed } from '../../../test/support/service/seed.ts';
import type { Block } from '../../chain/indexer/blocks.ts';
import { insertBlocks, insertTransactions, undoBlocks } from '../../chain/indexer/indexer.store.ts';
import type { Database } from '../../db/database.ts';
import { AppError } from '../../runtime/errors.ts';
import { createTransactions, type Place, type TransactionPage, type Transactions } from './transactions.ts';

let database: Database;
let transactions: Transactions;
before(async () => {
  database = await openTestDatabase({ fresh: true });
  transactions = createTransactions(database.pool);
});
after(() => database.close());
beforeEach(clear);

/**
 * Chains share the tables of one database. Truncates instead of deleting: ten thousand dead rows slow down the next test.
 */
async function clear(): Promise<void> {
  await database.pool.query(
    'truncate vault_transactions, vault_transactions_undone, chain_reorgs, chain_blocks',
  );
}

/** A chain in the database with the given blocks; each test lists a vault of its own. */
function createChain(vaultId: string, { secondsPerBlock = 12, firstSeconds = 1_700_000_000 } = {}) {
  const workspaceId = 'ws_test';
  const from: Hex = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
  let branch = 0;
  /** Hashes of the vault's transactions, by block. */
  const blocks: Hex[][] = [];

  const timeOf = (number: number) => firstSeconds + number * secondsPerBlock;

  async function append(contents: Hex[][], fork = blocks.length - 1): Promise<void> {
    const undo = { forkNumber: fork, oldHead: blocks.length - 1 };
    branch += 1;
    const added = contents.map(
      (_, position): Block => ({
        number: fork + 1 + position,
        hash: keccak256(stringToHex(`${vaultId} ${branch} ${position}`)),
        parentHash: toHex(0, { size: 32 }),
        timeSeconds: timeOf(fork + 1 + position),
        transactions: [],
      }),
    );
    await database.db.transaction().execute(async (db) => {
      if (undo.forkNumber < undo.oldHead) await undoBlocks(db, undo);
      const rows = added.flatMap(({ number }, position) =>
        (contents[position] ?? []).map((hash, index) => ({
          workspaceId,
          vaultId,
          blockNumber: number,
          // Leaves gaps for transactions of others.
          index: 2 * index + 1,
          hash,
          from,
          to: from,
          valueWei: '1',
          timeSeconds: timeOf(number),
        })),
      );
      await insertBlocks(db, added, new Set(rows.map(({ blockNumber }) => blockNumber)));
      await insertTransactions(db, rows);
    });
    blocks.splice(fork + 1, blocks.length, ...contents);
  }

  return {
    blocks,
    append,
    timeOf,
    /** Newest first. */
    listed: () => blocks.flat().toReversed(),
    read: (after: Place | null, limit: number, dates: { initialDate?: string; finalDate?: string } = {}) =>
      transactions.list({ workspaceId, vaultId, after, limit, ...dates }),
  };
}

function hashOf(name: string | number): Hex {
  return keccak256(stringToHex(`transaction ${name}`));
}

type Kind = 'signed' | 'hash';

function placeAfter(page: TransactionPage, kind: Kind): Place | null {
  if (page.next === null) return null;
  if (kind === 'signed') return page.next;
  const last = page.transactions.at(-1);
  assert.ok(last, 'a page that is not the last has items');
  return { hash: last.hash };
}

test('pages of any size list all transactions, newest first, with either kind of cursor', async () => {
  const chain = createChain('vlt_pages');
  await chain.append([[], [hashOf(1)], [hashOf(2), hashOf(3), hashOf(4)], [], [hashOf(5)], [hashOf(6)], []]);
  for (const kind of ['signed', 'hash'] as const) {
    for (let limit = 1; limit <= 7; limit += 1) {
      const seen: Hex[] = [];
      let place: Place | null = null;
      do {
        const page = await chain.read(place, limit);
        assert.equal(page.indexedBlock, 6);
        assert.ok(page.transactions.length <= limit);
        seen.push(...page.transactions.map(({ hash }) => hash));
        place = placeAfter(page, kind);
      } while (place);
      assert.deepEqual(seen, chain.listed());
    }
  }
});

test('dates are UTC and both inclusive, to the second', async () => {
  // Six hours a block; 1_700_000_000 is 2023-11-14T22:13:20Z.
  const chain = createChain('vlt_days', { secondsPerBlock: 21_600 });
  await chain.append(Array.from({ length: 40 }, (_, number) => [hashOf(`day ${number}`)]));
  const dayOf = (number: number) => new Date(chain.timeOf(number) * 1000).toISOString().slice(0, 10);
  const days = [...new Set(Array.from({ length: 40 }, (_, number) => dayOf(number)))];
  for (const initialDate of [undefined, '2023-11-01', ...days, '2024-01-01']) {
    for (const finalDate of [undefined, '2023-11-01', ...days, '2024-01-01']) {
      const dates = { ...(initialDate && { initialDate }), ...(finalDate && { finalDate }) };
      if (initialDate && finalDate && initialDate > finalDate) {
        await assert.rejects(
          chain.read(null, 100, dates),
          (error) => error instanceof AppError && error.code === 'invalid_date_range',
        );
        continue;
      }
      const expected = Array.from({ length: 40 }, (_, number) => number)
        .filter((number) => dayOf(number) >= (initialDate ?? '') && dayOf(number) <= (finalDate ?? '9'))
        .map((number) => hashOf(`day ${number}`))
        .toReversed();
      const whole = await chain.read(null, 100, dates);
      assert.deepEqual(
        whole.transactions.map(({ hash }) => hash),
        expected,
      );
      const first = await chain.read(null, 1, dates);
      for (const kind of ['signed', 'hash'] as const) {
        const place = placeAfter(first, kind);
        const rest = place ? (await chain.read(place, 100, dates)).transactions : [];
        assert.deepEqual(
          rest.map(({ hash }) => hash),
          expected.slice(1),
        );
      }
    }
  }
});

test('pages that are asked for at once are those that are asked for one by one, in fewer statements', async () => {
  const chains = ['vlt_one', 'vlt_two'].map((vault) => createChain(vault, { secondsPerBlock: 21_600 }));
  const [one, two] = chains as [(typeof chains)[0], (typeof chains)[0]];
  await one.append(Array.from({ length: 20 }, (_, number) => [hashOf(`one ${number}`)]));
  const early = await one.read(null, 3);
  await two.append(
    Array.from({ length: 3 }, (_, number) => [hashOf(`two ${number}`)]),
    19,
  );
  const dates = [{}, { initialDate: '2023-11-16' }, { finalDate: '2023-11-17' }, { finalDate: '2023-11-01' }];
  const both = { initialDate: '2023-11-16', finalDate: '2023-11-17' };
  const late = await one.read(null, 3);
  const places = [null, ...[early, late].flatMap((page) => [page.next, placeAfter(page, 'hash')])];
  const asked = [...dates, both, { initialDate: '2031-01-01' }].flatMap((some) =>
    places.flatMap((place) => chains.map((chain) => () => chain.read(place, 4, some))),
  );
  const oneByOne = [];
  for (const ask of asked) oneByOne.push(await ask().catch(codeOf));
  assert.ok(oneByOne.includes('invalid_cursor'));
  const statements = countStatements();
  assert.deepEqual(await Promise.all(asked.map((ask) => ask().catch(codeOf))), oneByOne);
  // Those with a cursor of the other vault are looked for once more each.
  assert.ok(statements() < asked.length, `${statements()} statements for ${asked.length} pages`);
});

function codeOf(error: unknown): string {
  if (error instanceof AppError) return error.code;
  throw error;
}

function countStatements(): () => number {
  let count = 0;
  const pool = {
    query(statement: { text: string }) {
      count += 1;
      return database.pool.query(statement);
    },
  };
  transactions = createTransactions(pool as unknown as Database['pool']);
  return () => count;
}

test('the first and the last second of a day belong to it, and the next one does not', async () => {
  const firstSeconds = Date.parse('2023-11-14T23:59:50Z') / 1000;
  const chain = createChain('vlt_midnight', { secondsPerBlock: 1, firstSeconds });
  // Block 10 is 2023-11-15T00:00:00Z.
  await chain.append(Array.from({ length: 12 }, (_, number) => (number >= 8 ? [hashOf(number)] : [])));
  const on = async (initialDate: string, finalDate: string) =>
    (await chain.read(null, 10, { initialDate, finalDate })).transactions.map(({ hash }) => hash);
  assert.deepEqual(await on('2023-11-15', '2023-11-15'), [hashOf(11), hashOf(10)]);
  assert.deepEqual(await on('2023-11-14', '2023-11-14'), [hashOf(9), hashOf(8)]);
});

test('a page far down costs the same whether its last day is near or far', async () => {
  const chain = createChain('vlt_deep', { secondsPerBlock: 60 });
  // Seven days.
  await chain.append(Array.from({ length: 10_000 }, (_, number) => [hashOf(`deep ${number}`)]));
  // Otherwise autovacuum may do it at any time, so that the two plans are made with different statistics.
  await database.pool.query('vacuum analyze chain_blocks, vault_transactions');
  for (const kind of ['signed', 'hash'] as const) {
    const place: Place = {
      hash: hashOf('deep 200'),
      ...(kind === 'signed' && { stood: { blockNumber: 200, index: 1, reorgId: 0 } }),
    };
    const near = await blocksRead(place, '2023-11-15');
    const far = await blocksRead(place, '2023-11-21');
    assert.ok(far <= near + 5, `${kind}: ${far} blocks of the database instead of ${near}`);
  }

  async function blocksRead(after: Place, finalDate: string): Promise<number> {
    const pool = {
      async query({ text, values }: { text: string; values: unknown[] }) {
        const explain = `explain (analyze, buffers, format json) ${text}`;
        const { rows } = await database.pool.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>({
          text: explain,
          values,
        });
        const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
        read = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
        return { rows: [{ reorg_id: 0, indexed_block: null, moved: 0, lines: null }] };
      },
    };
    let read = 0;
    await createTransactions(pool as unknown as Database['pool']).list({
      workspaceId: 'ws_test',
      vaultId: 'vlt_deep',
      after,
      limit: 10,
      finalDate,
    });
    assert.ok(read > 0);
    return read;
  }
});

test('a hash of a transaction that the vault never had is not a cursor', async () => {
  const chain = createChain('vlt_unknown');
  await chain.append([[hashOf('known')]]);
  await assert.rejects(
    chain.read({ hash: hashOf('unknown') }, 10),
    (error) => error instanceof AppError && error.code === 'invalid_cursor',
  );
});

test('a cursor whose transaction was dropped continues from its position', async () => {
  const chain = createChain('vlt_dropped');
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(hashOf) as [Hex, Hex, Hex, Hex];
  await chain.append([[a], [b], [c], [d]]);
  const page = await chain.read(null, 2);
  assert.equal(page.next?.hash, c);
  await chain.append([[], [], []], 1);
  for (const kind of ['signed', 'hash'] as const) {
    const rest = await chain.read(placeAfter(page, kind), 10);
    assert.deepEqual(
      rest.transactions.map(({ hash }) => hash),
      [b, a],
    );
  }
});

test('shows transactions that a reorg moved past the cursor on the next page, and still ends', async () => {
  const chain = createChain('vlt_turned');
  const [x, y, h] = ['x', 'y', 'h'].map(hashOf) as [Hex, Hex, Hex];
  await chain.append([[], [y], [x], [h]]);
  const page = await chain.read(null, 1);
  await chain.append([[h], [x], [y]], 0);
  for (const kind of ['signed', 'hash'] as const) {
    const seen: Hex[] = [];
    let place = placeAfter(page, kind);
    for (let pages = 0; place !== null; pages += 1) {
      assert.ok(pages < 5, `${kind}: paging does not end`);
      const next = await chain.read(place, 1);
      seen.push(...next.transactions.map(({ hash }) => hash));
      place = placeAfter(next, kind);
    }
    assert.deepEqual(new Set([h, ...seen]), new Set([h, x, y]), kind);
  }
});

for (const kind of ['signed', 'hash'] as const) {
  test(`reorgs between pages make no reader miss a transaction: ${kind} cursors, at random`, async () => {
    const random = createRandom(seed);
    limbo = [];
    const chain = createChain(`vlt_random_${kind}`);
    await chain.append(Array.from({ length: 12 }, () => someNew(random)));
    for (let listing = 0; listing < listings; listing += 1) {
      const limit = random.between(1, 4);
      const owed = new Set(chain.listed());
      const seen = new Set<Hex>();
      let place: Place | null = null;
      let reorgs = 0;
      let count = 0;
      let most = 0;
      for (let pages = 0; ; pages += 1) {
        // Each page shows something, and only a reorg makes anything appear again.
        most = Math.max(most, chain.listed().length);
        assert.ok(pages <= (1 + reorgs) * most, `seed ${seed}: listing ${listing} does not end`);
        const page = await chain.read(place, limit);
        const present = new Set(chain.listed());
        for (const { hash } of page.transactions) {
          assert.ok(present.has(hash), `seed ${seed}: listing ${listing} shows what is in no block`);
          seen.add(hash);
          count += 1;
        }
        // A transaction that is in no block while a page is read counts as new when it returns.
        for (const hash of owed) if (!present.has(hash)) owed.delete(hash);
        place = placeAfter(page, kind);
        if (place === null) break;
        if (reorgs < 6 && random.chance(1 / 3)) {
          await reorganise(chain, random);
          reorgs += 1;
        } else if (random.chance(1 / 4)) await chain.append([someNew(random)]);
      }
      const missed = [...owed].filter((hash) => !seen.has(hash));
      assert.deepEqual(
        missed,
        [],
        `seed ${seed}: listing ${listing} with limit ${limit} and ${reorgs} reorgs`,
      );
      if (kind === 'signed' && reorgs === 0) assert.equal(count, seen.size, 'nothing twice without a reorg');
      // Keeps listings short.
      if (chain.listed().length > 40) {
        await clear();
        chain.blocks.length = 0;
        await chain.append(Array.from({ length: 12 }, () => someNew(random)));
      }
    }
  });
}

/** Removes some blocks; their transactions return in any order, later, or never. */
async function reorganise(chain: ReturnType<typeof createChain>, random: Random): Promise<void> {
  const depth = random.between(1, Math.min(8, chain.blocks.length - 1));
  const fork = chain.blocks.length - 1 - depth;
  const present = new Set(chain.blocks.slice(0, fork + 1).flat());
  const pool = [...chain.blocks.slice(fork + 1).flat(), ...limbo.filter((hash) => !present.has(hash))];
  const contents: Hex[][] = Array.from({ length: random.between(1, depth + 2) }, () =>
    random.chance(1 / 2) ? someNew(random) : [],
  );
  limbo = [];
  for (const hash of new Set(pool)) {
    if (random.chance(1 / 6)) limbo.push(hash);
    else {
      const block = random.pick(contents);
      block.splice(random.between(0, block.length), 0, hash);
    }
  }
  await chain.append(contents, fork);
}

/** Set LISTINGS for more. */
const listings = Number(process.env.LISTINGS ?? 20);
let limbo: Hex[] = [];
let made = 0;

function someNew(random: Random): Hex[] {
  return Array.from({ length: random.between(0, 2) }, () => {
    made += 1;
    return hashOf(`random ${made}`);
  });
}
