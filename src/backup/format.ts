/** The format of a backup: the members of the archive, and what its manifest says about them. */
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { OperatorError } from '../runtime/errors.ts';

export const backupFormat = 'holdfast/backup@1';

/** A tar needs the size before the bytes: long content is cut into pieces that are held in memory one at a time. */
export const pieceBytes = 8 * 1024 * 1024;
/** Up to this size, work on a piece takes less time than the way to another thread and back. */
export const smallBytes = 256 * 1024;
/** The list of blobs is written after every so many blobs, so that a verifier need not remember them all. */
export const blobsPerList = 1_000;

/** The first member identifies the format; the last two describe all other members, and authenticate that description. */
export const formatMember = 'format.json';
export const manifestMember = 'manifest.json';
export const sealMember = 'manifest.seal.json';

/** The schema's record of migrations is not loaded: the migrations themselves write it. */
export const migrationsTable = 'schema_migrations';

const count = Type.Integer({ minimum: 0 });
const digest = {
  pieces: count,
  /** Before compression. */
  bytes: count,
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
};
const name = Type.String({ pattern: '^[a-z_][a-z0-9_]{0,62}$' });

const partition = Type.Object({
  name,
  /** As PostgreSQL prints it. */
  bound: Type.String({ maxLength: 1_000 }),
  options: Type.Array(Type.String({ pattern: '^[a-z_]+=[a-z0-9_.]+$' })),
});

const table = Type.Object({
  name,
  columns: Type.Array(name, { minItems: 1 }),
  partitions: Type.Array(partition),
  rows: count,
  ...digest,
});

const manifest = Type.Object({
  format: Type.Literal(backupFormat),
  createdAt: Type.String(),
  madeBy: Type.String(),
  /** Names of the migrations that the database had, in order. */
  migrations: Type.Array(Type.String(), { minItems: 1 }),
  /** Versions of the master keys that seal its secrets. */
  masterKeys: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1 }),
  /** For information: the chain used for anchoring. The embedded chain is in the tables. */
  chain: Type.Union([
    Type.Null(),
    Type.Object({ chainId: count, genesisHash: Type.String(), embedded: Type.Boolean() }),
  ]),
  tables: Type.Array(table),
  sequences: Type.Array(
    Type.Object({ name, value: Type.String({ pattern: '^-?\\d+$' }), called: Type.Boolean() }),
  ),
  blobs: Type.Object({
    count,
    bytes: count,
    /** Their content was erased while the backup was made: the restore must erase them, too. */
    erased: count,
    /** Missing in the store. */
    missing: count,
    /** Covers the text of all lists of blobs. */
    lists: Type.Object({ count, sha256: digest.sha256 }),
  }),
});

const listedBlob = Type.Union([
  Type.Object({ name: Type.String(), ...digest }),
  Type.Object({ name: Type.String(), erasedAt: Type.String() }),
  Type.Object({ name: Type.String(), missing: Type.Literal(true) }),
]);

const seal = Type.Object({ masterVersion: Type.Integer({ minimum: 1 }), hmacSha256: digest.sha256 });

export type Manifest = Static<typeof manifest>;
export type TableEntry = Static<typeof table>;
export type Partition = Static<typeof partition>;
/** One line of a list of blobs. */
export type ListedBlob = Static<typeof listedBlob>;
export type ManifestSeal = Static<typeof seal>;

export function parseManifest(text: string): Manifest {
  return parse(manifest, text, manifestMember);
}

export function parseSeal(text: string): ManifestSeal {
  return parse(seal, text, sealMember);
}

export function parseList(text: string): ListedBlob[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => parse(listedBlob, line, 'a list of blobs'));
}

/** Also recognises formats that this version does not know. */
export function requireFormat(text: string, expected: string): void {
  const { format } = parse(Type.Object({ format: Type.String() }), text, formatMember);
  if (format === expected) return;
  throw new OperatorError(
    `The archive has the format ${JSON.stringify(format)}, but this version reads only ${expected}. Restore it with the version of Holdfast that made it, or a newer one.`,
  );
}

/** The archive differs from what was written. None of it may be used. */
export function damaged(what: string, cause?: unknown): OperatorError {
  return new OperatorError(
    `The archive is damaged or cut off: ${what}. Nothing was restored from it: use another copy, or another backup.`,
    { cause },
  );
}

export const tableMember = (name: string): string => `tables/${name}`;
export const blobMember = (name: string): string => `blobs/${name}`;
export const listMember = (number: number): string => `lists/${String(number).padStart(6, '0')}`;

/** The kind of a member, and its name within that kind. */
export function kindOf(member: string): { kind: 'table' | 'blob' | 'list' | 'file'; name: string } {
  const [, folder = '', rest = ''] = /^(tables|blobs|lists)\/(.+)$/.exec(member) ?? [];
  const kind = ({ tables: 'table', blobs: 'blob', lists: 'list' } as const)[folder] ?? 'file';
  return { kind, name: kind === 'file' ? member : rest };
}

export function parse<S extends TSchema>(schema: S, text: string, what: string): Static<S> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw damaged(`${what} is not JSON`, error);
  }
  if (!Value.Check(schema, value)) throw damaged(`${what} does not have the expected structure`);
  return value as Static<S>;
}
