/** What callers may set of an endpoint beside its address, checked and turned into columns and sealed parts. */
import { type CertificateFacts, type ClientCertificate, readCertificate } from './client-certificate.ts';
import { compileFilter } from './event-filter.ts';
import { checkHeaders, type OwnHeader } from './own-headers.ts';
import type { SealedParts } from './sending.ts';

export interface EndpointOptions {
  filter: string | null;
  headers: OwnHeader[];
  clientCertificate: ClientCertificate | null;
}

export interface CheckedOptions {
  columns: {
    filter?: string | null;
    filter_path?: string | null;
    header_names?: string[];
    client_certificate?: CertificateFacts | null;
  };
  sealed: SealedParts;
  /** For the audit log: nothing that is secret. */
  details: object;
}

/** Members that are absent do not change. Throws errors for the caller. */
export async function checkOptions({
  filter,
  headers: given,
  clientCertificate: client,
}: Partial<EndpointOptions>): Promise<CheckedOptions> {
  const headers = given && checkHeaders(given);
  const names = headers?.map(({ name }) => name);
  const facts = client === undefined ? undefined : client && (await readCertificate(client));
  return {
    columns: {
      ...(filter !== undefined && { filter, filter_path: filter === null ? null : compileFilter(filter) }),
      ...(names && { header_names: names }),
      ...(facts !== undefined && { client_certificate: facts }),
    },
    sealed: { headers, client },
    details: {
      ...(filter !== undefined && { filter }),
      ...(names && { headerNames: names }),
      ...(facts !== undefined && { clientCertificate: facts }),
    },
  };
}
