/** The blob store in a bucket of any S3-compatible service; credentials come from the AWS SDK's default provider chain. */

import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { S3BlobConfig } from '../config/blob-url.ts';
import { BlobMissing, type BlobStore, type ByteRange, StoreFailed } from './blob-store.ts';
import { checkName, journalFolder, markerName } from './object-names.ts';
import { sourceOf } from './source.ts';

/** S3 accepts up to 10,000 parts: 80 GB. An upload holds about two of them in memory. */
const partBytes = 8 << 20;
const partsAtOnce = 2;

export function openS3Store({ bucket, prefix, endpoint, region }: S3BlobConfig): BlobStore {
  const client = new S3Client({
    region,
    // Other vendors' services, and buckets with dots in their names, have no host name per bucket.
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    // Not every service supports trailing checksums, and every chunk has an authentication tag anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const base = prefix === '' ? '' : `${prefix}/`;
  const at = (name: string) => ({ Bucket: bucket, Key: base + checkName(name) });
  const remove = async (name: string) => {
    await client.send(new DeleteObjectCommand(at(name))).catch(refuse('remove'));
  };

  return {
    async put(name, bytes, options) {
      const source = sourceOf(bytes, options);
      try {
        await new Upload({
          client,
          params: { ...at(name), Body: Readable.from(source.bytes), ContentType: 'application/octet-stream' },
          partSize: partBytes,
          queueSize: partsAtOnce,
        }).done();
        return { bytes: source.count() };
      } catch (error) {
        // The response may have been lost after the object was stored.
        await remove(name).catch(() => {});
        throw source.blame(error);
      }
    },
    get: (name, range) => readFrom(client, { ...at(name), range, name }),
    remove,
    async *list(folder) {
      const wanted = folder === undefined ? base : `${base}${checkName(folder)}/`;
      for (let token: string | undefined, more = true; more; ) {
        const page: ListObjectsV2CommandOutput = await client
          .send(new ListObjectsV2Command({ Bucket: bucket, Prefix: wanted, ContinuationToken: token }))
          .catch(refuse('list'));
        for (const { Key = '', Size = 0, LastModified = new Date() } of page.Contents ?? []) {
          const name = Key.slice(base.length);
          if (name === markerName || (folder === undefined && name.startsWith(`${journalFolder}/`))) continue;
          yield { name, bytes: Size, modifiedAt: LastModified };
        }
        token = page.NextContinuationToken;
        more = token !== undefined;
      }
    },
    async removeUnfinished(olderThanMs) {
      let removed = 0;
      try {
        for await (const { Key, UploadId, Initiated = new Date() } of unfinished(client, { bucket, base })) {
          if (Date.now() - Initiated.getTime() < olderThanMs) continue;
          await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
          removed += 1;
        }
      } catch (error) {
        // Some services cannot list them, and clean up by themselves.
        if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 501) return removed;
        throw new StoreFailed('list unfinished uploads', error);
      }
      return removed;
    },
    close: async () => client.destroy(),
  };
}

async function* unfinished(client: S3Client, { bucket, base }: { bucket: string; base: string }) {
  let after: Pick<ListMultipartUploadsCommandOutput, 'NextKeyMarker' | 'NextUploadIdMarker'> = {};
  for (let more = true; more; ) {
    const page: ListMultipartUploadsCommandOutput = await client.send(
      new ListMultipartUploadsCommand({
        Bucket: bucket,
        Prefix: base,
        KeyMarker: after.NextKeyMarker,
        UploadIdMarker: after.NextUploadIdMarker,
      }),
    );
    yield* page.Uploads ?? [];
    after = page;
    more = page.IsTruncated === true;
  }
}

async function* readFrom(
  client: S3Client,
  { name, range, ...at }: { Bucket: string; Key: string; name: string; range: ByteRange | undefined },
): AsyncIterable<Uint8Array> {
  if (range && range.end <= range.start) return;
  try {
    const { Body } = await client.send(
      new GetObjectCommand({ ...at, ...(range && { Range: `bytes=${range.start}-${range.end - 1}` }) }),
    );
    yield* Body as Readable;
  } catch (error) {
    const code = error instanceof S3ServiceException ? error.name : '';
    if (code === 'NoSuchKey' || code === 'NotFound') throw new BlobMissing(name);
    // There is nothing after the object's end.
    if (code === 'InvalidRange') return;
    throw new StoreFailed('read', error);
  }
}

function refuse(what: string): (error: unknown) => never {
  return (error) => {
    throw new StoreFailed(what, error);
  };
}
