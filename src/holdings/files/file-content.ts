/** The content of files: the bytes of a version, and the name and type they are served with. */
import type { Pool } from 'pg';
import type { ByteRange } from '../../blobs/blob-store.ts';
import type { Blobs } from '../../blobs/blobs.ts';
import { AppError } from '../../runtime/errors.ts';

export interface FileContent {
  name: string;
  mediaType: string;
  size: number;
  /** SHA-256 of the bytes. */
  contentHash: Buffer;
  /** As the caller gave it; null when there is no expiry or it is in the future. */
  expired: string | null;
  /** The bytes or a part of them. An error at the start is thrown here, a later one while reading. */
  read(range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;
}

export interface FileContents {
  /**
   * Default: the newest version. Throws AppError resource_not_found, which says whether the file or the content is missing.
   */
  find(workspaceId: string, fileId: string, version?: number): Promise<FileContent>;
}

export function createFileContents({
  pool,
  blobs,
}: {
  pool: Pool;
  blobs: Pick<Blobs, 'read'>;
}): FileContents {
  return {
    async find(workspaceId, fileId, version) {
      const { rows } = await pool.query<ContentRow>({
        name: 'file-content',
        text: `select v.version, v.name, v.media_type, v.size, v.content_hash, v.blob_id, v.erased_at,
                      v.expiration_date, v.expires_at
               from files f
               left join file_versions v on v.workspace_id = f.workspace_id and v.file_id = f.id
                 and v.version = coalesce($3, f.version)
               where f.workspace_id = $1 and f.id = $2`,
        values: [workspaceId, fileId, version ?? null],
      });
      const [row] = rows;
      if (!row) throw notFound(`There is no file ${fileId}.`);
      if (row.version === null) throw notFound(`There is no version ${version} of the file ${fileId}.`);
      const what = `Version ${row.version} of the file ${fileId}`;
      const { blob_id: blobId, size } = row;
      if (blobId === null || size === null) {
        throw notFound(`${what} has no content to download: only its hash was given.`);
      }
      if (row.erased_at !== null) {
        throw notFound(`The content of version ${row.version} of the file ${fileId} was erased.`);
      }
      return {
        name: row.name,
        mediaType: row.media_type,
        size,
        contentHash: row.content_hash,
        expired: row.expires_at !== null && row.expires_at <= new Date() ? row.expiration_date : null,
        read: (range) => blobs.read({ workspaceId, blobId, size }, range),
      };
    },
  };
}

/** All columns are null when the file exists but the version does not. */
interface ContentRow {
  version: number | null;
  name: string;
  media_type: string;
  size: number | null;
  content_hash: Buffer;
  blob_id: string | null;
  erased_at: Date | null;
  expiration_date: string | null;
  expires_at: Date | null;
}

function notFound(message: string): AppError {
  return new AppError('resource_not_found', message);
}
