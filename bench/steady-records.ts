/** Records offered at a steady rate: how long each takes until it is confirmed, and what that costs which process. */
import { type AnchoringService, reading, recordsPath } from './anchoring.ts';
import { type Stretches, watchConfirmations } from './confirmations.ts';
import { waitForRest } from './cpu-time.ts';
import { keyHeaders } from './service.ts';
import { processesOf } from './service-processes.ts';
import { type Spent, watchProcesses } from './spent.ts';
import type { StreamResult, StreamSource } from './stream.ts';

export interface OfferedRecords {
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  /** Whether the offered rate was kept. */
  kept: boolean;
  answers: Omit<StreamResult, 'answers'>;
  stretchesMs: Stretches;
  /** From the first request until all is confirmed, and afterwards; null where there is no /proc. */
  cpu: Spent | null;
}

const inFlight = 64;
/** Of the offered rate, measured to the last answer. */
const keptShare = 0.98;

export async function offerRecords(
  anchoring: AnchoringService,
  stream: StreamSource,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<OfferedRecords> {
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
  const spent = await watchProcesses({
    ...(await processesOf(service)),
    client: [stream.pid],
    nobody: [confirmations.backendPid],
  });
  const { answers, ...result } = await stream.run({ ...load, keepAnswers: true });
  if (result.fault !== null) throw new Error(`a record was not accepted: ${result.fault}`);
  const accepted = answers.map(({ at, text }) => ({ at, id: (JSON.parse(text) as { id: string }).id }));
  const seenAt = await confirmations.seenAt(accepted.map(({ id }) => id));
  const { cpu } = await spent.untilRest();
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
    cpu,
  };
}

export function percentile(sorted: number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}
