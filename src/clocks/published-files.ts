/** Certificates and lists of revoked certificates, fetched from where their issuers publish them, and kept for a while. */

import { type GuardedRequests, RequestFault } from '../egress/guarded-request.ts';
import { readCertificates } from '../proof/rfc3161/certificates.ts';
import { readCrlEnd } from './judge-thread.ts';

export interface PublishedFiles {
  /** The certificate in DER. */
  certificate(url: string, given: FetchOptions): Promise<Uint8Array | RequestFault>;
  crl(url: string, given: FetchOptions): Promise<Uint8Array | RequestFault>;
}

export interface FetchOptions {
  /** The file may be on this machine. */
  isLocal: boolean;
  signal?: AbortSignal | undefined;
}

export interface PublishedFilesDeps {
  requests: GuardedRequests;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Throws when it is something else. */
type ReadPublished = (bytes: Uint8Array) => Promise<{ file: Uint8Array; endsAt?: number | undefined }>;

interface Kept {
  file: Uint8Array | RequestFault;
  until: number;
}

const timeoutMs = 5_000;
const maxCertificateBytes = 16_384;
const maxCrlBytes = 1_048_576;
const longestMs = 6 * 3_600_000;
/** A server that is away is not asked again for every token. */
const faultMs = 600_000;
/** The URLs are named by certificates that may not be trusted. */
const mostKept = 64;

export function createPublishedFiles({ requests, now }: PublishedFilesDeps): PublishedFiles {
  const kept = new Map<string, Kept>();

  async function get(
    url: string,
    { isLocal, signal }: FetchOptions,
    read: ReadPublished,
    maxBytes: number,
  ): Promise<Uint8Array | RequestFault> {
    const key = `${isLocal} ${maxBytes} ${url}`;
    const known = kept.get(key);
    if (known && now() < known.until) return known.file;
    const fetched = await fetchAs(read, { url, timeoutMs, maxBytes, isLocal, isSigned: true, signal });
    if (signal?.aborted) return fetched.file;
    kept.delete(key);
    kept.set(key, fetched);
    for (const oldest of kept.keys()) if (kept.size > mostKept) kept.delete(oldest);
    return fetched.file;
  }

  async function fetchAs(read: ReadPublished, asked: Parameters<GuardedRequests['send']>[0]): Promise<Kept> {
    try {
      const { file, endsAt = Number.POSITIVE_INFINITY } = await read((await requests.send(asked)).bytes);
      // One that has ended is asked for again soon.
      const ends = endsAt > now() ? endsAt : now() + faultMs;
      return { file, until: Math.min(ends, now() + longestMs) };
    } catch (error) {
      const fault =
        error instanceof RequestFault ? error : new RequestFault(`sent something else: ${messageOf(error)}`);
      return { file: fault, until: now() + faultMs };
    }
  }

  return {
    certificate: (url, given) =>
      get(
        url,
        given,
        async (bytes) => {
          const [first] = readCertificates(bytes);
          return { file: first?.bytes ?? bytes };
        },
        maxCertificateBytes,
      ),
    crl: (url, given) =>
      get(url, given, async (bytes) => ({ file: bytes, endsAt: await readCrlEnd(bytes) }), maxCrlBytes),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
