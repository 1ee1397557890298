/** Opens the blob store named by the settings. */
import type { BlobConfig } from '../config/blob-url.ts';
import type { BlobStore } from './blob-store.ts';

export async function openBlobStore(config: BlobConfig): Promise<BlobStore> {
  // Loaded only when needed: the AWS SDK takes 31 MB and 0.16 s of processor time.
  if (config.kind === 's3') return (await import('./s3-store.ts')).openS3Store(config);
  return (await import('./disk-store.ts')).openDiskStore(config.dir);
}
