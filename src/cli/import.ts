/** `holdfast import`: brings many things into a service over HTTP, and continues after any interruption. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { inputFormats } from '../bulk/rows.ts';
import { profileOption, urlOption } from './connection.ts';
import type { FileOptions } from './import-files.ts';
import type { RecordOptions } from './import-records.ts';

export function addImportCommand(program: Command): void {
  const group = program
    .command('import')
    .description('bring records and files into a service over HTTP, and continue after any interruption');
  const records = group
    .command('records')
    .description('import records from a CSV file or from JSON Lines')
    .argument('<file>', 'the input; CSV by RFC 4180 with the names of columns in its first row, in UTF-8')
    .requiredOption('--vault <address>', 'the vault that gets them', parseAddress)
    .addOption(
      new Option('--format <format>', 'default: by the ending of the name').choices([...inputFormats]),
    )
    .option('--delimiter <character>', 'between the columns of CSV, or tab', parseDelimiter, ',')
    .option(
      '--map <column=path>',
      'where a column goes: "Serial No=serial", "Pallets=load.pallets:number", "Note=" (left out); types: string, number, boolean, json',
      (text: string, before: string[]) => [...before, text],
      [],
    )
    .option('--external-id <path>', 'member of the data that is also your own id for the record')
    .option(
      '--data-only',
      'each line of JSON Lines is the data itself, and not {"data": …, "externalId": …}',
    );
  addShared(records).action(async (file: string, options: RecordOptions) => {
    const { importRecords } = await import('./import-records.ts');
    await importRecords(file, options);
  });
  addFiles(group);
}

function addFiles(group: Command): void {
  const files = group
    .command('files')
    .description('import the files of a folder and of the folders inside it')
    .argument('<folder>', 'links in it are not followed')
    .requiredOption('--vault <address>', 'the vault that gets them', parseAddress)
    .option('--hidden', 'also files and folders whose names begin with a dot');
  addShared(files).action(async (folder: string, options: FileOptions) => {
    const { importFiles } = await import('./import-files.ts');
    await importFiles(folder, options);
  });
}

function addShared(command: Command): Command {
  return command
    .option('--dry-run', 'check every row, and send none')
    .option(
      '--report <file>',
      'write what became of each row, as CSV if the name ends in .csv, else as JSON Lines',
    )
    .option('--state <folder>', 'keep the journal there instead of beside the input')
    .option('--concurrency <number>', 'requests at a time, at most 16', parseConcurrency, 4)
    .option('--give-up-after <seconds>', 'how long the service may be away', parseSeconds, 300)
    .option('--resend-unknown', 'send again what was sent a day ago and never answered')
    .option(...urlOption)
    .option(...profileOption)
    .option(
      '--json',
      'print {input, created, valid, refused, skipped, unknown, not_sent, complete, stopped, …}',
    )
    .addHelpText(
      'after',
      `
Exit code 0: all went in, or are valid in a dry run. Run the same command again to continue an import: nothing is made twice.`,
    );
}

function parseAddress(text: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return text;
  throw new InvalidArgumentError('Give the address of a vault, 0x followed by 40 hexadecimal digits.');
}

function parseDelimiter(text: string): string {
  if (text === 'tab' || /^[\t\x20\x21\x23-\x2f\x3a-\x40|;]$/.test(text)) return text;
  throw new InvalidArgumentError('Give one character, such as ";", or tab.');
}

function parseConcurrency(text: string): number {
  if (/^([1-9]|1[0-6])$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number from 1 to 16.');
}

function parseSeconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number of seconds.');
}
