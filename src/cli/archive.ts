/** `holdfast archive`: moves old records with their leaves from the database into verified files of the blob store. */
import type { Command } from 'commander';
import { findWorkspace, operatorIn } from '../access/workspaces/workspaces.ts';
import type { Archived } from '../anchoring/archive/archiving.ts';
import { OperatorError } from '../runtime/errors.ts';
import { type CommandContext, explain, print, withStore } from './command.ts';
import { createProgressLine } from './progress-line.ts';
import { parseSince } from './since.ts';
import { stoppable } from './stages.ts';

interface Options {
  before: string;
  workspace?: string;
  dryRun?: boolean;
  json?: boolean;
}

export function addArchiveCommand(program: Command): void {
  program
    .command('archive')
    .description(
      'move records that are older than a date from the database to verified files in the blob store; they are still read, proved and erased by id',
    )
    .requiredOption(
      '--before <time>',
      'move records of which every version is older: a day (2025-11-01, from midnight UTC), a time, or how long ago (365d)',
    )
    .option('--workspace <id>', 'id or slug of the only workspace to look into (default: all)')
    .option('--dry-run', 'only say what would move')
    .option(
      '--json',
      'print {before, dryRun, records, versions, rowBytes, files, fileBytes, left, removedFiles}, and no progress',
    )
    .addHelpText(
      'after',
      `
Works beside a running service. Killed at any moment nothing is lost: run it again, and it goes on.
Archived records are no longer in lists. docs/archive.md says what else changes.`,
    )
    .action((options: Options) => {
      const before = parseSince(options.before, new Date(), 'give a time in the past');
      return withStore((context) => archive(context, { ...options, before }));
    });
}

async function archive(
  { config, store, log }: CommandContext,
  options: Omit<Options, 'before'> & { before: Date },
): Promise<void> {
  // Imported here so that other commands start faster.
  const [archiving, { countOld }, { createBlobs }, { requireMarker }, { openBlobStore }, keys] =
    await Promise.all([
      import('../anchoring/archive/archiving.ts'),
      import('../anchoring/archive/candidates.ts'),
      import('../blobs/blobs.ts'),
      import('../blobs/marker.ts'),
      import('../blobs/open-blob-store.ts'),
      import('../keys/keyring.ts'),
    ]);
  const { db } = store.database;
  const { before, dryRun = false, workspace } = options;
  const workspaceId = workspace === undefined ? undefined : (await findWorkspace(db, workspace)).id;
  if (!(await keys.hasMasterKey(db)))
    throw new OperatorError('The database has no master key yet, so nothing can be archived.');
  const keyring = await keys.openKeyring({ db, source: config.masterKey });
  const blobStore = await openBlobStore(config.blobs);
  const progress = createProgressLine(options.json ? null : process.stderr);
  try {
    if (!dryRun) await requireMarker({ db, store: blobStore, log });
    const blobs = createBlobs({ db, keyring, store: blobStore });
    const total = await countOld(db, { before, workspaceId });
    const archived = await stoppable((signal) =>
      archiving.archiveRecords(
        { db, blobs, callerIn: operatorIn },
        {
          ...{ before, workspaceId, dryRun, signal },
          onProgress: (done) => progress.tell({ check: 'archive', what: 'records', done, total }),
        },
      ),
    ).catch(explain);
    progress.end();
    print(
      options,
      { before: before.toISOString(), dryRun, ...archived },
      summaryOf(archived, { before, dryRun }),
    );
  } finally {
    progress.end();
    await blobStore.close();
    await keyring.close();
  }
}

function summaryOf(archived: Archived, { before, dryRun }: { before: Date; dryRun: boolean }): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const { records, versions, rowBytes, files, fileBytes, left, removedFiles } = archived;
  const time = before.toISOString();
  const lines: string[] = [];
  if (records === 0)
    lines.push(`No record from before ${time} ${dryRun ? 'would move' : 'was left to move'}.`);
  else if (dryRun)
    lines.push(
      `${count(records)} records with ${count(versions)} versions from before ${time} would move. Their rows take about ${count(rowBytes)} bytes, and their indexes about half as much again. Nothing was changed.`,
    );
  else
    lines.push(
      `${count(records)} records with ${count(versions)} versions from before ${time} are now in ${count(files)} ${files === 1 ? 'file' : 'files'} of ${count(fileBytes)} bytes, which were read back and compared. About ${count(rowBytes)} bytes of rows are free for new rows once PostgreSQL has vacuumed the table.`,
    );
  if (left > 0)
    lines.push(
      `${count(left)} more records from before then stay in the database: they have a newer version, are not final on the chain yet, or are too large.`,
    );
  if (removedFiles > 0)
    lines.push(`${count(removedFiles)} earlier files with nothing left in them were removed.`);
  return lines.join('\n');
}
