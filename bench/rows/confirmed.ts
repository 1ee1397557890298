/**
 * `confirmed` and `confirmed-lone`: how long it takes from the answer that a record is accepted until it shows as
 * confirmed on the embedded chain, at a steady rate and for a record that comes alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AnchoringService,
  anchorIntervalMs,
  createRecords,
  startAnchoringService,
  waitForConfirmation,
} from '../anchoring.ts';
import type { Comparison, Figure, Row } from '../row.ts';
import { perOperation } from '../spent.ts';
import { type OfferedRecords, offerRecords, percentile } from '../steady-records.ts';
import { median, playInTurns, type Turn } from '../turns.ts';

const perSecond = 1_000;
const seconds = 20;
/** Between two commits. */
const turnSeconds = 8;
const warmUpSeconds = 4;
const p95ToReachMs = 2_000;
const loneRecords = 20;

export const confirmed: Row = {
  name: 'confirmed',
  what: `${perSecond.toLocaleString('en')} records/s offered for ${seconds} s, a batch a second: accepted to confirmed`,
  async measure(fixture) {
    const anchoring = await startAnchoringService(fixture);
    const stream = await fixture.stream();
    await offerRecords(anchoring, stream, { perSecond, seconds: warmUpSeconds });
    const result = await offerRecords(anchoring, stream, { perSecond, seconds });
    await anchoring.stop();

    const { p50Ms, p95Ms, p99Ms, kept, answers, cpu } = result;
    const cpuMicros = perOperation([{ cpu, operations: answers.succeeded }]);
    const line = (figure: string, ms: number) => ({
      figure,
      peer: null,
      holdfast: { value: ms / 1000, unit: 's' as const, p99Ms: null },
      ratio: null,
      toReach: null,
      reached: null,
    });
    const comparisons: Comparison[] = [
      {
        ...line('p95', p95Ms),
        // What the hosted service of this interface publishes; it cannot be run here.
        peer: '5 s published, at 10 req/s',
        toReach: `≤ ${p95ToReachMs / 1000} s`,
        reached: p95Ms <= p95ToReachMs,
      },
      { ...line('p50', p50Ms), peer: 'mean 3.5 s published' },
      line('p99', p99Ms),
      {
        figure: kept ? 'offered rate, kept' : 'offered rate, not kept',
        peer: null,
        holdfast: { value: answers.perSecond, unit: 'records/s', p99Ms: answers.p99Ms, cpuMicros },
        ratio: null,
        toReach: `${perSecond.toLocaleString('en')} records/s`,
        reached: kept,
      },
    ];
    return { comparisons, details: { perSecond, seconds, ...result } };
  },
  async against({ before, now }) {
    const stream = await now.stream();
    const sides = { peer: await startAnchoringService(before), holdfast: await startAnchoringService(now) };
    const offer = (anchoring: AnchoringService) => (turn: Turn) =>
      offerRecords(anchoring, stream, {
        perSecond,
        seconds: turn === 'warm-up' ? warmUpSeconds : turnSeconds,
      });
    const played = await playInTurns<'peer' | 'holdfast', OfferedRecords>(
      { peer: offer(sides.peer), holdfast: offer(sides.holdfast) },
      {
        rounds: now.turns.rounds,
        tell: ({ peer, holdfast }) => `p95 ${Math.round(peer.p95Ms)} ms, ${Math.round(holdfast.p95Ms)} ms`,
      },
    );
    await sides.peer.stop();
    await sides.holdfast.stop();
    const figure = (side: 'peer' | 'holdfast'): Figure => ({
      value: median(played.map((round) => round[side].p95Ms)) / 1000,
      unit: 's',
      p99Ms: median(played.map((round) => round[side].p99Ms)),
      cpuMicros: perOperation(
        played.map((round) => ({ cpu: round[side].cpu, operations: round[side].answers.succeeded })),
      ),
    });
    const kept = played.every(({ peer, holdfast }) => peer.kept && holdfast.kept);
    return {
      comparisons: [
        {
          figure: kept ? 'p95' : 'p95, offered rate not kept',
          peer: figure('peer'),
          holdfast: figure('holdfast'),
          ratio: median(played.map(({ peer, holdfast }) => holdfast.p95Ms / peer.p95Ms)),
          toReach: null,
          reached: null,
        },
      ],
      details: { perSecond, turnSeconds, rounds: played },
    };
  },
};

export const confirmedLone: Row = {
  name: 'confirmed-lone',
  what: `a record alone, ${loneRecords} times: accepted to confirmed`,
  async measure(fixture) {
    const anchoring = await startAnchoringService(fixture);
    const takenMs: number[] = [];
    for (let time = 0; time < loneRecords; time += 1) {
      // Or each would come just after the batch of the one before, and wait the longest.
      await sleep((time / loneRecords) * anchorIntervalMs);
      const [id] = await createRecords(anchoring, 1);
      const accepted = performance.now();
      await waitForConfirmation(anchoring, id ?? '');
      takenMs.push(performance.now() - accepted);
    }
    await anchoring.stop();
    const sorted = takenMs.toSorted((a, b) => a - b);
    return {
      comparisons: [
        {
          figure: 'p50',
          peer: null,
          holdfast: { value: percentile(sorted, 0.5) / 1000, unit: 's', p99Ms: null },
          ratio: null,
          toReach: null,
          reached: null,
        },
      ],
      details: { takenMs },
    };
  },
};
