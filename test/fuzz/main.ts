/** `npm run test:fuzz`: sends every route of a real service requests made from its schemas, and judges every answer. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Fault, type Figures, runFuzz } from './run.ts';

const usage = `npm run test:fuzz -- [--requests N] [--seed S]

  --requests N   the total number, spread evenly over all routes (5000)
  --seed S       any text; the same seed makes the same requests (random, and printed)

Fails on a 5xx other than the documented 503, an answer that /openapi.json does not describe, a broken
connection, a crash, a request that holds the main thread for too long, and a growing heap. Each failed
request is printed as curl.`;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (options === null) return 2;
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const { requests, seed } = options;
  console.log(`${requests} requests, seed ${seed}`);
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interruption.abort());
  const { figures, faults } = await runFuzz({
    requests,
    seed,
    signal: interruption.signal,
    tell: console.log,
  });
  for (const fault of faults) printFault(fault);
  printFigures(figures);
  if (faults.length > 0) console.error(`\nFAILED  ${faults.length} kinds of faults, seed ${seed}`);
  return faults.length > 0 ? 1 : 0;
}

function readOptions(): { help: boolean; requests: number; seed: string } | null {
  try {
    const { values } = parseArgs({
      options: {
        requests: { type: 'string', default: '5000' },
        seed: { type: 'string', default: String(randomInt(2 ** 32)) },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (!/^[1-9]\d{0,8}$/.test(values.requests)) throw new TypeError('--requests takes a number from 1 on');
    return { help: values.help, requests: Number(values.requests), seed: values.seed };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return null;
  }
}

function printFault({ what, count, curl }: Fault): void {
  console.error(`\n${what}${count > 1 ? `\n(${count} times; the first:)` : ''}`);
  if (curl !== null) console.error(curl);
}

function printFigures(figures: Figures): void {
  const statuses = [...figures.statuses].sort(([one], [other]) => one - other);
  console.log(
    [
      '',
      `${figures.requests} requests to ${figures.routes} routes in ${figures.seconds.toFixed(1)} s: ${Math.round(figures.requests / figures.seconds)} per second`,
      `answers: ${statuses.map(([status, count]) => `${count} × ${status}`).join(', ')}`,
      `latency: p50 ${figures.p50Ms.toFixed(1)} ms, p99 ${figures.p99Ms.toFixed(1)} ms`,
      `CPU time per request: ${figures.cpuMsPerRequest.toFixed(2)} ms in the service's main thread, ${figures.ownCpuMsPerRequest.toFixed(2)} ms in this process`,
      `most expensive request, repeated alone: ${figures.dearest ? `${figures.dearest.ms.toFixed(0)} ms, ${figures.dearest.name}` : 'none'}`,
      `heap after garbage collection: ${megabytes(figures.heapBefore)} MB after the warm-up, ${megabytes(figures.heapAfter)} MB at the end`,
    ].join('\n'),
  );
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
