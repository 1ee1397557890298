/** An S3 server on loopback for tests, with a bucket of its own. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3BlobConfig } from '../../../src/config/blob-url.ts';

export interface S3Server {
  config: S3BlobConfig;
  /** Parts of unfinished uploads. */
  unfinished(): Promise<string[]>;
  close(): Promise<void>;
}

interface Rver {
  middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[];
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

interface Context {
  method: string;
  query: Record<string, string>;
  status: number;
}

const bucket = 'evidence';

export async function startS3Server(): Promise<S3Server> {
  // The keys that the server knows; the SDK reads them like an operator's.
  const keys = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
  Object.assign(process.env, keys);
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-s3-'));
  // @ts-expect-error: it brings no types
  const { default: S3rver } = await import('@20minutes/s3rver');
  const server: Rver = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    // Its canonical form of a list query differs from the SDK's.
    allowMismatchedSignatures: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  // The server cannot abort a multipart upload, so this does it like S3.
  server.middleware.unshift(async (context, next) => {
    const { uploadId } = context.query;
    if (context.method !== 'DELETE' || uploadId === undefined) return next();
    await rm(join(directory, bucket, '._S3rver_uploads', uploadId), { recursive: true });
    context.status = 204;
  });
  const { port } = await server.run();
  return {
    config: {
      kind: 's3',
      bucket,
      prefix: 'holdfast/blobs',
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
    },
    async unfinished() {
      const entries = await readdir(join(directory, bucket), { recursive: true }).catch(() => []);
      return entries.filter((entry) => entry.startsWith('._S3rver_uploads/'));
    },
    async close() {
      await server.close();
      for (const name of Object.keys(keys)) delete process.env[name];
      await rm(directory, { recursive: true, force: true });
    },
  };
}
