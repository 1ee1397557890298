/**
 * `webhook-deliveries`: a backlog for 20 endpoints is sent, durably and with every attempt logged, against a bare loop
 * that signs and posts the same, and against BullMQ. Each has the same receiver and the same number of connections to it.
 */
import { type Backlog, collectBacklog, sizeOf } from '../backlog.ts';
import type { BullQuestion } from '../bullmq-sender.process.ts';
import { startChild } from '../child.ts';
import { waitForRest } from '../cpu-time.ts';
import { longestSendingMs, openHoldfastSender, type Sending } from '../holdfast-sender.ts';
import type { Receiver } from '../receiver.ts';
import type { Comparison, Figure, Row } from '../row.ts';
import { type Processes, perOperation, watchProcesses } from '../spent.ts';
import { median, playInTurns, type Turn } from '../turns.ts';

const targetCount = 20;
/** For each target, so that a turn takes some seconds. */
const eventCount = Number(process.env.BENCH_EVENTS ?? 5_000);
/** The slowest gets fewer. */
const events = { holdfast: eventCount, bare: eventCount, bullmq: Math.ceil(eventCount * 0.3) };
const warmUpEvents = Math.ceil(eventCount / 10);

const bareToReach = 0.65;
const bullmqToReach = 2;
const statementsToReach = 0.02;
const memoryToReachMb = 300;

const paths = Array.from({ length: targetCount }, (_, number) => `/deliveries/${number}`);

export const webhookDeliveries: Row = {
  name: 'webhook-deliveries',
  what: `a backlog for ${targetCount} endpoints, both signatures, every attempt logged`,
  async measure(fixture) {
    const receiver = await fixture.receiver();
    const redis = await fixture.redis();
    const sender = await openHoldfastSender(fixture, paths);
    const bare = await fixture.keep(async () =>
      startChild<{ origin: string; backlog: Backlog }, null>(
        new URL('../bare-sender.process.ts', import.meta.url),
      ),
    );
    const bullmq = await fixture.keep(async () =>
      startChild<BullQuestion, number>(new URL('../bullmq-sender.process.ts', import.meta.url)),
    );

    async function playBare(turn: Turn): Promise<Sending> {
      const backlog = sender.newBacklog(eventsOf(turn, events.bare));
      return timed(receiver, { backlog, processes: { service: [bare.pid] } }, () =>
        bare.ask({ origin: receiver.url, backlog }, longestSendingMs),
      );
    }

    async function playBullmq(turn: Turn): Promise<Sending> {
      if (!redis) throw new Error('there is no Redis');
      const backlog = sender.newBacklog(eventsOf(turn, events.bullmq));
      await bullmq.ask({ ask: 'fill', socket: redis.socket, backlog }, longestSendingMs);
      await waitForRest();
      // Redis is in the place of PostgreSQL.
      const processes = { service: [bullmq.pid], postgres: [redis.pid] };
      return timed(receiver, { backlog, processes }, () =>
        bullmq.ask({ ask: 'send', socket: redis.socket, origin: receiver.url }, longestSendingMs),
      );
    }

    const nobody = async (): Promise<Sending | null> => null;
    const played = await playInTurns<'bare' | 'bullmq' | 'holdfast', Sending | null>(
      {
        bare: playBare,
        bullmq: redis ? playBullmq : nobody,
        holdfast: (turn) => sender.send(eventsOf(turn, events.holdfast)),
      },
      {
        rounds: fixture.turns.rounds,
        tell: ({ bare, bullmq, holdfast }) =>
          `bare loop ${rate(bare)}, BullMQ ${rate(bullmq)}, Holdfast ${rate(holdfast)} with ${holdfast?.statements?.toFixed(4)} statements each`,
      },
    );
    await sender.close();
    const memoryMb = await sender.peakMemoryMb();

    const ofSide = (side: 'bare' | 'bullmq' | 'holdfast') =>
      played.map((round) => round[side]).filter((one) => one !== null);
    const holdfast = ofSide('holdfast');
    const against = (side: 'bare' | 'bullmq', toReach: number): Comparison => {
      const comparison = compare(ofSide(side), holdfast);
      return {
        ...comparison,
        figure: side === 'bare' ? 'against a bare loop' : 'against BullMQ on Redis',
        toReach: `≥ ${toReach}×`,
        reached: (comparison.ratio ?? 0) >= toReach,
      };
    };
    const statements = statementsOf(holdfast);
    return {
      comparisons: [
        against('bare', bareToReach),
        redis
          ? against('bullmq', bullmqToReach)
          : { ...against('bare', bullmqToReach), figure: 'against BullMQ on Redis', ...withoutRedis },
        {
          ...statements,
          toReach: `≤ ${statementsToReach}`,
          reached: statements.holdfast.value <= statementsToReach,
        },
        {
          figure: 'memory at its peak',
          peer: null,
          holdfast: { value: memoryMb, unit: 'MB', p99Ms: null },
          ratio: null,
          toReach: `≤ ${memoryToReachMb} MB`,
          reached: memoryMb <= memoryToReachMb,
        },
      ],
      details: { targetCount, events, rounds: played },
    };
  },
  async against({ before, now }) {
    const earlier = await openHoldfastSender(before, paths);
    const later = await openHoldfastSender(now, paths);
    const played = await playInTurns<'peer' | 'holdfast', Sending>(
      {
        peer: (turn) => earlier.send(eventsOf(turn, events.holdfast)),
        holdfast: (turn) => later.send(eventsOf(turn, events.holdfast)),
      },
      { rounds: now.turns.rounds, tell: ({ peer, holdfast }) => `${rate(peer)}, ${rate(holdfast)}` },
    );
    await earlier.close();
    await later.close();
    const theirs = played.map(({ peer }) => peer);
    const ours = played.map(({ holdfast }) => holdfast);
    return {
      comparisons: [compare(theirs, ours), { ...statementsOf(ours), peer: statementsOf(theirs).holdfast }],
      details: { targetCount, events, rounds: played },
    };
  },
};

const withoutRedis = { peer: 'redis-server is not installed', ratio: null, reached: null };

function eventsOf(turn: Turn, measured: number): number {
  return turn === 'warm-up' ? warmUpEvents : measured;
}

async function timed(
  receiver: Receiver,
  { backlog, processes }: { backlog: Backlog; processes: Processes },
  send: () => Promise<unknown>,
): Promise<Sending> {
  await receiver.expect(paths);
  const spent = await watchProcesses({ ...processes, client: [receiver.pid] });
  await send();
  const { seconds } = await collectBacklog(receiver, backlog, longestSendingMs);
  const { cpu } = await spent.untilRest();
  const operations = sizeOf(backlog);
  return { perSecond: operations / seconds, seconds, operations, statements: null, cpu };
}

function compare(theirs: Sending[], ours: Sending[]): Comparison {
  const figure = (turns: Sending[]): Figure => ({
    value: median(turns.map(({ perSecond }) => perSecond)),
    unit: 'deliveries/s',
    p99Ms: null,
    cpuMicros: perOperation(turns),
  });
  return {
    figure: 'throughput',
    peer: figure(theirs),
    holdfast: figure(ours),
    ratio: median(ours.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? Number.NaN))),
    toReach: null,
    reached: null,
  };
}

function statementsOf(turns: Sending[]): Comparison {
  const value = median(turns.map(({ statements }) => statements ?? Number.NaN));
  return {
    figure: 'SQL per delivery',
    peer: null,
    holdfast: { value, unit: 'statements', p99Ms: null },
    ratio: null,
    toReach: null,
    reached: null,
  };
}

function rate(played: Sending | null): string {
  return played ? `${Math.round(played.perSecond)}/s` : 'not measured';
}
