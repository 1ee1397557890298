/** Settings for where data, files and the master key are stored. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseBlobUrl } from './blob-url.ts';
import { serverUrls } from './database-url.ts';
import { countTo, type Field, type Given, optional, setting } from './setting.ts';

/** The key itself as text, or the file that contains it; `generated` marks the file that the first start creates. */
export type MasterKeySource = { text: string } | { file: string; generated: boolean };

/**
 * Has `.env` and, by default, the data, so that commands find the same ones from any working directory: the checkout. Compiled
 * code is that of an installed package, whose folder the next installation removes.
 */
export const settingsDir = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '../..')
  : join(homedir(), '.holdfast');

const dataDirOf = ({ text }: Given): string =>
  resolve(text('HOLDFAST_DATA_DIR') ?? join(settingsDir, 'data'));

const dataDir: Field<string> = {
  settings: [
    {
      name: 'HOLDFAST_DATA_DIR',
      default: 'data',
      about:
        'Where the embedded database and the master key are kept. The default lies beside `package.json`, or in `~/.holdfast` if Holdfast was installed as a package; a relative path starts at the working directory.',
    },
  ],
  read: dataDirOf,
};

const masterKey: Field<MasterKeySource> = {
  settings: [
    {
      name: 'HOLDFAST_MASTER_KEY',
      default: { words: 'none' },
      about:
        'The master key itself: 32 bytes as 64 hexadecimal digits or base64, or several versions as `1:KEY,2:KEY`. Not together with the next one.',
    },
    {
      name: 'HOLDFAST_MASTER_KEY_FILE',
      default: { words: '`master.key` in the data directory' },
      about:
        'A file with the master key. The default one is made at the first start; a file that you name must exist.',
    },
  ],
  read(given) {
    const key = given.text('HOLDFAST_MASTER_KEY');
    const file = given.text('HOLDFAST_MASTER_KEY_FILE');
    if (key !== null && file !== null)
      given.refuse('HOLDFAST_MASTER_KEY and HOLDFAST_MASTER_KEY_FILE are both set: use one of them.');
    if (key !== null) return { text: key };
    if (file === null) return { file: resolve(dataDirOf(given), 'master.key'), generated: true };
    if (!existsSync(file)) given.fault('HOLDFAST_MASTER_KEY_FILE', 'there is no such file');
    return { file: resolve(file), generated: false };
  },
};

export const dataSettings = {
  dataDir,
  /** null: embedded PostgreSQL under dataDir. */
  databaseUrl: optional({
    name: 'DATABASE_URL',
    default: { words: 'none: embedded PostgreSQL' },
    about:
      'A PostgreSQL server of your own, as `postgres://USER:PASSWORD@HOST:PORT/DATABASE` or `postgresql://…`. With several hosts, as `HOST:PORT,HOST:PORT`, the one that takes writes is used.',
    secret: true,
    expected: 'postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    parse: (text) => (serverUrls(text) === null ? undefined : text),
  }),
  masterKey,
  /** Where the bytes of files are stored, encrypted. */
  blobs: optional(
    {
      name: 'HOLDFAST_BLOB_URL',
      default: { words: '`blobs` in the data directory' },
      about:
        'Where the bytes of files are kept: `s3://BUCKET/PREFIX?region=R&endpoint=URL` or `file:///DIRECTORY`.',
      see: '[The blob store](#the-blob-store)',
      secret: true,
      expected:
        's3://BUCKET/PREFIX?region=REGION&endpoint=https://HOST or file:///DIRECTORY. Credentials do not belong there: the AWS SDK finds them in the environment or its own files',
      parse: (text) => parseBlobUrl(text) ?? undefined,
    },
    (given) => ({ kind: 'disk' as const, dir: join(dataDirOf(given), 'blobs') }),
  ),
  /** Where the log of the embedded database is archived, with base backups; null: nowhere. */
  walArchiveDir: {
    settings: [
      {
        name: 'HOLDFAST_WAL_ARCHIVE_DIR',
        default: { words: 'none' },
        about:
          'A directory, best on another disk, where the log of the embedded database is archived and a base backup is made every few days, so that any moment of the last weeks can be restored.',
        see: '[Restoring a moment](backup.md#restoring-a-moment)',
      },
    ],
    read(given) {
      const dir = given.text('HOLDFAST_WAL_ARCHIVE_DIR');
      if (dir !== null && given.text('DATABASE_URL') !== null)
        given.refuse(
          'HOLDFAST_WAL_ARCHIVE_DIR is for the embedded database, but DATABASE_URL names a server of your own: archive its log with its own means, and unset HOLDFAST_WAL_ARCHIVE_DIR.',
        );
      return dir === null ? null : resolve(dir);
    },
  } satisfies Field<string | null>,
  /** How long base backups and the archived log are kept, and the operator keeps other backups. */
  backupRetentionDays: setting({
    name: 'HOLDFAST_BACKUP_RETENTION_DAYS',
    default: '30',
    about:
      'For how many days base backups and the archived log are kept. When something is erased, the answer tells by this when the last copy is gone. Other backups are not deleted by Holdfast: remove them yourself by then.',
    see: '[Erasure](files.md#erasure)',
    ...countTo(3650),
  }),
  /** The largest file that is accepted. */
  maxFileBytes: setting({
    name: 'HOLDFAST_MAX_FILE_BYTES',
    default: '5368709120',
    about: 'The largest file that is taken, in bytes. A larger one gets 413.',
    ...countTo(1024 ** 4),
  }),
};
