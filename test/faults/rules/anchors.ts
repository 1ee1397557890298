/** Whatever was accepted is anchored, once, in the order of nonces, and its confirmation is told once. */
import { createPublicClient, http, type PublicClient, parseEventLogs } from 'viem';
import { registryAbi, registryAddress } from '../../../src/chain/registry/registry.ts';
import { expectNoneLeft } from '../expect.ts';
import type { Fixture } from '../fixture.ts';
import { saidBy } from '../nodes.ts';
import type { Rule } from '../rule.ts';
import { expectNone, Violation } from '../violation.ts';

export const nothingIsStuck: Rule = {
  name: 'everything accepted is confirmed and told of, whatever happened',
  when: 'restart',
  needsChain: true,
  async check(fixture) {
    const open = () =>
      fixture.store.query(`
      select 'leaf' as what, l.id, coalesce(b.status, 'pending') as status, b.reason from placed_leaves l
        left join anchor_batches b on b.id = l.batch_id where b.id is null or b.status not in ('confirmed', 'finalized')
      union all
      select 'announcement', id, announced || ' of ' || size, reason from anchor_batches where announced < size
      union all
      select 'transfer', l.id, t.subject_id || ' ' || t.id, null from transfers t
        join anchor_leaves l on l.workspace_id = t.workspace_id and l.subject_id = t.subject_id and l.kind = 'transfer'
          and l.version = t.number where t.completed_at is null
      union all
      select 'validation', null, file_id || ' ' || id, null from file_validations where result is null
      union all
      select 'transaction', id, status, reason from outgoing_transactions where status not in ('confirmed', 'finalized')
      limit 10`);
    await expectNoneLeft('not anchored', open, {
      facts: async () => fixture.nodes.answering().map((node) => saidBy(node).slice(-4_000)),
    });
  },
};

export const everythingIsAnchoredOnce: Rule = {
  name: 'the chain has every batch once, and every version of everything in one of them',
  when: 'end',
  needsChain: true,
  async check(fixture) {
    const { store } = fixture;
    const expected = expectedLeaves(fixture);
    const counted = await store.query<{ kind: string; leaves: number; placed: number }>(
      `select kind, count(*)::integer as leaves, count(distinct (batch_id, place))::integer as placed
       from placed_leaves group by kind`,
    );
    const found = new Map(counted.map((row) => [row.kind, row]));
    expectNone(
      'kinds of which there are not as many leaves as things',
      Object.entries(expected)
        .map(([kind, things]) => ({ kind, things, leaves: 0, placed: 0, ...found.get(kind) }))
        .filter(({ things, leaves, placed }) => leaves !== things || placed !== things),
    );

    const batches = await store.query<{ root: string; hash: string }>(
      `select '0x' || encode(root, 'hex') as root, '0x' || encode(transaction_hash, 'hex') as hash
       from anchor_batches order by id`,
    );
    const client = await connect(fixture);
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
    fixture.count('batches anchored', batches.length);
  },
};

export const noncesHaveNoGap: Rule = {
  name: 'nonces have no gap, each batch has one, and the chain has used them all',
  when: 'end',
  needsChain: true,
  async check(fixture) {
    const { store } = fixture;
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
    const used = await (await connect(fixture)).getTransactionCount({
      address: first.account as `0x${string}`,
    });
    const next = first.nonce + rows.length;
    if (account?.next !== next || used !== next)
      throw new Violation(`after ${next - 1} comes ${account?.next} here, and ${used} on the chain`);
    const again = await store.query<{ attempts: number }>(
      'select count(*)::integer - count(distinct transaction_id)::integer as attempts from outgoing_attempts',
    );
    fixture.count('signed again with the same nonce', again[0]?.attempts ?? 0);
  },
};

/** A client of the chain itself, past whatever breaks in between. */
export async function connect({ chain }: Fixture): Promise<PublicClient> {
  return createPublicClient({ transport: http(await chain.url(), { timeout: 60_000 }), cacheTime: 0 });
}

/** What was acknowledged, by the kind of its leaf. */
function expectedLeaves({ journal: { records, files, assets } }: Fixture): Record<string, number> {
  const sum = <T>(list: T[], count: (one: T) => number) => list.reduce((all, one) => all + count(one), 0);
  return {
    record: sum(records, ({ versions }) => versions.length),
    file: sum(files, ({ versions }) => versions.length),
    transfer: sum(files, ({ transfers }) => transfers.length),
    validation: sum(files, ({ validations }) => validations.length),
    asset: assets.length,
    maintenance: sum(assets, ({ entries }) => entries.length),
    signoff: sum(assets, ({ entries }) => entries.filter(({ signed }) => signed).length),
  };
}
