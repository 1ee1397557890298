/** `npm run test:faults`: breaks the service on purpose, again and again, and checks that nothing is lost or done twice. */
import { randomInt } from 'node:crypto';
import { inspect, parseArgs } from 'node:util';
import { type ChainMode, isChainMode } from './chain.ts';
import { Interrupted, runFaults, type Summary } from './run.ts';
import { Violation } from './violation.ts';

const usage = `npm run test:faults -- [--cycles N] [--seed S] [--chain embedded|rpc|none]

  --cycles N   how many faults to inject, one after another (10)
  --seed S     any text; the same seed makes the same choices (random, and printed)
  --chain C    embedded: the service has its own chain, whose engine is killed too (the default)
               rpc: a test chain behind an RPC address; both misbehave (needs anvil)
               none: nobody answers at the RPC address; accepted work stays pending

Each cycle puts the service under load, injects one fault, and compares what is stored with what was
acknowledged. At the end everything must be anchored once, with a proof that verifies, and every event must
have reached every receiver. When a rule is broken, the exit code is 1, the seed, the cycle and the facts
are printed, and the data directory is kept.`;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (options === null) return 2;
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const { cycles, seed, chain } = options;
  console.log(`seed ${seed}, chain ${chain}`);
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => interruption.abort());
  try {
    print(
      await runFaults({ cycles, seed, chain, signal: interruption.signal, keep: true, tell: console.log }),
    );
    return 0;
  } catch (error) {
    if (error instanceof Interrupted) process.exit(130);
    if (!(error instanceof Violation)) throw error;
    console.error(`\nFAILED  ${error.message}`);
    for (const fact of error.facts)
      console.error(typeof fact === 'string' ? fact : inspect(fact, { depth: 4, breakLength: 110 }));
    return 1;
  }
}

function readOptions(): { help: boolean; cycles: number; seed: string; chain: ChainMode } | null {
  try {
    const { values } = parseArgs({
      options: {
        cycles: { type: 'string', default: '10' },
        seed: { type: 'string', default: String(randomInt(2 ** 32)) },
        chain: { type: 'string', default: 'embedded' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (!/^[1-9]\d{0,5}$/.test(values.cycles)) throw new TypeError('--cycles takes a number from 1 on');
    const { help, cycles, seed, chain } = values;
    if (!isChainMode(chain)) throw new TypeError('--chain takes embedded, rpc or none');
    return { help, cycles: Number(cycles), seed, chain };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return null;
  }
}

function print({
  cycles,
  seed,
  seconds,
  requests,
  askedAgain,
  records,
  files,
  events,
  received,
  duplicates,
  tally,
}: Summary): void {
  const lines: [string, string | number][] = [
    ['cycles', cycles],
    ...Object.entries(tally),
    ['requests acknowledged', requests.acknowledged],
    ['requests refused', requests.refused],
    ['requests without an answer, connection lost', requests.unknown],
    ['requests answered with 503 and Retry-After', requests.unavailable],
    ['creates repeated with their idempotency key', askedAgain],
    ['records', records],
    ['files', files],
    ['events committed', events],
    ['deliveries received', received],
    ['duplicates among them', duplicates],
    ['lost', 0],
    ['seed', seed],
    ['seconds', Math.round(seconds)],
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  console.log(`\n${lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')}`);
}
