/** Files: a vault's bytes or their hash, in versions; each can be anchored, transferred, proved, and erased on request. */
import type { Pool } from 'pg';
import { auditWrite } from '../../access/audit/audit.ts';
import type { HistoryProofs, HistoryStretch } from '../../anchoring/history-proofs.ts';
import type { Proofs } from '../../anchoring/proofs.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { refuseDuringTransfer } from '../transfers/transfers.ts';
import { holdActiveVault } from '../vaults/held-vault.ts';
import type { Vaults } from '../vaults/vaults.ts';
import { type FileHistoryItem, type HistoryPage, listHistory, proveHistory } from './file-history.ts';
import {
  checkFileName,
  checkMediaType,
  type Expiration,
  readExpiration,
  unknownMediaType,
} from './file-input.ts';
import { type FilePage, type FileQuery, listFiles } from './file-list.ts';
import {
  type FileContentInput,
  firstFileVersion,
  type HashOnly,
  holdFile,
  nextFileVersion,
  type StoredContent,
} from './file-versions.ts';
import { type FileVersion, findDigest, findFile, findFileVersions } from './files.store.ts';

export interface Files {
  /** `also`: rows to commit with the file. Settles the blob, also on failure. */
  create(caller: Caller, input: NewFile, also: (file: FileVersion) => Write[]): Promise<FileVersion>;
  addVersion(
    caller: Caller,
    input: NewFileVersion,
    also: (file: FileVersion) => Write[],
  ): Promise<FileVersion>;
  /** Throws AppError when a version cannot be added now; called before the bytes are read. */
  expectVersion(workspaceId: string, id: string): Promise<void>;
  list(
    workspaceId: string,
    query: Omit<FileQuery, 'vaultId'> & { vaultAddress?: string | undefined },
  ): Promise<FilePage>;
  get(workspaceId: string, id: string): Promise<FileVersion>;
  /** Newest first. */
  versions(
    workspaceId: string,
    id: string,
    page: { before: number | undefined; limit: number },
  ): Promise<FileVersion[]>;
  /** Everything that happened to the file, oldest first. */
  history(workspaceId: string, id: string, page: HistoryPage): Promise<FileHistoryItem[]>;
  /** The chain of its versions and transfers, up to the first one that is not confirmed. */
  historyProof(workspaceId: string, id: string, stretch: HistoryStretch): ReturnType<HistoryProofs['page']>;
  /** Default: the newest version. */
  proof(workspaceId: string, id: string, version?: number): Promise<Proof>;
}

/** As the caller gave it; only the form of the hash has been checked. */
interface FileInput {
  name?: string | undefined;
  mediaType?: string | undefined;
  expirationDate?: string | undefined;
  content: StoredContent | HashOnly;
}

export type NewFile = FileInput & { vaultAddress: string };

/** Name and media type default to those of the previous version; the vault, if given, must be the owner. */
export type NewFileVersion = FileInput & { id: string; vaultAddress?: string | undefined };

export interface FilesDeps {
  db: Db;
  pool: Pool;
  vaults: Pick<Vaults, 'get'>;
  proofs: Pick<Proofs, 'make'>;
  historyProofs: HistoryProofs;
}

export function createFiles(deps: FilesDeps): Files {
  const { db, pool, vaults, proofs, historyProofs } = deps;
  return {
    create: (caller, { vaultAddress, content, ...rest }, also) =>
      settling(content, async () => {
        const details = { name: '', mediaType: unknownMediaType, ...checked(rest) };
        const { workspaceId } = caller;
        return db.transaction().execute(async (db) => {
          const vault = await holdActiveVault(db, { workspaceId, address: vaultAddress });
          const made = await firstFileVersion(db, { workspaceId, vault }, { ...details, content });
          const { file } = made;
          const entry = {
            action: 'file.create',
            targetId: file.id,
            details: { vaultId: vault.id, name: file.name, contentHash: file.contentHash },
          } as const;
          await insertAll(db, [...made.writes, auditWrite(caller, entry), ...also(file)]);
          return file;
        });
      }),

    addVersion: (caller, { id, vaultAddress, content, ...rest }, also) =>
      settling(content, async () => {
        const details = checked(rest);
        const { workspaceId } = caller;
        const named = vaultAddress === undefined ? null : await vaults.get(workspaceId, vaultAddress);
        return db.transaction().execute(async (db) => {
          const held = await holdFile(db, { workspaceId, id });
          if (named !== null && named.id !== held.vault.id) {
            throw new AppError('conflict', `The file ${id} belongs to the vault ${held.vault.address}.`);
          }
          refuseDuringTransfer('file', id, held.transferId);
          await holdActiveVault(db, { workspaceId, address: held.vault.address });
          const input: FileContentInput = {
            name: held.name,
            mediaType: held.mediaType,
            ...details,
            content,
          };
          const made = await nextFileVersion(db, held, input);
          const { version, contentHash } = made.file;
          const entry = {
            action: 'file.add_version',
            targetId: id,
            details: { version, contentHash },
          } as const;
          await insertAll(db, [...made.writes, auditWrite(caller, entry), ...also(made.file)]);
          return made.file;
        });
      }),

    async expectVersion(workspaceId, id) {
      await db.transaction().execute(async (db) => {
        const { vault, transferId } = await holdFile(db, { workspaceId, id });
        refuseDuringTransfer('file', id, transferId);
        await holdActiveVault(db, { workspaceId, address: vault.address });
      });
    },

    async list(workspaceId, { vaultAddress, ...query }) {
      const vault = vaultAddress === undefined ? null : await vaults.get(workspaceId, vaultAddress);
      return listFiles(db, workspaceId, { ...query, vaultId: vault?.id });
    },

    get: (workspaceId, id) => findFile(pool, { workspaceId, id }),

    versions: (workspaceId, id, page) => findFileVersions(pool, { workspaceId, id }, page),

    history: (workspaceId, id, page) => listHistory({ pool, historyProofs }, { workspaceId, id }, page),

    historyProof: (workspaceId, id, stretch) =>
      proveHistory({ pool, historyProofs }, { workspaceId, id }, stretch),

    async proof(workspaceId, id, wanted) {
      const { version, contentHash, canonicalization } = await findDigest(pool, { workspaceId, id }, wanted);
      return proofs.make({
        workspaceId,
        kind: 'file',
        subjectId: id,
        version,
        content: { algorithm: 'sha-256', digest: contentHash, canonicalization, salt: null },
      });
    },
  };
}

/** Returns only members that were given, so that the others can be defaulted. */
function checked({ name, mediaType, expirationDate }: Omit<FileInput, 'content'>): {
  name?: string;
  mediaType?: string;
  expiration: Expiration | null;
} {
  return {
    ...(name !== undefined && name !== '' && { name: checkFileName(name) }),
    ...(mediaType !== undefined && { mediaType: checkMediaType(mediaType) }),
    expiration: expirationDate === undefined ? null : readExpiration(expirationDate, new Date()),
  };
}

async function settling<T>(content: StoredContent | HashOnly, work: () => Promise<T>): Promise<T> {
  if (!('blob' in content)) return work();
  try {
    const result = await work();
    await content.blob.settle('committed');
    return result;
  } catch (error) {
    await content.blob.settle('failed');
    throw error;
  }
}
