/** Parses the setting that says where the bytes of files are stored. */
import { fileURLToPath } from 'node:url';

export type BlobConfig = { kind: 'disk'; dir: string } | S3BlobConfig;

export interface S3BlobConfig {
  kind: 's3';
  bucket: string;
  /** Prepended to every name, without a trailing slash; may be empty. */
  prefix: string;
  /** null: Amazon's endpoint in the region. */
  endpoint: string | null;
  region: string;
}

/** `s3://BUCKET/PREFIX?region=R&endpoint=URL` or `file:///DIRECTORY`; null when it is not a valid blob store. */
export function parseBlobUrl(text: string): BlobConfig | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || url.username || url.password || url.hash) return null;
  return url.protocol === 'file:' ? parseFileUrl(url) : parseS3Url(url);
}

function parseFileUrl(url: URL): BlobConfig | null {
  if (url.search !== '' || url.pathname === '/') return null;
  try {
    return { kind: 'disk', dir: fileURLToPath(url) };
  } catch {
    return null;
  }
}

function parseS3Url({ protocol, host, pathname, searchParams }: URL): BlobConfig | null {
  const prefix = pathname.replace(/^\/+|\/+$/g, '');
  const endpoint = searchParams.get('endpoint');
  const known = [...searchParams.keys()].every((name) => name === 'endpoint' || name === 'region');
  if (protocol !== 's3:' || !known || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(host)) return null;
  if (!/^([\w.-]+(\/[\w.-]+)*)?$/.test(prefix)) return null;
  if (endpoint !== null && !isPlainHttp(endpoint)) return null;
  return { kind: 's3', bucket: host, prefix, endpoint, region: searchParams.get('region') || 'us-east-1' };
}

function isPlainHttp(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && !username && !search && !hash;
}
