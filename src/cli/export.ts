/** `holdfast export`: what a key may read of its workspace, in a folder: data, files, proofs and histories. */
import { type Command, InvalidArgumentError } from 'commander';
import { profileOption, urlOption } from './connection.ts';
import type { ExportOptions } from './export-workspace.ts';

export function addExportCommand(program: Command): void {
  program
    .command('export')
    .description('save records, files, assets, proofs and histories of a workspace in a folder, over HTTP')
    .requiredOption('--out <folder>', 'a new folder, or one in which an export was interrupted')
    .option('--give-up-after <seconds>', 'how long the service may be away', parseSeconds, 300)
    .option(...urlOption)
    .option(...profileOption)
    .option('--json', 'print {out, records, files, assets, maintenances, missing, complete, stopped}')
    .addHelpText(
      'after',
      `
What the key may not read, was erased or is not confirmed yet is listed with its reason in missing.jsonl. Run the same command
again to continue. Exit code 0: the export is complete, apart from what is listed there.`,
    )
    .action(async (options: ExportOptions) => {
      const { exportWorkspace } = await import('./export-workspace.ts');
      await exportWorkspace(options);
    });
}

function parseSeconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number of seconds.');
}
