/** What sending to an endpoint needs beside its address: secrets, key pairs, its own headers and its client certificate. */
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Keyring } from '../../keys/keyring.ts';
import type { ClientCertificate } from './client-certificate.ts';
import type { EndpointSecrets, SecretOwner, SigningSecrets } from './endpoint-secrets.ts';
import type { OwnHeader } from './own-headers.ts';

export interface Sending extends SigningSecrets {
  headers: OwnHeader[];
  client: ClientCertificate | null;
}

/** The members of an endpoint whose values are sealed. `undefined`: unchanged; null: none. */
export interface SealedParts {
  headers?: OwnHeader[] | undefined;
  client?: ClientCertificate | null | undefined;
}

export interface EndpointSending {
  /** `endpoint`: its row, which says what there is. */
  open(
    owner: SecretOwner,
    endpoint: { ed25519: boolean; header_names: string[]; client_certificate: unknown },
  ): Promise<Sending>;
  /** Replaces what is sealed, within the caller's transaction. */
  save(db: Db, owner: SecretOwner, parts: SealedParts): Promise<void>;
}

const headersPurpose = 'webhook-headers';
const clientPurpose = 'webhook-client-certificate';

export function createEndpointSending({
  keyring,
  secrets,
}: {
  keyring: Keyring;
  secrets: EndpointSecrets;
}): EndpointSending {
  async function openPart<T>({ workspaceId, id }: SecretOwner, purpose: string): Promise<T> {
    const sealed = await keyring.open({ workspaceId, purpose, id });
    if (!sealed) throw new Error(`${purpose} of ${id} is missing`);
    return JSON.parse(sealed.toString()) as T;
  }

  async function replace(
    db: Db,
    { workspaceId, id }: SecretOwner,
    sealed: { purpose: string; value: unknown },
  ) {
    const { purpose, value } = sealed;
    await db
      .deleteFrom('secrets')
      .where('workspace_id', '=', workspaceId)
      .where('purpose', '=', purpose)
      .where('id', '=', id)
      .execute();
    if (value !== null)
      await insertAll(db, [keyring.seal({ workspaceId, purpose, id }, Buffer.from(JSON.stringify(value)))]);
  }

  return {
    async open(owner, endpoint) {
      const signing = await secrets.signing(owner, endpoint.ed25519);
      return {
        ...signing,
        headers: endpoint.header_names.length === 0 ? [] : await openPart<OwnHeader[]>(owner, headersPurpose),
        client: endpoint.client_certificate === null ? null : await openPart(owner, clientPurpose),
      };
    },
    async save(db, owner, { headers, client }) {
      if (headers !== undefined)
        await replace(db, owner, { purpose: headersPurpose, value: headers.length === 0 ? null : headers });
      if (client !== undefined) await replace(db, owner, { purpose: clientPurpose, value: client });
    },
  };
}
