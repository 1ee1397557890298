/**
 * `confirmed` and `confirmed-lone`: how long it takes from the answer that a record is accepted until it shows as
 * confirmed on the embedded chain, at a steady rate and for a record that comes alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AnchoringService,
  anchorIntervalMs,
  createRecords,
  findNode,
  reading,
  recordsPath,
  startAnchoringService,
  waitForConfirmation,
} from '../anchoring.ts';
import { watchConfirmations } from '../confirmations.ts';
import { waitForRest } from '../cpu-time.ts';
import type { Comparison, Row } from '../row.ts';
import { keyHeaders } from '../service.ts';
import type { StreamSource } from '../stream.ts';

const perSecond = 1_000;
const seconds = 20;
const warmUpSeconds = 4;
const inFlight = 64;
/** Of the offered rate, measured to the last answer. */
const keptShare = 0.98;
const p95ToReachMs = 2_000;
const loneRecords = 20;

export const confirmed: Row = {
  name: 'confirmed',
  what: `${perSecond.toLocaleString('en')} records/s offered for ${seconds} s, a batch a second: accepted to confirmed`,
  async measure(fixture) {
    const anchoring = await startAnchoringService(fixture);
    const stream = await fixture.stream();
    const { program } = await findNode(anchoring);
    await offerRecords(anchoring, stream, warmUpSeconds);
    const result = await offerRecords(anchoring, stream, seconds);
    await anchoring.stop();

    const { p50Ms, p95Ms, p99Ms, kept, answers } = result;
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
        ...line(`p95${emulation(program)}`, p95Ms),
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
        holdfast: { value: answers.perSecond, unit: 'records/s', p99Ms: answers.p99Ms },
        ratio: null,
        toReach: `${perSecond.toLocaleString('en')} records/s`,
        reached: kept,
      },
    ];
    return { comparisons, details: { perSecond, seconds, chainProgram: program, ...result } };
  },
};

export const confirmedLone: Row = {
  name: 'confirmed-lone',
  what: `a record alone, ${loneRecords} times: accepted to confirmed`,
  async measure(fixture) {
    const anchoring = await startAnchoringService(fixture);
    const { program } = await findNode(anchoring);
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
          figure: `p50${emulation(program)}`,
          peer: null,
          holdfast: { value: percentile(sorted, 0.5) / 1000, unit: 's', p99Ms: null },
          ratio: null,
          toReach: null,
          reached: null,
        },
      ],
      details: { takenMs, chainProgram: program },
    };
  },
};

async function offerRecords(anchoring: AnchoringService, stream: StreamSource, seconds: number) {
  const { service, postgres, addresses } = anchoring;
  await waitForRest();
  const confirmations = await watchConfirmations(postgres);
  const headers = { ...keyHeaders(service), 'content-type': 'application/json' };
  const requests = Array.from({ length: 256 }, (_, number) => ({
    method: 'POST' as const,
    path: recordsPath,
    headers,
    body: JSON.stringify({ vaultAddress: addresses[number % addresses.length], ...reading(number) }),
  }));
  const load = { url: service.url, perSecond, seconds, inFlight, requests };
  const { answers, ...result } = await stream.run({ ...load, keepAnswers: true });
  if (result.fault !== null) throw new Error(`a record was not accepted: ${result.fault}`);
  const accepted = answers.map(({ at, text }) => ({ at, id: (JSON.parse(text) as { id: string }).id }));
  const seenAt = await confirmations.seenAt(accepted.map(({ id }) => id));
  const stretchesMs = await confirmations.stretches();
  await confirmations.stop();
  const takenMs = accepted.map(({ at, id }) => (seenAt.get(id) ?? Number.NaN) - at);
  if (takenMs.some(Number.isNaN)) throw new Error('not every record that was accepted is confirmed');
  takenMs.sort((a, b) => a - b);
  return {
    p50Ms: percentile(takenMs, 0.5),
    p95Ms: percentile(takenMs, 0.95),
    p99Ms: percentile(takenMs, 0.99),
    kept: result.perSecond >= perSecond * keptShare,
    answers: result,
    stretchesMs,
  };
}

/** Says so where the chain's program is not run by this machine itself. */
function emulation(program: string | null): string {
  return program === null || program === 'anvil' ? '' : `, anvil run by ${program}`;
}

function percentile(sorted: number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}
