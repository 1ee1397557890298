/** Whatever was accepted is anchored, once, in the order of nonces, and its confirmation is told once. */
import { createPublicClient, http, type PublicClient, parseEventLogs } from 'viem';
import { registryAbi, registryAddress } from '../../../src/chain/registry.ts';
import { waitUntil } from '../../process.ts';
import { saidBy } from '../nodes.ts';
import type { Rule } from '../rule.ts';
import type { Stage } from '../stage.ts';
import { expectNone, Violation } from '../violation.ts';

/** A call that hangs, a fee that is raised, and what an operator would have to mend each take up to 30 s. */
const longestAnchoringMs = 120_000;

export const nothingIsStuck: Rule = {
  name: 'everything accepted is confirmed and told of, whatever happened',
  when: 'restart',
  needsChain: true,
  async check(stage) {
    const { store } = stage;
    const open = () =>
      store.query(`
      select 'leaf' as what, l.id, coalesce(b.status, 'pending') as status, b.reason from anchor_leaves l
        left join anchor_batches b on b.id = l.batch_id where b.id is null or b.status not in ('confirmed', 'finalized')
      union all
      select 'announcement', id, announced || ' of ' || size, reason from anchor_batches where announced < size
      union all
      select 'transaction', id, status, reason from outgoing_transactions where status not in ('confirmed', 'finalized')
      limit 10`);
    const done = waitUntil(async () => (await open()).length === 0, longestAnchoringMs);
    await done.catch(async () => {
      throw new Violation(`not anchored within ${longestAnchoringMs} ms`, [
        ...(await open()),
        saidBy(stage.nodes.first()).slice(-4_000),
      ]);
    });
  },
};

export const everythingIsAnchoredOnce: Rule = {
  name: 'the chain has every batch once, and every version of every record in one of them',
  when: 'end',
  needsChain: true,
  async check(stage) {
    const { store, journal } = stage;
    const versions = journal.records.reduce((sum, entry) => sum + entry.versions.length, 0);
    const [counted] = await store.query<{ leaves: number; placed: number }>(
      'select count(*)::integer as leaves, count(distinct (batch_id, place))::integer as placed from anchor_leaves',
    );
    if (counted?.leaves !== versions || counted.placed !== versions)
      throw new Violation(`${versions} versions of records have other leaves`, [counted]);

    const batches = await store.query<{ root: string; hash: string }>(
      `select '0x' || encode(root, 'hex') as root, '0x' || encode(transaction_hash, 'hex') as hash
       from anchor_batches order by id`,
    );
    const client = await connect(stage);
    const [first] = batches;
    const logs = first
      ? await client.getLogs({ address: registryAddress, fromBlock: 0n, toBlock: 'latest' })
      : [];
    const logged = parseEventLogs({ abi: registryAbi, eventName: 'Anchored', logs });
    const times = Map.groupBy(logged, ({ args }) => args.root as string);
    expectNone(
      'batches that the chain has not exactly once, in the transaction that is stored',
      batches.filter(({ root, hash }) => {
        const found = times.get(root) ?? [];
        return found.length !== 1 || found[0]?.transactionHash !== hash;
      }),
    );
    if (logged.length !== batches.length)
      throw new Violation(`the chain has ${logged.length} anchors, and there are ${batches.length} batches`);
    stage.count('batches anchored', batches.length);
  },
};

export const noncesHaveNoGap: Rule = {
  name: 'nonces have no gap, each batch has one, and the chain has used them all',
  when: 'end',
  needsChain: true,
  async check(stage) {
    const { store } = stage;
    const rows = await store.query<{ id: number; account: string; nonce: number; batches: number }>(
      `select t.id, '0x' || encode(t.account, 'hex') as account, t.nonce::integer as nonce,
         (select count(*)::integer from anchor_batches b where b.outgoing_id = t.id) as batches
       from outgoing_transactions t order by t.nonce`,
    );
    const [first] = rows;
    if (!first) throw new Violation('nothing was ever sent');
    expectNone(
      'nonces out of place, or not of one batch',
      rows.filter(({ nonce, batches }, place) => nonce !== first.nonce + place || batches !== 1),
    );
    const [account] = await store.query<{ next: number }>(
      'select next_nonce::integer as next from sender_accounts',
    );
    const used = await (await connect(stage)).getTransactionCount({
      address: first.account as `0x${string}`,
    });
    const next = first.nonce + rows.length;
    if (account?.next !== next || used !== next)
      throw new Violation(`after ${next - 1} comes ${account?.next} here, and ${used} on the chain`);
    const again = await store.query<{ attempts: number }>(
      'select count(*)::integer - count(distinct transaction_id)::integer as attempts from outgoing_attempts',
    );
    stage.count('signed again with the same nonce', again[0]?.attempts ?? 0);
  },
};

interface Told {
  type: string;
  subject: string | null;
  hash: string;
}

export const everyConfirmationIsToldOnce: Rule = {
  name: 'each version of a record is told to be confirmed once, and once more after each reorg that took it back',
  when: 'end',
  needsChain: true,
  async check({ store, journal, count }) {
    await waitUntil(
      async () => (await store.query('select 1 from events where position is null limit 1')).length === 0,
    );
    const rows = await store.query<Told>(
      `select type, (data ->> 'record_id') || ' ' || (data ->> 'version') as subject, data ->> 'tx_hash' as hash
       from (select type, position, envelope::json -> 'data' as data from events
             where type in ('record.anchor.confirmed', 'anchor.reorged')) told
       order by position`,
    );
    /** What each transaction is told to have anchored as things stand. */
    const standing = new Map<string, Set<string>>();
    const twice: Told[] = [];
    for (const row of rows) {
      const subjects = standing.get(row.hash) ?? new Set();
      standing.set(row.hash, subjects);
      if (row.subject === null) subjects.clear();
      else if (subjects.has(row.subject)) twice.push(row);
      else subjects.add(row.subject);
    }
    expectNone('told twice although nothing was taken back', twice);
    const told = new Map<string, number>();
    for (const subject of [...standing.values()].flatMap((subjects) => [...subjects]))
      told.set(subject, (told.get(subject) ?? 0) + 1);
    const expected = journal.records.flatMap(({ id, versions }) =>
      versions.map((_, place) => `${id} ${place + 1}`),
    );
    expectNone(
      'versions that are not told to be confirmed exactly once in the end',
      expected.filter((subject) => told.get(subject) !== 1),
    );
    if (told.size !== expected.length)
      throw new Violation(`${told.size} versions are told of, and there are ${expected.length}`);
    count('versions of records confirmed', expected.length);
    count('confirmations taken back, anchor.reorged', rows.filter(({ subject }) => subject === null).length);
  },
};

/** A client of the chain itself, past whatever breaks in between. */
export async function connect({ chain }: Stage): Promise<PublicClient> {
  return createPublicClient({ transport: http(await chain.url(), { timeout: 60_000 }), cacheTime: 0 });
}
