/** A run: cycles of load, fault and oracle, then everything is delivered and looked at as a whole. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { toAttempts } from '../../src/webhooks/deliveries/attempts.ts';
import { createAsking } from './asking.ts';
import type { ChainMode } from './chain.ts';
import { expectNoneLeft } from './expect.ts';
import type { Fault } from './fault.ts';
import { type Fixture, openFixture, type Topology } from './fixture.ts';
import { clusterRounds, rounds, rules } from './map.ts';
import { createRandom } from './random.ts';
import { outOfTime } from './receivers.ts';
import type { Rule } from './rule.ts';
import { Violation } from './violation.ts';

export interface RunOptions {
  cycles: number;
  /** No cycle begins after this; as many as asked for unless told otherwise. */
  minutes?: number;
  seed: string;
  /** A single node unless told otherwise. */
  topology?: Topology;
  /** The embedded one unless told otherwise. */
  chain?: ChainMode;
  /** How many make the load, 12 unless told otherwise. */
  actors?: number;
  /** How long each of them rests at most between two things that it does, 25 unless told otherwise. */
  longestPauseMs?: number;
  /** The faults of one round, shuffled by the seed again and again. */
  round?: Fault[];
  /** Ends the run early, and cleans up. */
  signal?: AbortSignal;
  /** The data directory stays when a rule is broken. */
  keep?: boolean;
  /** Told one line at a time how it goes. */
  tell(line: string): void;
}

export interface Summary {
  cycles: number;
  seed: string;
  seconds: number;
  requests: Fixture['journal']['requests'];
  /** Creations whose answer was lost, and that were asked for again with their key. */
  askedAgain: number;
  records: number;
  files: number;
  events: number;
  received: number;
  duplicates: number;
  tally: Record<string, number>;
}

/** Throws a Violation with seed, cycle and facts when a rule is broken. */
export async function runFaults({ cycles, seed, tell, ...rest }: RunOptions): Promise<Summary> {
  const { topology = 'single', chain = 'embedded', actors = 12, longestPauseMs = 25 } = rest;
  const { minutes = Number.POSITIVE_INFINITY } = rest;
  const { signal = new AbortController().signal, keep = false } = rest;
  const { round = topology === 'cluster' ? clusterRounds[chain] : rounds[chain] } = rest;
  const startedAt = performance.now();
  const random = createRandom(seed);
  const fixture = await openFixture(random, { mode: chain, topology, actors, longestPauseMs });
  tell(`ready after ${secondsSince(startedAt)} s`);
  const order = random.stream('order');
  let cycle = 0;
  let broken = false;

  async function work(): Promise<Summary> {
    const endsAt = performance.now() + minutes * 60_000;
    for (let deck: Fault[] = []; cycle < cycles && performance.now() < endsAt; ) {
      cycle += 1;
      if (deck.length === 0) deck = order.shuffle(round);
      const fault = deck.pop() as Fault;
      const cycleStartedAt = performance.now();
      await runCycle(fixture, fault, random.stream(`cycle ${cycle}`));
      const seconds = secondsSince(cycleStartedAt);
      tell(
        `cycle ${cycle}${cycles < 1e6 ? `/${cycles}` : ''}  ${fault.name}, ${seconds} s: ${await describe(fixture)}`,
      );
    }
    const endStartedAt = performance.now();
    await drain(fixture);
    await check(fixture, rules, ({ name }, seconds) => {
      if (seconds >= worthTelling) tell(`${name}: yes, ${seconds.toFixed(1)} s`);
    });
    tell(`all rules hold, checked in ${secondsSince(endStartedAt)} s`);
    return summarise(fixture, { cycles: cycle, seed, seconds: (performance.now() - startedAt) / 1000 });
  }

  try {
    if (signal.aborted) throw new Interrupted();
    const interrupted = once(signal, 'abort').then(() => Promise.reject(new Interrupted()));
    return await Promise.race([work(), interrupted]);
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    broken = true;
    const facts = error instanceof Violation ? error.facts : [(error as Error).stack];
    throw new Violation(
      `${(error as Error).message}\n  seed ${seed}, cycle ${cycle} of ${cycles}${keep ? `, data kept in ${fixture.home}` : ''}`,
      facts,
    );
  } finally {
    await fixture.close({ keep: keep && broken });
  }
}

function secondsSince(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1);
}

export class Interrupted extends Error {}

async function runCycle(
  fixture: Fixture,
  fault: Fault,
  random: ReturnType<typeof createRandom>,
): Promise<void> {
  fixture.receivers.misbehave(random);
  fixture.load.start();
  await sleep(random.between(300, 1_800));
  await fault.strike(fixture, random);
  fixture.receivers.setMood('well');
  // A moment of load on what the fault left behind.
  await sleep(random.between(0, 300));
  await fixture.load.settle();
  if (fixture.chain.mode === 'rpc') fixture.chain.rpc().proxy.calls.length = 0;
  await check(
    fixture,
    rules.filter(({ when }) => when === 'restart'),
  );
}

/** In seconds: a rule that takes this long is named when it has been checked. */
const worthTelling = 10;

async function check(
  fixture: Fixture,
  chosen: Rule[],
  onHeld: (rule: Rule, seconds: number) => void = () => {},
): Promise<void> {
  for (const rule of chosen) {
    if (rule.needsChain && fixture.chain.mode === 'none') continue;
    const startedAt = performance.now();
    try {
      await rule.check(fixture);
      onHeld(rule, (performance.now() - startedAt) / 1000);
    } catch (error) {
      if (error instanceof Violation) throw new Violation(`${rule.name}: ${error.message}`, error.facts);
      throw error;
    }
  }
}

/** For ever, as far as a run is concerned: a loaded machine has taken two minutes. */
const longestDrainMs = 600_000;
/** All is well by then: whatever is denied so often is denied for ever. */
const mostRounds = 5;

/** Waits until nothing is left to send. What failed six times while its receiver misbehaved is tried again by hand. */
async function drain(fixture: Fixture): Promise<void> {
  const { client, journal, count } = fixture;
  const { ask } = createAsking(client, journal);
  const deadline = performance.now() + longestDrainMs;
  for (let round = 1; ; round += 1) {
    await expectNoneLeft('deliveries are left', () => undelivered(fixture));
    const failed = await failedDeliveries(fixture);
    if (failed.length === 0) return;
    // One that was only out of time is tried until it is not: that says how busy the machine is, and nothing else.
    const denied = failed.some(({ errors }) => !outOfTime.test(errors.at(-1) ?? ''));
    if ((denied && round > mostRounds) || performance.now() > deadline) {
      throw new Violation(`deliveries fail after ${round - 1} trials by hand`, failed);
    }
    for (const { id } of failed)
      await ask({ method: 'POST', path: `/platform/webhooks/deliveries/${id}/retry` });
    count('deliveries failed for good and tried again by hand', failed.length);
  }
}

async function undelivered(fixture: Fixture): Promise<unknown[]> {
  const open = await fixture.store.query(
    'select delivery_id, claim_id, next_attempt_at from webhook_queue order by delivery_id',
  );
  return (await isQueued(fixture)) ? open : ['events without their deliveries', ...open];
}

/** None may have failed more often than its receiver did. */
async function failedDeliveries({ store, receivers }: Fixture): Promise<FailedDelivery[]> {
  const rows = await store.query<FailedRow>(
    "select id, event_id, endpoint_id, first_attempt, attempts from webhook_deliveries where status = 'failed'",
  );
  const failed = rows.map((row) => ({
    ...row,
    errors: toAttempts(row).flatMap(({ error }) => error ?? []),
  }));
  for (const { id, event_id, endpoint_id, errors } of failed) {
    const receiver = receivers.subscriptions.find(({ endpointId }) => endpointId === endpoint_id);
    const troubled = receiver?.arrivals.get(event_id)?.troubled ?? 0;
    const denied = errors.filter((error) => !outOfTime.test(error)).length;
    if (troubled < denied)
      throw new Violation('a delivery failed more often than its receiver did', [{ id, errors, troubled }]);
  }
  return failed;
}

interface FailedRow {
  id: string;
  event_id: string;
  endpoint_id: string;
  first_attempt: string | null;
  attempts: unknown;
}

interface FailedDelivery {
  id: string;
  /** Of its attempts, in their order. */
  errors: string[];
}

/** Whether every event has its deliveries: they are made a moment after it. */
async function isQueued({ store, receivers }: Fixture): Promise<boolean> {
  const rows = await store.query<{ endpoint_id: string; count: number }>(
    "select endpoint_id, count(*)::integer as count from webhook_deliveries where type <> 'webhook.test' group by 1",
  );
  const events = await store.query<{ type: string; count: number }>(
    'select type, count(*)::integer as count from events group by 1',
  );
  return receivers.subscriptions.every(({ endpointId, eventTypes }) => {
    const expected = events.filter(({ type }) => eventTypes.includes(type));
    const found = rows.find(({ endpoint_id }) => endpoint_id === endpointId)?.count ?? 0;
    return found >= expected.reduce((sum, { count }) => sum + count, 0);
  });
}

async function countEvents({ store }: Fixture): Promise<number> {
  const [row] = await store.query<{ count: number }>('select count(*)::integer as count from events');
  return row?.count ?? 0;
}

async function describe(fixture: Fixture): Promise<string> {
  const { acknowledged, refused, unknown, unavailable } = fixture.journal.requests;
  const { received, duplicates } = fixture.receivers.figures();
  return `requests: ${acknowledged} acknowledged, ${refused} refused, ${unknown} unknown, ${unavailable} × 503; ${fixture.journal.records.length} records, ${fixture.journal.files.length} files, ${await countEvents(fixture)} events, ${received} deliveries with ${duplicates} duplicates`;
}

async function summarise(
  fixture: Fixture,
  run: Pick<Summary, 'cycles' | 'seed' | 'seconds'>,
): Promise<Summary> {
  const { journal, receivers, tally } = fixture;
  return {
    ...run,
    requests: journal.requests,
    askedAgain: [...journal.things, ...journal.records, ...journal.files, ...journal.assets].filter(
      ({ lost }) => lost > 0,
    ).length,
    records: journal.records.length,
    files: journal.files.length,
    events: await countEvents(fixture),
    ...receivers.figures(),
    tally: Object.fromEntries(tally),
  };
}
