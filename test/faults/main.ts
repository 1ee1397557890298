/** `npm run test:faults`: breaks the service on purpose, again and again, and checks that nothing is lost or done twice. */
import { randomInt } from 'node:crypto';
import { inspect, parseArgs } from 'node:util';
import { describeNeed, findProgram } from '../support/programs/find.ts';
import { usePrograms } from '../support/programs/needs.ts';
import { type ChainMode, isChainMode } from './chain.ts';
import { clusterPrograms } from './cluster/cluster.ts';
import type { Topology } from './fixture.ts';
import { Interrupted, runFaults, type Summary } from './run.ts';
import { Violation } from './violation.ts';

const usage = `npm run test:faults -- [--cycles N] [--minutes N] [--seed S] [--topology single|cluster] [--chain embedded|rpc|none]

  --cycles N    how many faults to inject, one after another (10, or as many as fit into --minutes)
  --minutes N   no fault is injected after so many minutes; what follows is the look at everything
  --seed S      any text; the same seed makes the same choices (random, and printed)
  --topology T  single: one node with its own PostgreSQL, at times a second one (the default)
                cluster: four nodes behind HAProxy, three PostgreSQL servers under Patroni with etcd
                (needs patroni, etcd, haproxy and postgresql-15 of Debian)
  --actors N    how many clients make the load (12; 4 for a cluster)
  --chain C     embedded: the service has its own chain, whose engine is killed too (the default)
                rpc: a test chain behind an RPC address; both misbehave (needs anvil; the default of a cluster)
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
  const { seed, chain, topology } = options;
  const programs = [
    ...(topology === 'cluster' ? clusterPrograms : []),
    ...(chain === 'rpc' ? (['anvil'] as const) : []),
  ];
  const missing = programs.filter((name) => findProgram(name) === null);
  if (missing.length > 0) {
    console.error(`It ${missing.map(describeNeed).join(', ')}.`);
    return 2;
  }
  console.log(`seed ${seed}, topology ${topology}, chain ${chain}`);
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => interruption.abort());
  try {
    const { signal } = interruption;
    const run = () => runFaults({ ...options, signal, keep: true, tell: console.log });
    print(await usePrograms(programs, run));
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

interface Options {
  help: boolean;
  cycles: number;
  minutes: number;
  seed: string;
  topology: Topology;
  chain: ChainMode;
  actors: number;
  longestPauseMs: number;
}

function readOptions(): Options | null {
  try {
    const { values } = parseArgs({
      options: {
        cycles: { type: 'string' },
        minutes: { type: 'string' },
        seed: { type: 'string', default: String(randomInt(2 ** 32)) },
        topology: { type: 'string', default: 'single' },
        chain: { type: 'string' },
        actors: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const { help, seed, topology } = values;
    if (topology !== 'single' && topology !== 'cluster')
      throw new TypeError('--topology takes single or cluster');
    const isCluster = topology === 'cluster';
    const { chain = isCluster ? 'rpc' : 'embedded' } = values;
    if (!isChainMode(chain)) throw new TypeError('--chain takes embedded, rpc or none');
    return {
      help,
      seed,
      topology,
      chain,
      cycles: count('cycles', values.cycles, values.minutes === undefined ? 10 : Number.POSITIVE_INFINITY),
      minutes: count('minutes', values.minutes, Number.POSITIVE_INFINITY),
      actors: count('actors', values.actors, isCluster ? 4 : 12),
      longestPauseMs: isCluster ? 200 : 25,
    };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return null;
  }
}

function count(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new TypeError(`--${name} takes a number from 1 on`);
  return Number(text);
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
