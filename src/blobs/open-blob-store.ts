/** Opens the blob store that the settings name. */
import type { BlobConfig } from '../blob-url.ts';
import type { BlobStore } from './blob-store.ts';

export async function openBlobStore(config: BlobConfig): Promise<BlobStore> {
  // Loaded only when it is used: the AWS SDK costs 20 MB and a third of a second.
  if (config.kind === 's3') return (await import('./s3-store.ts')).openS3Store(config);
  return (await import('./disk-store.ts')).openDiskStore(config.dir);
}
