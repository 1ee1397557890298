/** `npm run bench [-- ROW …]`: measures Holdfast beside its peers. This is the map of all rows. */
import { watchOthers } from './cpu-time.ts';
import { type Fixture, openFixture } from './fixture.ts';
import { machineFacts } from './machine.ts';
import { printTable, type Report, type Result, saveReport } from './report.ts';
import type { Row } from './row.ts';
import { confirmed, confirmedLone } from './rows/confirmed.ts';
import { create, createIdempotent, createOwnKey, createWorker } from './rows/create.ts';
import { embeddedGrowth } from './rows/embedded-growth.ts';
import { embeddedIdle } from './rows/embedded-idle.ts';
import { gas } from './rows/gas.ts';
import { indexer } from './rows/indexer.ts';
import { maintenance } from './rows/maintenance.ts';
import { memory } from './rows/memory.ts';
import { read } from './rows/read.ts';
import { records, recordsBatch } from './rows/records.ts';
import { firstStart, warmStart } from './rows/start.ts';
import { transactions } from './rows/transactions.ts';
import { tree } from './rows/tree.ts';
import { upload } from './rows/upload.ts';
import { webhookDeliveries } from './rows/webhook-deliveries.ts';
import { webhookIsolation } from './rows/webhook-isolation.ts';
import { webhookLatency } from './rows/webhook-latency.ts';

/** In the order in which they run. */
const rows: Row[] = [
  firstStart,
  warmStart,
  read,
  maintenance,
  createOwnKey,
  createIdempotent,
  createWorker,
  create,
  records,
  recordsBatch,
  tree,
  confirmed,
  confirmedLone,
  gas,
  transactions,
  indexer,
  upload,
  webhookDeliveries,
  webhookLatency,
  webhookIsolation,
  memory,
  embeddedGrowth,
  embeddedIdle,
];

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage());
    return 0;
  }
  const unknown = args.filter((arg) => !rows.some(({ name }) => name === arg));
  if (unknown.length > 0) {
    console.error(`There is no row ${unknown.join(', ')}.\n\n${usage()}`);
    return 2;
  }
  const chosen = args.length === 0 ? rows : rows.filter(({ name }) => args.includes(name));

  const report: Report = { machine: await machineFacts(), rows: [] };
  const fixture = await openFixture();
  const interruption = new AbortController();
  const interrupt = () => {
    if (interruption.signal.aborted) return;
    interruption.abort();
    console.error('\nstopping everything');
    // Whatever is being measured fails by this, and the run below comes to its end.
    void fixture.close();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);

  try {
    for (const row of chosen) {
      if (interruption.signal.aborted) break;
      report.rows.push(await measure(row, fixture, interruption.signal));
    }
  } finally {
    await fixture.close();
  }
  if (interruption.signal.aborted) return 130;
  printTable(report);
  console.log(`\nWritten to ${await saveReport(report)}`);
  return report.rows.some(({ verdict }) => verdict === 'failed') ? 1 : 0;
}

async function measure(
  { name, what, measure }: Row,
  fixture: Fixture,
  interruption: AbortSignal,
): Promise<Result> {
  console.error(`${name}: ${what}`);
  const othersSinceNow = await watchOthers();
  try {
    const outcome = await measure(fixture);
    const below = outcome.comparisons.some(({ reached }) => reached === false);
    const verdict = below ? 'below' : 'ok';
    return { name, what, verdict, outcome, fault: null, othersShare: await othersSinceNow() };
  } catch (error) {
    if (!interruption.aborted) console.error(error);
    return { name, what, verdict: 'failed', outcome: null, fault: String(error), othersShare: null };
  }
}

function usage(): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  return [
    'npm run bench [-- ROW …]   measures the named rows, or all of them:',
    '',
    ...rows.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`),
    '',
    'A row that stays below what it has to reach says so and is no error; exit code 1 means that something broke.',
    'Prints a table and writes bench/results/<time>.json. The data lies in a temporary directory (TMPDIR).',
  ].join('\n');
}
