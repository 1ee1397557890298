/** What breaks in a cluster: nodes, PostgreSQL servers and the proxy, alone and together. Each is whole again afterwards. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expectSoon } from '../expect.ts';
import type { Fault } from '../fault.ts';
import type { Fixture } from '../fixture.ts';
import type { Random } from '../random.ts';

export const killNode: Fault = {
  name: 'kill -9 of a node',
  strike: (fixture, random) => killSome(fixture, random, 1),
};

export const killNodes: Fault = {
  name: 'kill -9 of several nodes, at times of all',
  strike: (fixture, random) => killSome(fixture, random, random.between(2, fixture.cluster().size)),
};

async function killSome(fixture: Fixture, random: Random, times: number): Promise<void> {
  const cluster = fixture.cluster();
  const places = pickPlaces(fixture, random, times);
  for (const place of places) {
    await cluster.killNode(place);
    fixture.count('nodes killed');
    await sleep(random.between(0, 500));
  }
  await sleep(random.between(0, 3_000));
  for (const place of places) await cluster.startNode(place);
}

function pickPlaces(fixture: Fixture, random: Random, times: number): number[] {
  return random.shuffle(Array.from({ length: fixture.cluster().size }, (_, place) => place)).slice(0, times);
}

export const rollNode: Fault = {
  name: 'a node restarted with SIGTERM',
  async strike(fixture, random) {
    const [place = 0] = pickPlaces(fixture, random, 1);
    await fixture.cluster().stopNode(place);
    fixture.count('nodes stopped with SIGTERM');
    await sleep(random.between(0, 1_000));
    await fixture.cluster().startNode(place);
  },
};

/** Longer than a lease of the lead and of deliveries: what it wants to do when woken comes too late. */
const frozenMs: [least: number, most: number] = [6_000, 20_000];

export const freezeNode: Fault = {
  name: 'a node stopped past its leases',
  async strike({ nodes, count, ...fixture }, random) {
    const node = random.pick(nodes.answering());
    nodes.freeze(node);
    count('nodes stopped past their leases');
    await sleep(random.between(...frozenMs));
    nodes.wake(node);
    await expectSoon('a node that was stopped is ready again', () => nodes.isReady(node));
    await fixture.cluster().patroni.expectWhole();
  },
};

export const killPrimary: Fault = {
  name: 'the machine of the primary dies',
  async strike(fixture, random) {
    const { patroni } = fixture.cluster();
    const old = await patroni.primary();
    const startedAt = performance.now();
    await old.kill();
    fixture.count('primaries killed');
    await expectAnother(fixture, old.name, startedAt);
    await sleep(random.between(0, 3_000));
    old.start();
    await patroni.expectWhole();
  },
};

async function expectAnother({ cluster, tally }: Fixture, old: string, startedAt: number): Promise<void> {
  const { patroni } = cluster();
  await patroni.primary(old);
  const slowest = 'slowest change of the primary, ms';
  tally.set(slowest, Math.max(Math.round(performance.now() - startedAt), tally.get(slowest) ?? 0));
}

export const killPrimaryServer: Fault = {
  name: 'kill -9 of the PostgreSQL of the primary',
  async strike(fixture) {
    const { patroni } = fixture.cluster();
    await (await patroni.primary()).killServer();
    fixture.count('PostgreSQL servers killed beside their Patroni');
    await patroni.expectWhole();
  },
};

export const killStandby: Fault = {
  name: 'the machine of the synchronous standby dies',
  async strike(fixture, random) {
    const { patroni } = fixture.cluster();
    const roles = await Promise.all(patroni.members.map((member) => member.role()));
    const standby = patroni.members[roles.indexOf('sync_standby')];
    if (!standby) return;
    await standby.kill();
    fixture.count('synchronous standbys killed');
    await sleep(random.between(0, 5_000));
    standby.start();
    await patroni.expectWhole();
  },
};

export const killProxy: Fault = {
  name: 'kill -9 of the proxy',
  async strike(fixture, random) {
    const { proxy } = fixture.cluster();
    await proxy.kill();
    fixture.count('proxies killed');
    await sleep(random.between(0, 2_000));
    await proxy.start();
  },
};

export const killAmidFailover: Fault = {
  name: 'a node and the proxy die while the primary changes',
  async strike(fixture, random) {
    const cluster = fixture.cluster();
    const { patroni, proxy } = cluster;
    const old = await patroni.primary();
    const startedAt = performance.now();
    await old.kill();
    fixture.count('primaries killed');
    await sleep(random.between(0, 4_000));
    const [place = 0] = pickPlaces(fixture, random, 1);
    await cluster.killNode(place);
    fixture.count('nodes killed');
    await proxy.kill();
    fixture.count('proxies killed');
    await proxy.start();
    await expectAnother(fixture, old.name, startedAt);
    await cluster.startNode(place);
    old.start();
    await patroni.expectWhole();
  },
};
