/** `holdfast evidence`: writes the evidence for one version as a ZIP archive that others can check without us. */
import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { PackageRequest } from '../holdings/evidence-package/evidence-packages.ts';
import { OperatorError } from '../runtime/errors.ts';
import { type CommandContext, callerFor, explain, print, withStore, workspaceOption } from './command.ts';

interface Options {
  out: string;
  version?: number;
  kind?: PackageRequest['kind'];
  workspace?: string;
  json?: boolean;
}

const kinds: Record<string, PackageRequest['kind']> = { fil: 'file', rec: 'record' };

export function addEvidenceCommands(program: Command): void {
  const evidence = program.command('evidence').description('write evidence for others to check');
  evidence
    .command('export')
    .description('write content, proof, timestamps and how to check them to one ZIP archive')
    .argument('<id>', 'a file or a record, such as fil_… or rec_…')
    .requiredOption('--out <file>', 'the archive to write; must not exist yet')
    .option('--version <number>', 'which version (default: the newest)', parseVersion)
    .addOption(
      new Option('--kind <kind>', 'what the id is of, if the id does not say it').choices(
        Object.values(kinds),
      ),
    )
    .option(...workspaceOption)
    .option('--json', 'print {file, bytes, kind, id, version}')
    .action((id: string, options: Options) => withStore((context) => exportEvidence(context, id, options)));
}

async function exportEvidence(context: CommandContext, id: string, options: Options): Promise<void> {
  const kind = options.kind ?? kinds[id.split('_')[0] ?? ''];
  if (kind === undefined) {
    throw new OperatorError(
      `${id} is neither a file nor a record. Give its kind: --kind file or --kind record.`,
    );
  }
  const { workspaceId } = await callerFor(context.store, options);
  const file = resolve(options.out);
  const { packages, close } = await openPackages(context);
  try {
    const verifyUrl = `${publicUrlOf(context)}/verify`;
    const request = { workspaceId, kind, id, version: options.version, verifyUrl };
    const { version, stream } = await packages.open(request).catch(explain);
    await writeNew(file, stream);
    const { size: bytes } = await stat(file);
    print(
      options,
      { file, bytes, kind, id, version },
      `Wrote version ${version} of the ${kind} ${id} to ${file} (${bytes} bytes). README.txt in it says how to check it.`,
    );
  } finally {
    await close();
  }
}

/** Never replaces a file, and leaves no part of one behind. */
async function writeNew(file: string, stream: NodeJS.ReadableStream): Promise<void> {
  let isOurs = false;
  const out = createWriteStream(file, { flags: 'wx' }).on('open', () => {
    isOurs = true;
  });
  try {
    await pipeline(stream, out);
  } catch (error) {
    if (isOurs) await rm(file, { force: true });
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new OperatorError(`${file} already exists.`);
    throw error;
  }
}

/** The parts of the service that a package needs. */
async function openPackages({ config, store }: CommandContext) {
  // Imported here so that other commands start faster.
  const [
    keys,
    openStore,
    blobs,
    thread,
    archives,
    proofs,
    documents,
    contents,
    certificates,
    roots,
    packages,
  ] = await Promise.all([
    import('../keys/keyring.ts'),
    import('../blobs/open-blob-store.ts'),
    import('../blobs/blobs.ts'),
    import('../anchoring/batching/batch-thread.ts'),
    import('../anchoring/archive/archive.ts'),
    import('../anchoring/proofs.ts'),
    import('../pdf/document-thread.ts'),
    import('../holdings/files/file-content.ts'),
    import('../holdings/certificates/certificates.ts'),
    import('../holdings/certificates/operator-roots.ts'),
    import('../holdings/evidence-package/evidence-packages.ts'),
  ]);
  await using opened = new AsyncDisposableStack();
  const { db, pool } = store.database;
  const keyring = await keys.openKeyring({ db, source: config.masterKey });
  opened.defer(() => void keyring.close());
  const blobStore = await openStore.openBlobStore(config.blobs);
  opened.defer(async () => void (await blobStore.close()));
  const batchThread = thread.createBatchThread();
  opened.defer(() => batchThread.close());
  const documentThread = documents.createDocumentThread(
    new URL('../maintenance/dossier/documents.thread.ts', import.meta.url),
  );
  opened.defer(() => documentThread.close());
  const operatorRoots = roots.readOperatorRoots(config.clocks.rootsFile);
  const openedBlobs = blobs.createBlobs({ db, keyring, store: blobStore });
  const archive = archives.createArchive({ db, blobs: openedBlobs });
  const madeProofs = proofs.createProofs({ db, thread: batchThread, archive });
  const common = { db, pool, proofs: madeProofs };
  const toClose = opened.move();
  return {
    packages: packages.createEvidencePackages({
      ...{ ...common, archive, operatorRoots },
      fileContents: contents.createFileContents({
        pool,
        blobs: openedBlobs,
      }),
      certificates: certificates.createCertificates({
        ...{ ...common, documents: documentThread },
        operatorRoots: operatorRoots.map(({ anchor }) => anchor),
      }),
    }),
    close: () => toClose.disposeAsync(),
  };
}

/** Where the service is reached, as far as the settings say. */
function publicUrlOf({ config }: CommandContext): string {
  return config.publicUrl ?? `http://localhost:${config.port}`;
}

function parseVersion(text: string): number {
  const version = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(version)) throw new InvalidArgumentError('Give the number of a version, from 1 on.');
  return version;
}
