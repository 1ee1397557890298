/**
 * Two nodes, and the one that leads on the chain is killed or stopped: the other leads within 5 s and goes on. What a
 * stopped one still wants to write when it is woken comes too late. Then the second goes, and the first leads again.
 */
import { countWrites } from '../commits.ts';
import { expectSoon } from '../expect.ts';
import type { Fault } from '../fault.ts';
import type { Fixture } from '../fixture.ts';
import { type Node, saidBy } from '../nodes.ts';
import { Violation } from '../violation.ts';

/** With a core to spare. Where others want the machine too everything takes longer, and so does each look at the database. */
const longestWithoutLeaderMs = 5_000;
/** As often as one can look in that time, every 20 ms. */
const mostLooksWithoutLeader = 250;

export const changeLeader: Fault = {
  name: 'the leader killed or stopped beside a second node',
  async strike(fixture, random) {
    const { nodes, count } = fixture;
    const first = nodes.first();
    const beforeSecond = await databaseTime(fixture);
    const second = await nodes.startSecond();
    await expectSoon('two nodes want to lead', async () => (await candidates(fixture)) === 2);

    const stopped = random.chance(0.5);
    const told = lost(first);
    const pids = await backends(fixture, beforeSecond);
    if (stopped) await freezeAtWork(fixture, first);
    await another(fixture, () => (stopped ? Promise.resolve() : nodes.kill(first)));
    const since = await databaseTime(fixture);
    count(stopped ? 'leader stopped' : 'leader killed');
    const { epoch } = await leader(fixture);
    if (stopped) {
      // At once: what it waited for when it was stopped is still of use to it.
      nodes.wake(first);
      await expectSoon('the woken node says that it does not lead', () => lost(first) > told);
    }
    const confirmed = await newestConfirmed(fixture);
    await expectSoon('the second node anchors', async () => (await newestConfirmed(fixture)) > confirmed);
    if (stopped) {
      const written = await countWrites(fixture.store, { pids, since });
      if (written > 0) throw new Violation(`the woken node wrote ${written} times although another leads`);
      if ((await leader(fixture)).epoch !== epoch) throw new Violation('the woken node took the lead back');
      count('woken leaders whose late work was refused');
    } else {
      await nodes.startFirst();
      count('service killed');
    }
    await expectSoon('two nodes want to lead', async () => (await candidates(fixture)) === 2);
    if (random.chance(0.5)) await another(fixture, () => nodes.kill(second));
    // SIGTERM takes the time it takes.
    else await another(fixture, () => nodes.stop(second), 'from end');
  },
};

/** Runs what ends the leader, and holds the time until another one leads against the promise. */
async function another(
  fixture: Fixture,
  end: () => Promise<void>,
  counted: 'from start' | 'from end' = 'from start',
) {
  const { epoch } = await leader(fixture);
  const startedAt = performance.now();
  await end();
  const countedFrom = counted === 'from start' ? startedAt : performance.now();
  let looks = 0;
  await expectSoon('another node leads', async () => {
    looks += 1;
    return (await leader(fixture)).epoch > epoch;
  });
  const tookMs = Math.round(performance.now() - countedFrom);
  if (tookMs > longestWithoutLeaderMs && looks > mostLooksWithoutLeader)
    throw new Violation(`another node led after ${tookMs} ms only`, [await leader(fixture)]);
  fixture.count('changes of the leader');
  const slowest = 'slowest change of the leader, ms';
  fixture.tally.set(slowest, Math.max(tookMs, fixture.tally.get(slowest) ?? 0));
}

/** With an answer of the chain on its way to it, where the chain is one of the test's: there is something to write late. */
async function freezeAtWork({ chain, nodes }: Fixture, node: Node): Promise<void> {
  if (chain.mode !== 'rpc') return nodes.freeze(node);
  const { proxy } = chain.rpc();
  await proxy.intercept('eth_sendRawTransaction', 'after', async () => {
    nodes.freeze(node);
    return 'let through';
  });
}

/** Connections that are older than this. */
async function backends({ store }: Fixture, before: string): Promise<number[]> {
  const rows = await store.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and backend_start < $1::timestamptz
       and application_name <> 'holdfast chain'`,
    [before],
  );
  return rows.map(({ pid }) => pid);
}

async function databaseTime({ store }: Fixture): Promise<string> {
  const [row] = await store.query<{ at: string }>('select clock_timestamp()::text as at');
  return row?.at ?? '';
}

async function leader({ store }: Fixture): Promise<{ epoch: number }> {
  const [row] = await store.query<{ epoch: number }>(
    "select epoch::integer as epoch from leaders where work = 'chain'",
  );
  return { epoch: row?.epoch ?? 0 };
}

async function candidates({ store }: Fixture): Promise<number> {
  const [row] = await store.query<{ count: number }>(
    "select count(*)::integer as count from pg_stat_activity where application_name = 'holdfast chain'",
  );
  return row?.count ?? 0;
}

async function newestConfirmed({ store }: Fixture): Promise<number> {
  const [row] = await store.query<{ id: number }>(
    "select coalesce(max(id), 0)::integer as id from anchor_batches where status in ('confirmed', 'finalized')",
  );
  return row?.id ?? 0;
}

function lost(node: Node): number {
  return saidBy(node)
    .split('\n')
    .filter((line) => /another node leads now|no longer leads/.test(line)).length;
}
