/**
 * `webhook-deliveries`: a backlog for 20 endpoints is sent, durably and with every attempt logged, against a bare loop
 * that signs and posts the same, and against BullMQ. Each has the same receiver and the same number of connections to it.
 */
import { type Backlog, refuseGaps } from '../backlog.ts';
import type { BullQuestion } from '../bullmq-sender.process.ts';
import { startChild } from '../child.ts';
import { waitForRest } from '../cpu-time.ts';
import { holdfastDatabase } from '../postgres.ts';
import type { Receiver } from '../receiver.ts';
import type { Comparison, Figure, Row } from '../row.ts';
import { countStatements } from '../statements.ts';
import { median, playInTurns, type Turn } from '../turns.ts';
import {
  backlogType,
  commitBacklog,
  makeEvents,
  refuseUnlogged,
  removeTargets,
  saveTargets,
  workspaceOf,
} from '../webhooks.ts';

const targetCount = 20;
/** For each target, so that a turn takes some seconds. */
const events = { holdfast: 5_000, bare: 5_000, bullmq: 1_500 };
const warmUpEvents = 500;
const rounds = 3;
const longestTurnMs = 120_000;

const bareToReach = 0.7;
const bullmqToReach = 3;
const statementsToReach = 0.02;
const memoryToReachMb = 300;

interface Played {
  perSecond: number;
  seconds: number;
  deliveries: number;
  /** SQL statements for each delivery; null for those without SQL. */
  statements: number | null;
}

export const webhookDeliveries: Row = {
  name: 'webhook-deliveries',
  what: `a backlog for ${targetCount} endpoints, both signatures, every attempt logged`,
  async measure(fixture) {
    const receiver = await fixture.receiver();
    const service = await fixture.countedService();
    const postgres = await fixture.countedPostgres();
    const redis = await fixture.redis();
    const workspaceId = await workspaceOf(postgres);
    const paths = Array.from({ length: targetCount }, (_, number) => `/deliveries/${number}`);
    const targets = await saveTargets(service, { origin: receiver.url, paths, eventTypes: [backlogType] });
    const bare = await fixture.keep(async () =>
      startChild<{ origin: string; backlog: Backlog }, null>(
        new URL('../bare-sender.process.ts', import.meta.url),
      ),
    );
    const bullmq = await fixture.keep(async () =>
      startChild<BullQuestion, number>(new URL('../bullmq-sender.process.ts', import.meta.url)),
    );

    const backlogOf = (count: number, turn: Turn, at = new Date()): Backlog => ({
      targets: targets.map(({ path, secret }) => ({ path, secret })),
      events: makeEvents(workspaceId, { count: turn === 'warm-up' ? warmUpEvents : count, at }),
    });

    async function playBare(turn: Turn): Promise<Played> {
      const backlog = backlogOf(events.bare, turn);
      await receiver.expect(paths);
      await bare.ask({ origin: receiver.url, backlog }, longestTurnMs);
      return collect(receiver, backlog);
    }

    async function playBullmq(turn: Turn): Promise<Played> {
      if (!redis) throw new Error('there is no Redis');
      const backlog = backlogOf(events.bullmq, turn);
      await bullmq.ask({ ask: 'fill', socket: redis.socket, backlog }, longestTurnMs);
      await waitForRest();
      await receiver.expect(paths);
      await bullmq.ask({ ask: 'send', socket: redis.socket, origin: receiver.url }, longestTurnMs);
      return collect(receiver, backlog);
    }

    async function playHoldfast(turn: Turn): Promise<Played> {
      const at = new Date();
      const backlog = backlogOf(events.holdfast, turn, at);
      // Autovacuum would do it within a minute, in the middle of somebody's turn.
      await postgres.query(holdfastDatabase, 'vacuum analyze');
      await waitForRest();
      await receiver.expect(paths);
      const countSinceNow = await countStatements(postgres);
      await commitBacklog(postgres, { workspaceId, events: backlog.events, at });
      const played = await collect(receiver, backlog);
      await refuseUnlogged(postgres, { at, deliveries: sizeOf(backlog) });
      return { ...played, statements: (await countSinceNow()) / sizeOf(backlog) };
    }

    const nobody = async (): Promise<Played | null> => null;
    const played = await playInTurns<'bare' | 'bullmq' | 'holdfast', Played | null>(
      { bare: playBare, bullmq: redis ? playBullmq : nobody, holdfast: playHoldfast },
      {
        rounds,
        tell: ({ bare, bullmq, holdfast }) =>
          `bare loop ${rate(bare)}, BullMQ ${rate(bullmq)}, Holdfast ${rate(holdfast)} with ${holdfast?.statements?.toFixed(4)} statements each`,
      },
    );
    await removeTargets(service, targets);
    const memoryMb = await service.peakMemoryMb();

    const perSecond = (side: 'bare' | 'bullmq' | 'holdfast') =>
      played.map((round) => round[side]?.perSecond ?? Number.NaN);
    const figure = (side: 'bare' | 'bullmq' | 'holdfast'): Figure => ({
      value: median(perSecond(side)),
      unit: 'deliveries/s',
      p99Ms: null,
    });
    const against = (side: 'bare' | 'bullmq', toReach: number): Comparison => {
      const theirs = perSecond(side);
      const ratio = median(perSecond('holdfast').map((ours, round) => ours / (theirs[round] ?? Number.NaN)));
      return {
        figure: side === 'bare' ? 'against a bare loop' : 'against BullMQ on Redis',
        peer: figure(side),
        holdfast: figure('holdfast'),
        ratio,
        toReach: `≥ ${toReach.toFixed(1)}×`,
        reached: ratio >= toReach,
      };
    };
    const statements = median(played.map(({ holdfast }) => holdfast?.statements ?? Number.NaN));
    return {
      comparisons: [
        against('bare', bareToReach),
        redis
          ? against('bullmq', bullmqToReach)
          : { ...against('bare', bullmqToReach), figure: 'against BullMQ on Redis', ...withoutRedis },
        {
          figure: 'SQL per delivery',
          peer: null,
          holdfast: { value: statements, unit: 'statements', p99Ms: null },
          ratio: null,
          toReach: `≤ ${statementsToReach}`,
          reached: statements <= statementsToReach,
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
};

const withoutRedis = { peer: 'redis-server is not installed', ratio: null, reached: null };

function sizeOf({ targets, events }: Backlog): number {
  return targets.length * events.length;
}

async function collect(receiver: Receiver, backlog: Backlog): Promise<Played> {
  const arrived = await receiver.arrivals({ events: backlog.events.length, timeoutMs: longestTurnMs });
  refuseGaps(backlog, arrived);
  const deliveries = sizeOf(backlog);
  const { seconds } = arrived;
  return { perSecond: deliveries / seconds, seconds, deliveries, statements: null };
}

function rate(played: Played | null): string {
  return played ? `${Math.round(played.perSecond)}/s` : 'not measured';
}
