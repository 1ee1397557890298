/** Validations of files: requested with a hash, completed later by the leading node. */
import type { Pool } from 'pg';
import { auditWrite } from '../../../access/audit/audit.ts';
import type { Proofs } from '../../../anchoring/proofs.ts';
import { fromBytea } from '../../../db/bytea.ts';
import type { CommitTogether, Write } from '../../../db/writes.ts';
import type { Proof } from '../../../proof/verify/proof.ts';
import type { Caller } from '../../../runtime/caller.ts';
import { AppError } from '../../../runtime/errors.ts';
import { newId, timeOf } from '../../../runtime/ids.ts';
import type { Wakeup } from '../../../runtime/loop.ts';
import type { Vaults } from '../../vaults/vaults.ts';
import {
  type FileKey,
  type FileValidation,
  findTarget,
  findValidation,
  findValidations,
  type WholeValidation,
} from './file-validations.store.ts';

export interface FileValidations {
  /** `also`: rows to commit with the validation. */
  request(
    caller: Caller,
    asked: ValidationRequest,
    also: (validation: FileValidation) => Write[],
  ): Promise<FileValidation>;
  /** Newest first. */
  list(key: FileKey, page: { before: string | undefined; limit: number }): Promise<FileValidation[]>;
  get(key: FileKey, id: string): Promise<FileValidation>;
  /** Proof of the result itself, which is anchored, too. */
  proof(key: FileKey, id: string): Promise<Proof>;
}

export interface ValidationRequest {
  fileId: string;
  /** Default: the newest. */
  version?: number | undefined;
  /** The claimed owner of the file; default: the current owner. */
  vaultAddress?: string | undefined;
  presented: Presented;
}

/** What the caller claims the file to be: a hash, or the hash of uploaded bytes. */
export interface Presented {
  by: 'hash' | 'bytes';
  hash: Buffer;
}

export interface FileValidationsDeps {
  pool: Pool;
  commit: CommitTogether;
  vaults: Pick<Vaults, 'get'>;
  makeProof: Proofs['make'];
  /** Woken when there is a validation to carry out. */
  wakeup: Pick<Wakeup, 'wake'>;
}

export function createFileValidations(deps: FileValidationsDeps): FileValidations {
  const { pool, commit, vaults, makeProof, wakeup } = deps;

  async function find(
    workspaceId: string,
    { fileId, version, vaultAddress }: Omit<ValidationRequest, 'presented'>,
    by: Presented['by'],
  ): Promise<{ version: number; vaultId: string | null }> {
    const target = await findTarget(pool, { workspaceId, fileId }, version);
    if (!target) throw noFile(fileId);
    if (target.version === null) {
      throw new AppError('resource_not_found', `There is no version ${version} of the file ${fileId}.`);
    }
    if (by === 'bytes' && target.canonicalization === 'hmac-sha256') {
      throw new AppError(
        'conflict',
        `Version ${target.version} was given as an HMAC, and only its owner has the salt. Send the HMAC as contentHash instead of the bytes.`,
      );
    }
    const vaultId = vaultAddress === undefined ? null : (await vaults.get(workspaceId, vaultAddress)).id;
    return { version: target.version, vaultId };
  }

  async function getWhole(key: FileKey, id: string): Promise<WholeValidation> {
    const found = await findValidation(pool, key, id);
    if (!found) {
      throw new AppError('resource_not_found', `There is no validation ${id} of the file ${key.fileId}.`);
    }
    return found;
  }

  return {
    async request(caller, { presented, ...asked }, also) {
      const { workspaceId } = caller;
      const { fileId } = asked;
      const { version, vaultId } = await find(workspaceId, asked, presented.by);
      const id = newId('val');
      const validation: FileValidation = {
        id,
        fileId,
        version,
        status: 'pending',
        result: null,
        integrity: null,
        authenticity: null,
        ownership: null,
        validatedAt: null,
      };
      const details = { validationId: id, version, vaultId, by: presented.by };
      await commit([
        {
          table: 'file_validations',
          row: {
            workspace_id: workspaceId,
            id,
            file_id: fileId,
            file_version: version,
            presented_hash: presented.hash,
            vault_id: vaultId,
            created_at: timeOf(id),
          },
        },
        auditWrite(caller, { action: 'file.validate', targetId: fileId, details }),
        ...also(validation),
      ]);
      wakeup.wake();
      return validation;
    },

    async list(key, page) {
      const found = await findValidations(pool, key, page);
      // A file without validations has an empty list; a file that does not exist is an error.
      if (found.length === 0 && !(await findTarget(pool, key, undefined))) throw noFile(key.fileId);
      return found;
    },

    async get(key, id) {
      return (await getWhole(key, id)).validation;
    },

    async proof(key, id) {
      const { number, presentedHash, canonicalization } = await getWhole(key, id);
      if (number === null)
        throw new AppError(
          'conflict',
          `The validation ${id} has no result yet. Try again when it is completed.`,
        );
      return makeProof({
        workspaceId: key.workspaceId,
        kind: 'validation',
        subjectId: key.fileId,
        version: number,
        content: {
          algorithm: 'sha-256',
          digest: fromBytea(presentedHash),
          canonicalization,
          salt: null,
        },
      });
    },
  };
}

function noFile(id: string): AppError {
  return new AppError('resource_not_found', `There is no file ${id}.`);
}
