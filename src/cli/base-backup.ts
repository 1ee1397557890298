/** `holdfast backup --base` and `holdfast restore --to-time`: base backups of the embedded database, and moments restored. */
import type { MadeBase } from '../backup/point-in-time/base.ts';
import type { Recovered } from '../backup/point-in-time/recover.ts';
import type { Pruned } from '../backup/point-in-time/retention.ts';
import type { Config } from '../config/config.ts';
import { OperatorError } from '../runtime/errors.ts';
import { type CommandContext, print } from './command.ts';
import { readPassphrase } from './passphrase.ts';
import { createProgressLine } from './progress-line.ts';
import { parseSince } from './since.ts';
import { baseUnits, stageProgress, stoppable } from './stages.ts';

export interface BaseBackupOptions {
  passphraseFile?: string;
  key: boolean;
  json?: boolean;
}

export function walArchiveOf({ walArchiveDir }: Config): string {
  if (walArchiveDir !== null) return walArchiveDir;
  throw new OperatorError(
    'HOLDFAST_WAL_ARCHIVE_DIR is not set: it names the directory of base backups and of the archived log of the embedded database. Set it, and restart the service.',
  );
}

export async function makeBaseBackup({ config, store }: CommandContext, options: BaseBackupOptions) {
  const dir = walArchiveOf(config);
  const { database, connection } = store;
  const { masterKey, dataDir } = config;
  const passphrase =
    options.key && !('text' in masterKey)
      ? await readPassphrase({
          file: options.passphraseFile,
          what: 'a passphrase for the master key',
          twice: true,
        })
      : null;
  // Imported here so that other commands start faster.
  const { makeBase } = await import('../backup/point-in-time/base.ts');
  const { prune } = await import('../backup/point-in-time/retention.ts');
  const { copyMissing, openMirror } = await import('../backup/point-in-time/blob-mirror.ts');
  const { copyErasures } = await import('../blobs/erasure-journal.ts');
  const { openBlobStore } = await import('../blobs/open-blob-store.ts');
  const progress = createProgressLine(options.json ? null : process.stderr);
  const onProgress = stageProgress<keyof typeof baseUnits>(progress, baseUnits);
  const mirror = config.blobs.kind === 'disk' ? await openMirror(dir) : null;
  const from = await openBlobStore(config.blobs);
  try {
    const { made, blobs } = await stoppable(async (signal) => {
      const made = await makeBase({ dataDir, dir, connection, masterKey, signal, onProgress });
      if (!made) throw new OperatorError('Another base backup is being made. Wait until it is complete.');
      if (passphrase !== null) await writeSealedKey(config, { dir, passphrase });
      const blobs = mirror
        ? await copyMissing({
            ...{ db: database.db, from, to: mirror.store, has: mirror.has, signal },
            onProgress: (progress) => onProgress('blobs', progress),
          })
        : null;
      if (mirror) await copyErasures(from, mirror.store);
      return { made, blobs };
    });
    const pruned = await prune({
      ...{ dir, db: database.db, mirror, days: config.backupRetentionDays, now: new Date() },
    });
    progress.end();
    const { files, ...facts } = made;
    const document = { ...facts, files: files.length, blobs, pruned };
    print(options, document, summaryOf({ made, blobs, pruned, config }));
    if (blobs && blobs.missing > 0) process.exitCode = 2;
  } finally {
    progress.end();
    await from.close();
    await mirror?.store.close();
  }
}

async function writeSealedKey(
  { masterKey }: Config,
  { dir, passphrase }: { dir: string; passphrase: string },
): Promise<void> {
  const { readMasterKeys } = await import('../keys/master-keys.ts');
  const { sealKeyFile } = await import('../backup/key-file.ts');
  const { writeWhole } = await import('../backup/archive-writer.ts');
  const { sealedKeyOf } = await import('../backup/point-in-time/base-format.ts');
  const keys = await readMasterKeys(masterKey);
  if (keys) await writeWhole(sealedKeyOf(dir), await sealKeyFile(keys, passphrase));
}

interface Made {
  made: MadeBase;
  blobs: { copied: number; missing: number } | null;
  pruned: Pruned;
  config: Config;
}

function summaryOf({ made, blobs, pruned, config }: Made): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const lines = [
    `${made.file} contains ${count(made.files.length)} files (${count(made.bytes)} bytes). It was read back and verified.`,
    `Every moment from ${made.stoppedAt} on can be restored, as far as the log is archived.`,
  ];
  if (blobs) lines.push(`${count(blobs.copied)} new blobs were copied.`);
  if (blobs && blobs.missing > 0)
    lines.push(`${count(blobs.missing)} blobs are missing from the store: run holdfast fsck to see which.`);
  if (pruned.bases > 0)
    lines.push(
      `${count(pruned.bases)} base backups and ${count(pruned.segments)} segments of the log older than ${config.backupRetentionDays} days were removed.`,
    );
  return lines.join('\n');
}

/** `null`: the end of the archived log. */
export function parseToTime(text: string): Date | null {
  return text.trim() === 'latest' ? null : parseSince(text, new Date());
}

export function recoveredDocument({ base, asOf, segments, blobs, erasedAgain }: Recovered) {
  return { base: base.file, asOf: asOf?.toISOString() ?? base.stoppedAt, segments, blobs, erasedAgain };
}

export function recoveredSummary(recovered: Recovered): string {
  const { asOf, segments, blobs, erasedAgain } = recoveredDocument(recovered);
  const lines = [
    `Restored as of the last commit at ${asOf}, from ${recovered.base.file} and ${segments} segments of the log. ${blobs.copied} blobs were copied.`,
    `${erasedAgain.toLocaleString('en-US')} records and files that were erased after that were erased again.`,
    'Start it only after the service that was backed up is stopped for good: two of them would send everything twice.',
  ];
  if (blobs.missing > 0)
    lines.push(`${blobs.missing} blobs are missing from the archive: run holdfast fsck to see which.`);
  return lines.join('\n');
}
