/** `holdfast backup`: everything that a restore needs, in one verified archive and a key file beside it. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { BackupResult } from '../backup/backup.ts';
import type { Config } from '../config/config.ts';
import { OperatorError } from '../runtime/errors.ts';
import { makeBaseBackup } from './base-backup.ts';
import { print, withStore } from './command.ts';
import { readPassphrase } from './passphrase.ts';
import { createProgressLine } from './progress-line.ts';
import { stageProgress, stoppable } from './stages.ts';

interface Options {
  passphraseFile?: string;
  key: boolean;
  json?: boolean;
  base?: boolean;
}

/** The backup was made, but the store lacked some of the blobs that the database lists. */
const exitIncomplete = 2;

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description(
      'write the database, blobs and chain to one archive, and the encrypted master key next to it',
    )
    .argument('[file]', 'the archive to write, such as holdfast-2026-11-15.tar; must not exist yet')
    .option(
      '--base',
      'instead, a base backup of the embedded database in HOLDFAST_WAL_ARCHIVE_DIR, for "holdfast restore --to-time"',
    )
    .option(
      '--passphrase-file <file>',
      'file with the passphrase that encrypts the master key (default: ask for it)',
    )
    .option('--no-key', 'leave out the master key, of which you keep a copy elsewhere')
    .option('--json', 'print {file, keyFile, bytes, tables, rows, blobs, createdAt}, and no progress')
    .addHelpText(
      'after',
      '\nExit code 0: the backup is complete. 1: no archive was created. 2: blobs were missing from the store.',
    )
    .action((file: string | undefined, options: Options) =>
      withStore(async (context) => {
        if (options.base && file === undefined) return makeBaseBackup(context, options);
        if (options.base || file === undefined)
          throw new OperatorError('Give either the file to write, or --base, which chooses its own.');
        const { config, store } = context;
        const path = resolve(file);
        const key = await keyOptions(path, options, config);
        // Imported here so that other commands start faster.
        const { makeBackup } = await import('../backup/backup.ts');
        const { openBlobStore } = await import('../blobs/open-blob-store.ts');
        const blobStore = await openBlobStore(config.blobs);
        const progress = createProgressLine(options.json ? null : process.stderr);
        try {
          const result = await stoppable((signal) =>
            makeBackup(
              {
                database: store.database,
                connection: store.connection,
                store: blobStore,
                masterKey: config.masterKey,
              },
              { file: path, key, signal, onProgress: stageProgress(progress) },
            ),
          );
          progress.end();
          print(options, await documentOf(path, result), summaryOf(path, result, config));
          if (result.manifest.blobs.missing > 0) process.exitCode = exitIncomplete;
        } finally {
          progress.end();
          await blobStore.close();
        }
      }),
    );
}

/** A key from the environment is the operator's responsibility. */
async function keyOptions(file: string, options: Options, { masterKey }: Config) {
  if (!options.key || 'text' in masterKey) return null;
  const passphrase = await readPassphrase({
    file: options.passphraseFile,
    what: 'a passphrase for the master key',
    twice: true,
  });
  return { file: `${file}.key`, passphrase };
}

async function documentOf(file: string, { manifest, keyFile }: BackupResult) {
  const { archiveBytes } = await import('../backup/archive-reader.ts');
  const { createdAt, tables, blobs } = manifest;
  return {
    file,
    keyFile,
    bytes: await archiveBytes(file),
    tables: tables.length,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    blobs: { count: blobs.count, bytes: blobs.bytes, erased: blobs.erased, missing: blobs.missing },
    createdAt,
  };
}

function summaryOf(file: string, { manifest, keyFile }: BackupResult, { masterKey }: Config): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  const { blobs } = manifest;
  const lines = [
    `${file} contains ${count(rows)} rows of ${manifest.tables.length} tables and ${count(blobs.count)} blobs (${count(blobs.bytes)} bytes). It was read back and verified.`,
  ];
  if (blobs.erased > 0)
    lines.push(`${count(blobs.erased)} blobs were erased during the backup and are not in it.`);
  if (blobs.missing > 0) {
    lines.push(`${count(blobs.missing)} blobs are missing from the store: run holdfast fsck to see which.`);
  }
  if (keyFile !== null) {
    lines.push(
      `The master key is in ${keyFile}, encrypted with your passphrase. Keep it apart from the archive: anyone who has both and the passphrase has every private key.`,
    );
  } else {
    lines.push(
      'text' in masterKey
        ? 'The master key comes from HOLDFAST_MASTER_KEY and is not in the backup. Keep a copy of it: the archive is useless without it.'
        : `The master key was left out. Keep a copy of ${masterKey.file}: the archive is useless without it.`,
    );
  }
  return lines.join('\n');
}
