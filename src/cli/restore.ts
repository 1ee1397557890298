/** `holdfast restore`: restores a backup into an empty place, and checks the result. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Restored } from '../backup/restore.ts';
import { parseBlobUrl } from '../config/blob-url.ts';
import type { Config } from '../config/config.ts';
import type { AsOf } from '../db/rows-pass.ts';
import type { MasterKeys } from '../keys/master-keys.ts';
import { OperatorError } from '../runtime/errors.ts';
import { parseToTime, recoveredDocument, recoveredSummary, walArchiveOf } from './base-backup.ts';
import { print, withStore } from './command.ts';
import { checkStore, type FsckOutcome } from './fsck.ts';
import { createLog } from './log.ts';
import { readPassphrase } from './passphrase.ts';
import { createProgressLine } from './progress-line.ts';
import { readSettings } from './settings.ts';
import { baseUnits, stageProgress, stoppable } from './stages.ts';

interface Options {
  keyFile?: string;
  passphraseFile?: string;
  erasures?: string;
  fsck: boolean;
  json?: boolean;
  toTime?: string;
}

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description('restore a backup into an empty data directory or database, and check it')
    .argument('[file]', 'the archive created by holdfast backup')
    .option(
      '--to-time <time>',
      'instead, the embedded database of HOLDFAST_WAL_ARCHIVE_DIR as of a moment: 2026-11-01T08:00:00Z, 2h (ago) or latest',
    )
    .option('--key-file <file>', 'the master key of the backup (default: FILE.key next to the archive)')
    .option('--passphrase-file <file>', 'file with the passphrase of the key file (default: ask for it)')
    .option(
      '--erasures <url>',
      'the blob store of the old installation (s3://… or file:///…), whose journal of erasures is applied',
    )
    .option('--no-fsck', 'skip the check at the end')
    .option('--json', 'print {file, createdAt, tables, rows, blobs, erasedAgain, fsck}, and no progress')
    .addHelpText(
      'after',
      `
Everything is verified before anything is written. If a restore was interrupted, run it again; it starts over.
What was erased after the backup is erased again: the journal of erasures in the blob store names it. Give --erasures if
HOLDFAST_BLOB_URL is not the blob store of the old installation.
Exit code 0: restored. 1: not restored, or the check found problems.`,
    )
    .action(async (file: string | undefined, options: Options) => {
      if (options.toTime !== undefined && file === undefined)
        return restoreMoment({ ...options, toTime: options.toTime });
      if (options.toTime !== undefined || file === undefined)
        throw new OperatorError('Give either the archive to restore, or --to-time with a moment.');
      const restored = await restore(resolve(file), options);
      const asOf = new Date(restored.manifest.createdAt);
      const outcome = options.fsck ? await checkRestored(options, asOf) : null;
      print(options, documentOf(resolve(file), restored, outcome), summaryOf(restored, outcome));
      if (outcome && outcome.document.found > 0) process.exitCode = 1;
    });
}

async function restoreMoment(options: Options & { toTime: string }): Promise<void> {
  const erasuresOf = erasuresOption(options);
  const config = readSettings(console.error);
  const dir = walArchiveOf(config);
  const to = parseToTime(options.toTime);
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel);
  const { findBase, restoreToTime } = await import('../backup/point-in-time/recover.ts');
  const { sealedKeyOf } = await import('../backup/point-in-time/base-format.ts');
  const { base, timeline } = await findBase(dir, to);
  const keys = await findKeys(sealedKeyOf(dir), options, config);
  const progress = createProgressLine(options.json ? null : process.stderr);
  const onProgress = stageProgress<keyof typeof baseUnits>(progress, baseUnits);
  const recovered = await stoppable((signal) =>
    restoreToTime({ base, timeline, to, keys, config, erasuresOf, dir, log, signal, onProgress }),
  ).finally(() => progress.end());
  const outcome = options.fsck ? await checkRestored(options, recovered.asOf ?? undefined) : null;
  print(
    options,
    { ...recoveredDocument(recovered), fsck: outcome?.document ?? null },
    [...(outcome ? [outcome.summary, ''] : []), recoveredSummary(recovered)].join('\n'),
  );
  if (outcome && outcome.document.found > 0) process.exitCode = 1;
}

function erasuresOption({ erasures }: Options) {
  const store = erasures === undefined ? null : parseBlobUrl(erasures);
  if (erasures !== undefined && !store)
    throw new OperatorError('--erasures must be s3://BUCKET/PREFIX?region=REGION or file:///DIRECTORY.');
  return store;
}

async function restore(file: string, options: Options): Promise<Restored> {
  const erasuresOf = erasuresOption(options);
  const config = readSettings(console.error);
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel);
  const keys = await findKeys(`${file}.key`, options, config);
  const { restoreBackup } = await import('../backup/restore.ts');
  const progress = createProgressLine(options.json ? null : process.stderr);
  try {
    return await stoppable((signal) =>
      restoreBackup({ file, keys, config, log, signal, erasuresOf, onProgress: stageProgress(progress) }),
    );
  } finally {
    progress.end();
  }
}

/** The configured keys, or those of the key file, which then become the configured ones. */
async function findKeys(
  besides: string,
  options: Options,
  { masterKey }: Config,
): Promise<MasterKeys | null> {
  const { parseMasterKeys, readMasterKeys } = await import('../keys/master-keys.ts');
  if ('text' in masterKey || !masterKey.generated) {
    if (options.keyFile === undefined) return readMasterKeys(masterKey);
    const setting = 'text' in masterKey ? 'HOLDFAST_MASTER_KEY' : 'HOLDFAST_MASTER_KEY_FILE';
    throw new OperatorError(`${setting} already gives the master key: remove --key-file or that setting.`);
  }
  const path = resolve(options.keyFile ?? besides);
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' && options.keyFile === undefined) return null;
    throw new OperatorError(`The key file ${path} cannot be read: ${cause.message}.`, { cause });
  });
  if (text === null) return null;
  const { isSealedKeyFile, openKeyFile } = await import('../backup/key-file.ts');
  if (!isSealedKeyFile(text)) return parseMasterKeys(text, path);
  const passphrase = await readPassphrase({
    file: options.passphraseFile,
    what: `the passphrase of ${path}`,
  });
  return openKeyFile(text, { passphrase, origin: path });
}

async function checkRestored(options: Options, asOf: AsOf): Promise<FsckOutcome> {
  let outcome: FsckOutcome | undefined;
  await withStore(async ({ config, store }) => {
    outcome = await checkStore({ json: options.json === true, asOf, config, store });
  });
  if (!outcome) throw new Error('the check has no outcome');
  return outcome;
}

function documentOf(
  file: string,
  { manifest: { createdAt, tables, blobs }, erasedAgain }: Restored,
  outcome: FsckOutcome | null,
) {
  return {
    file,
    createdAt,
    tables: tables.length,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    blobs: { count: blobs.count, bytes: blobs.bytes, erased: blobs.erased, missing: blobs.missing },
    erasedAgain,
    fsck: outcome?.document ?? null,
  };
}

function summaryOf(
  { manifest: { createdAt, tables, blobs, chain }, erasedAgain, journalled }: Restored,
  outcome: FsckOutcome | null,
): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const lines = [
    `Restored as of ${createdAt}: ${count(rows)} rows of ${tables.length} tables, ${count(blobs.count)} blobs.`,
    journalled === 0
      ? 'No journal of erasures was found, so what was erased after the backup is there again. If something was, restore once more with --erasures and the blob store of the old installation.'
      : `${count(erasedAgain)} records and files that were erased after the backup were erased again.`,
    'Start it only after the service that was backed up is stopped for good: two of them would send everything twice.',
  ];
  if (chain?.embedded && outcome && outcome.document.skipped > 0) {
    lines.push('What needs the chain was not checked: start the service and run holdfast fsck.');
  }
  return [...(outcome ? [outcome.summary, ''] : []), ...lines].join('\n');
}
