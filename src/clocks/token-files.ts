/** Finds what a token lacks: certificates on the way to a trusted root, and lists of revoked certificates. */

import { RequestFault } from '../egress/guarded-request.ts';
import { type TimestampAnchor, timestampLimits } from '../proof/rfc3161/anchor.ts';
import type { TrustAnchor } from '../proof/rfc3161/certificates.ts';
import { timestampNeeds } from '../proof/rfc3161/exchange.ts';
import type { FetchOptions, PublishedFiles } from './published-files.ts';

export interface FileSearch {
  files: PublishedFiles;
  roots: readonly TrustAnchor[];
  options: FetchOptions;
}

/** More than any authority has between its signer and its root. */
const mostFetched = 4;

/** The certificates of the path that the token lacks; and why some could not be fetched. */
export async function findCertificates(
  { files, roots, options }: FileSearch,
  token: Uint8Array,
): Promise<{ certificates: Uint8Array[]; faults: string[] }> {
  const fetched: Uint8Array[] = [];
  const faults: string[] = [];
  for (;;) {
    const anchor = anchorOf({ token, certificates: fetched, crls: [] });
    const needs = await timestampNeeds(anchor, { roots });
    if (!needs || needs.isComplete) return { certificates: needs?.certificates ?? [], faults };
    const known = fetched.length;
    for (const url of known < mostFetched ? needs.issuerUrls.slice(0, mostFetched) : []) {
      const found = await files.certificate(url, options);
      if (found instanceof RequestFault) {
        faults.push(`The next certificate is missing: ${url} ${found.message}.`);
        continue;
      }
      if (!fetched.some((one) => Buffer.compare(one, found) === 0)) fetched.push(found);
      break;
    }
    if (fetched.length === known) return { certificates: fetched, faults };
  }
}

/** One list for each certificate of the path, as far as there is any; a missing one is no fault. */
export async function findCrls(
  { files, roots, options }: FileSearch,
  anchor: TimestampAnchor,
): Promise<{ crls: Uint8Array[]; missing: string[] }> {
  const needs = await timestampNeeds(anchor, { roots });
  const lists = await Promise.all(
    (needs?.crls ?? []).map(async ({ name, urls }) => {
      const faults: string[] = [];
      for (const url of urls.slice(0, mostFetched)) {
        const found = await files.crl(url, options);
        if (!(found instanceof RequestFault)) return { crl: found };
        faults.push(`${url} ${found.message}`);
      }
      const why = faults.length > 0 ? faults.join('; ') : 'none is published';
      return { missing: `There is no list for ${name}: ${why}.` };
    }),
  );
  const crls = lists.flatMap(({ crl }) => crl ?? []);
  return {
    crls: crls
      .filter((crl, place) => crls.findIndex((other) => Buffer.compare(other, crl) === 0) === place)
      .slice(0, timestampLimits.crls),
    missing: lists.flatMap(({ missing }) => missing ?? []),
  };
}

export function anchorOf({
  token,
  certificates,
  crls,
}: {
  token: Uint8Array;
  certificates: Uint8Array[];
  crls: Uint8Array[];
}): TimestampAnchor {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  return {
    type: 'rfc3161',
    token: base64(token),
    certificates: certificates.map(base64),
    crls: crls.map(base64),
  };
}
