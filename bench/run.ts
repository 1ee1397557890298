/** `npm run bench`: measures Holdfast beside its peers, or beside an earlier commit. This is the map of all rows. */
import { openCheckout } from './checkout.ts';
import { watchOthers } from './cpu-time.ts';
import { type Fixture, openFixture } from './fixture.ts';
import { machineFacts } from './machine.ts';
import { type Options, readOptions, UsageError, usage } from './options.ts';
import { printTable, type Report, type Result, saveReport } from './report.ts';
import type { Outcome, Row } from './row.ts';
import { bytes } from './rows/bytes.ts';
import { confirmed, confirmedLone } from './rows/confirmed.ts';
import { create, createIdempotent, createOwnKey, createWorker } from './rows/create.ts';
import { embeddedGrowth } from './rows/embedded-growth.ts';
import { embeddedIdle } from './rows/embedded-idle.ts';
import { gas } from './rows/gas.ts';
import { growth } from './rows/growth.ts';
import { indexer } from './rows/indexer.ts';
import { maintenance } from './rows/maintenance.ts';
import { memory } from './rows/memory.ts';
import { neighbours } from './rows/neighbours.ts';
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
  neighbours,
  memory,
  bytes,
  embeddedGrowth,
  embeddedIdle,
  growth,
];

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  try {
    const options = readOptions(args, rows);
    if (options !== 'help') return await run(options);
    console.log(usage(rows));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message} See "npm run bench -- --help".`);
    return 2;
  }
}

async function run(options: Options): Promise<number> {
  const fixture = await openFixture(options.turns);
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
  const report = await measureAll(options, fixture, interruption.signal)
    .catch((error) => (interruption.signal.aborted ? null : Promise.reject(error)))
    .finally(fixture.close);
  if (report === null || interruption.signal.aborted) return 130;
  printTable(report);
  console.log(`\nWritten to ${await saveReport(report)}`);
  return report.rows.some(({ verdict }) => verdict === 'failed') ? 1 : 0;
}

async function measureAll(
  { rows, against }: Options,
  fixture: Fixture,
  interruption: AbortSignal,
): Promise<Report> {
  const other = against === null ? null : await fixture.keep(() => openCheckout(against));
  const versions = other && { before: fixture.from(other.root), now: fixture };
  const report: Report = {
    machine: await machineFacts(),
    titles: { peer: other?.title ?? 'peer', holdfast: other ? 'this checkout' : 'Holdfast' },
    against: other?.source ?? null,
    rows: [],
  };
  for (const row of rows) {
    if (interruption.aborted) break;
    console.error(
      other ? `${row.name}, ${other.title} and this checkout in turns` : `${row.name}: ${row.what}`,
    );
    const measure = () => (versions && row.against ? row.against(versions) : row.measure(fixture));
    report.rows.push(await watched(row, measure, interruption));
  }
  return report;
}

async function watched(
  { name, what }: Row,
  measure: () => Promise<Outcome>,
  interruption: AbortSignal,
): Promise<Result> {
  const othersSinceNow = await watchOthers();
  try {
    const outcome = await measure();
    const below = outcome.comparisons.some(({ reached }) => reached === false);
    const verdict = below ? 'below' : 'ok';
    return { name, what, verdict, outcome, fault: null, othersShare: await othersSinceNow() };
  } catch (error) {
    if (!interruption.aborted) console.error(error);
    return { name, what, verdict: 'failed', outcome: null, fault: String(error), othersShare: null };
  }
}
