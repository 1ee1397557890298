/** Statements about passkeys of a worker with fixed keys, each with its proof, for vectors. */
import type { Hex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { canonicalJson } from '../../../src/proof/canonical.ts';
import { recordDigest } from '../../../src/proof/content.ts';
import { fromHex, toHex, zeroHash } from '../../../src/proof/hex.ts';
import {
  type PasskeyDocument,
  type PasskeyRegistration,
  type PasskeyRevocation,
  registrationTypedData,
  type UnsignedRegistration,
} from '../../../src/proof/signoff/passkey-document.ts';
import { typedDataDigest } from '../../../src/proof/signoff/typed-data.ts';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { fixed, makeProofs, type Thing, utf8 } from '../fixtures/proof-fixture.ts';
import { firstBlock, vaultKeys } from './base-batches.ts';
import { asserted, type Made, type Passkey, rpId } from './passkey-assertions.ts';
import { worker, workspaceId } from './signoff-made.ts';

export const workerId = 'wrk_01M7EG19SH3FMASFKSTVVAKF4G';
export const vault = privateKeyToAccount(vaultKeys.first).address.toLowerCase() as Hex;
export const stranger = privateKeyToAccount(fixed(0x66));

export interface StatementLine {
  workerId: string;
  number: number;
  hash: Hex;
  salt: Hex;
  document: PasskeyDocument;
  proof: Proof | null;
}

/** Beside the usual: who signs, and what is other than usual. */
export interface Registering {
  number?: number;
  change?: object;
  /** The first one is signed by this key. */
  account?: PrivateKeyAccount;
  method?: 'own-key' | 'held-key';
  /** Later ones are signed by this passkey of that registration. */
  by?: { passkey: Passkey; of: Pick<StatementLine, 'number' | 'hash'> };
  made?: Made;
}

/** The registration of a passkey, signed. */
export async function registrationOf(
  passkey: Passkey,
  registering: Registering = {},
): Promise<PasskeyRegistration> {
  const { number = 1, change = {}, account = worker, method = 'own-key', by, made = {} } = registering;
  const unsigned = {
    format: 'holdfast/passkey-registration@1',
    ...{ workspaceId, workerId, workerAddress: worker.address, workerName: 'Zoë Åberg', number, vault },
    ...{ credentialId: passkey.credentialId, publicKey: passkey.publicKey, rpId },
    attestation: {
      format: 'none',
      aaguid: '00000000-0000-0000-0000-000000000000',
      object: '0xa0',
      clientDataJSON: '{}',
    },
    ...{ invitedBy: 'usr_1', invitedWith: null, registeredAt: '2026-11-15T01:00:00.000Z' },
    ...{ confirmedBy: 'usr_2', confirmedAt: '2026-11-15T01:10:00.000Z' },
    signedWith: { method: by ? 'passkey' : method },
    ...change,
  } as UnsignedRegistration;
  const digest = typedDataDigest(registrationTypedData(unsigned));
  const signed = by
    ? asserted(by.passkey, digest, { registration: { number: by.of.number, hash: by.of.hash }, ...made })
    : { signedWith: { method }, signature: await account.sign({ hash: toHex(digest) }) };
  return { receivedAt: '2026-11-15T01:10:00.500Z', ...unsigned, ...signed } as PasskeyRegistration;
}

export function revocationOf(
  { number, hash, document }: StatementLine,
  change: object = {},
): PasskeyRevocation {
  const { credentialId, workerName, workerAddress } = document;
  return {
    format: 'holdfast/passkey-revocation@1',
    ...{ workspaceId, workerId, workerAddress, workerName, number: number + 1, vault, credentialId },
    ...{ registration: { number, hash }, reason: 'Lost', revokedBy: { kind: 'user', id: 'usr_2' } },
    revokedAt: '2026-11-15T02:00:00.000Z',
    ...change,
  } as PasskeyRevocation;
}

/** What is anchored of a statement. */
export function thingOf(document: PasskeyDocument, change: Partial<Thing> = {}): Thing {
  const state = document.format === 'holdfast/passkey-registration@1' ? 'registered' : 'revoked';
  return {
    ...{ kind: 'passkey', id: document.workerId, version: document.number, key: vaultKeys.first },
    ...{ content: utf8(canonicalJson(document)), canonicalization: 'jcs', salt: fixed(0xa8) },
    claims: { worker: document.workerAddress, state },
    ...change,
  };
}

export interface Chain {
  lines: StatementLine[];
  add(document: PasskeyDocument, change?: Partial<Thing>): Promise<StatementLine>;
}

/** Each with a proof, following the one before, whatever the documents say. */
export function statementChain(): Chain {
  let previousLeaf = zeroHash;
  const lines: StatementLine[] = [];
  return {
    lines,
    async add(document, change = {}) {
      const thing = thingOf(document, { previousLeaf, ...change });
      const [made] = await makeProofs([thing], { ...firstBlock, sequence: lines.length + 1 });
      if (!made) throw new Error('the batch has one thing');
      previousLeaf = made.leaf;
      const salt = fixed(0xa8);
      const line = {
        ...{
          workerId: thing.id,
          number: Number(thing.version ?? 1),
          hash: recordDigest(fromHex(salt), document),
          salt,
        },
        ...{ document, proof: made.proof },
      };
      lines.push(line);
      return line;
    },
  };
}

export function textOf(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
