/** `holdfast fsck`: checks all stored data, with or without a running service, and changes none of it. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import type { CheckDeps } from '../app/checks.ts';
import type { Store } from '../app/store.ts';
import type { Config } from '../config/config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { type AsOf, walkSettings } from '../db/rows-pass.ts';
import { type CheckReport, type Finding, NotMade } from '../runtime/check.ts';
import { OperatorError } from '../runtime/errors.ts';
import { print, table, withStore } from './command.ts';
import { createProgressLine } from './progress-line.ts';
import { parseSince } from './since.ts';

interface Options {
  json?: boolean;
  only?: string;
  since?: string;
}

/** `found` takes precedence over `notMade` when both apply. */
const exitCodes = { clean: 0, found: 1, notMade: 2 } as const;

export function addFsckCommand(program: Command): void {
  program
    .command('fsck')
    .description(
      'check all stored data, also against the chain; --since last: only what is new; changes none of it',
    )
    .option('--only <names>', 'comma-separated names of checks (default: all)')
    .option(
      '--since <time>',
      'check only what was written since then: 24h, 7d, 2026-11-01, 2026-11-01T08:00:00Z, or last: since the last run that found nothing',
    )
    .option('--json', 'print {checked, found, skipped, checks}, and no progress')
    .addHelpText(
      'after',
      `
No checked data is changed. A run that finds nothing is remembered, for --since last.
Exit code 0: everything is in order. 1: problems were found. 2: something could not be checked.`,
    )
    .action(async (options: Options) => {
      try {
        const since = sinceOf(options.since);
        await withStore(async ({ config, store }) => {
          process.exitCode = await check({ ...options, since }, config, store);
        });
      } catch (error) {
        console.error(error instanceof OperatorError ? error.message : error);
        process.exitCode = exitCodes.notMade;
      }
    });
}

export interface FsckOutcome {
  document: ReturnType<typeof documentOf> & { fullAt?: string };
  summary: string;
}

interface CheckOptions extends Omit<Options, 'since'> {
  /** `last`: since the last clean run of these checks. */
  since?: Date | 'last' | undefined;
  asOf?: AsOf;
}

function sinceOf(text: string | undefined): CheckOptions['since'] {
  if (text === undefined || text === 'last') return text;
  return parseSince(text, new Date());
}

async function check(options: CheckOptions, config: Config, store: Store): Promise<number> {
  const { document, summary } = await checkStore({ ...options, config, store });
  print(options, document, summary);
  if (document.found > 0) return exitCodes.found;
  return document.skipped > 0 ? exitCodes.notMade : exitCodes.clean;
}

/** Prints findings and progress as it goes, except for JSON; the caller prints the outcome. */
export async function checkStore({
  json,
  only,
  since: asked,
  asOf,
  config,
  store,
}: CheckOptions & { config: Config; store: Store }): Promise<FsckOutcome> {
  // Imported here so that other commands start faster.
  const { allChecks, runChecks } = await import('../app/checks.ts');
  const { databaseTime, findCleanRun, rememberClean } = await import('../app/clean-checks.store.ts');
  const database = openReadOnly(store);
  const { deps, close } = openDeps(config, { database, asOf });
  const progress = createProgressLine(json ? null : process.stderr);
  const stopping = new AbortController();
  const stop = () => stopping.abort(new NotMade('it was stopped'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const names = only === undefined ? undefined : parseNames(only, allChecks(deps));
    const last =
      asked === 'last'
        ? await findCleanRun(database.db, names ?? allChecks(deps).map(({ name }) => name))
        : null;
    const since = asked === 'last' ? last?.until : asked;
    if (asked === 'last' && !last && !json)
      console.error('There is no clean run of all these checks yet: everything is checked.');
    const beganAt = await databaseTime(database.db);
    const reports = await runChecks(deps, {
      ...(names && { only: names }),
      ...(since && { since }),
      signal: stopping.signal,
      onProgress: progress.tell,
      onFinding(_, finding) {
        if (json) return;
        progress.clear();
        console.log(describe(finding));
      },
    });
    progress.end();
    await rememberClean(store.database.db, { reports, beganAt, since });
    const summary = [
      summaryOf(reports, since),
      ...(last ? [`Everything was last looked at on ${last.fullAt.toISOString()}.`] : []),
    ];
    return {
      document: { ...documentOf(reports, since), ...(last && { fullAt: last.fullAt.toISOString() }) },
      summary: summary.join('\n'),
    };
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await close();
    await database.close();
  }
}

/** PostgreSQL itself rejects every change. */
function openReadOnly(store: Store): Database {
  return openDatabase({
    connection: () => ({ ...store.connection(), application_name: 'holdfast fsck' }),
    settings: { ...walkSettings, statement_timeout: 300_000, default_transaction_read_only: 'on' },
    onError: store.onConnectionLost,
    max: 4,
  });
}

/** Opens keyring and chain when a check first needs them; every check that needs one gets its error. */
function openDeps(
  config: Config,
  { database: { db }, asOf }: { database: Database; asOf: AsOf },
): { deps: CheckDeps; close(): Promise<void> } {
  const openings: Promise<{ close(): Promise<void> }>[] = [];
  const opened = <T extends { close(): Promise<void> }>(open: () => Promise<T>): (() => Promise<T>) => {
    let opening: Promise<T> | undefined;
    return () => {
      if (!opening) {
        opening = open();
        openings.push(opening);
      }
      return opening;
    };
  };
  const keyring = opened(() => openKeys(config, { db }));
  const chain = opened(() => openChain(config, { db }));
  const blobStore = opened(async () => {
    const { blobs } = config;
    // Opening it would create it, and a mistyped path would look like a store that lost everything.
    if (blobs.kind === 'disk' && !existsSync(dirname(blobs.dir)))
      throw new NotMade(`there is no ${dirname(blobs.dir)}: check HOLDFAST_DATA_DIR and HOLDFAST_BLOB_URL`);
    const { openBlobStore } = await import('../blobs/open-blob-store.ts');
    return openBlobStore(config.blobs);
  });
  return {
    deps: {
      db,
      keyring,
      blobStore,
      chain: async () => (await chain()).client,
      retentionDays: config.webhooks.retentionDays,
      asOf,
      clocks: config.clocks,
    },
    async close() {
      for (const opening of await Promise.allSettled(openings)) {
        if (opening.status === 'fulfilled') await opening.value.close();
      }
    },
  };
}

async function openKeys({ masterKey }: Config, { db }: Pick<Database, 'db'>) {
  const { hasMasterKey, openKeyring } = await import('../keys/keyring.ts');
  // Opening the keyring would create the first key.
  if (!(await hasMasterKey(db))) throw new NotMade('the database has no master key yet');
  return openKeyring({ db, source: masterKey });
}

async function openChain(config: Config, { db }: Pick<Database, 'db'>) {
  const { findStoredChain } = await import('../chain/stored-chain.ts');
  const known = await findStoredChain(db);
  if (!known) throw new NotMade('the database has no chain yet');
  const { createChainRpc } = await import('../chain/rpc/rpc.ts');
  const urls = await rpcUrls(config, { db, embedded: known.embedded });
  const { chainId, genesisHash } = known;
  return createChainRpc({ urls: () => urls, chainId, genesisHash });
}

async function rpcUrls(
  config: Config,
  { db, embedded }: Pick<Database, 'db'> & { embedded: boolean },
): Promise<readonly string[]> {
  if (!embedded) {
    const { rpcUrls } = config.chain;
    if (rpcUrls.length === 0) throw new NotMade('no RPC address is set for the chain of this database');
    return rpcUrls;
  }
  const { findEmbeddedChain } = await import('../chain/embedded/embedded-chain.ts');
  const running = await findEmbeddedChain(db, config.dataDir);
  if (!running)
    throw new NotMade('the embedded chain is not running here: start the service and check again');
  return [running.rpcUrl];
}

function parseNames(text: string, checks: { name: string }[]): string[] {
  const known = checks.map(({ name }) => name);
  const named = text.split(',').map((name) => name.trim());
  const unknown = named.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new OperatorError(
      `There is no check ${unknown.join(', ')}. Available checks: ${known.join(', ')}.`,
    );
  }
  return named;
}

function describe({ rule, message, advice }: Finding): string {
  return `${rule}: ${message}\n  ${advice}\n`;
}

function documentOf(reports: CheckReport[], since?: Date) {
  const sum = (of: (report: CheckReport) => number) => reports.reduce((all, report) => all + of(report), 0);
  return {
    ...(since && { since: since.toISOString() }),
    checked: sum(({ checked }) => checked),
    found: sum(({ found }) => found),
    skipped: sum(({ skipped }) => skipped.length),
    checks: reports,
  };
}

function summaryOf(reports: CheckReport[], since?: Date): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const rows = reports.map(({ name, checked, found, skipped }) => [
    name,
    count(checked),
    count(found),
    skipped.map(({ what }) => what).join(', '),
  ]);
  const reasons = reports.flatMap(({ name, skipped }) =>
    skipped.map(({ what, reason }) => `Not checked: ${what} (${name}): ${reason}.`),
  );
  const notes = reports.flatMap((report) => report.notes ?? []);
  const { found, skipped } = documentOf(reports);
  const untold = reports.some((report) => report.found > report.findings.length);
  const verdict =
    found > 0
      ? `${count(found)} ${found === 1 ? 'finding' : 'findings'}${untold ? ', the first of each check shown above' : ''}.`
      : skipped > 0
        ? 'What could be checked is in order.'
        : since
          ? `All that was written since ${since.toISOString()} is in order.`
          : 'Everything is in order.';
  return [
    table(['CHECK', 'CHECKED', 'FINDINGS', 'NOT CHECKED'], rows),
    '',
    ...reasons,
    ...notes,
    ...(since ? notLookedAt(reports, since) : []),
    verdict,
  ].join('\n');
}

function notLookedAt(reports: CheckReport[], since: Date): string[] {
  const whole = reports.flatMap((report) => report.notLookedAt ?? []);
  return [
    `Not looked at: rows from before ${since.toISOString()}.`,
    ...(whole.length === 0
      ? []
      : [`Not looked at, because only a check of everything can: ${whole.join(', ')}.`]),
  ];
}
