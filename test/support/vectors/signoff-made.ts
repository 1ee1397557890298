/** Sign-offs of one worker with fixed keys, for vectors. */
import { privateKeyToAccount } from 'viem/accounts';
import { canonicalJson } from '../../../src/proof/canonical.ts';
import { toHex } from '../../../src/proof/hex.ts';
import type { SignoffDocument } from '../../../src/proof/signoff/signoff-document.ts';
import { signoffDigest, signoffMessage } from '../../../src/proof/signoff/signoff-message.ts';
import { fixed, makeProofs, type Thing, utf8 } from '../fixtures/proof-fixture.ts';
import { firstBlock, givenWith, vaultKeys } from './base-batches.ts';
import type { Unsigned } from './passkey-assertions.ts';
import { expect, type NamedVector, type Outcome } from './vector.ts';

export const worker = privateKeyToAccount(fixed(0x44));
export const workspaceId = 'ws_01M7EG10J2M7YBHBFEBJ52FMP4';
export const maintenanceId = 'mnt_01M7EG19SH3FMASFKSTVVAKF4G';
export const assetId = 'Pümp 7';

export const licence = {
  ...{ scope: 'engine/borescope', number: 'DK.66.1', authority: 'EASA', category: 'B1.1' },
  ...{ validFrom: '2021-07-01T00:00:00.000Z', expiresAt: null, suspendedAt: null },
};

export const release = {
  organisation: {
    ...{ name: 'Nordjet Teknik', address: 'Hangar 4, 1, 2300 København', authority: 'EASA, Denmark' },
    ...{ approvalNumber: 'DK.145.0042', regulation: 'Part-145' },
  },
  asset: { version: 3, name: 'Pümp', partNumber: 'P-7', serialNumber: '0417' },
};

export const unsigned: Unsigned = {
  format: 'holdfast/signoff@2',
  workspaceId,
  assetId,
  maintenanceId,
  maintenanceHash: fixed(0xab),
  role: 'certified',
  workerAddress: worker.address,
  workerName: 'Zoë Åberg',
  licence,
  signedAt: '2026-11-15T02:10:00.000Z',
  release,
};

type ByKey = Exclude<SignoffDocument['signedWith'], { method: 'passkey' }>;

export const ownKey: ByKey = { method: 'own-key' };

/** `document` may have wrong values: they are signed as they are. */
export async function byKey(
  document: object,
  signedWith: ByKey = ownKey,
  account = worker,
): Promise<SignoffDocument> {
  const signed = { ...(document as Unsigned), signedWith };
  const hash = toHex(signoffDigest(signoffMessage(signed)));
  return { ...signed, signature: await account.sign({ hash }) };
}

/** Changes what was signed with, or the document, after it was signed. */
export function later(document: SignoffDocument, change: object, within: object = {}): SignoffDocument {
  return { ...document, signedWith: { ...document.signedWith, ...within }, ...change } as SignoffDocument;
}

export interface Row {
  name: string;
  about: string;
  document: object;
  outcome: Outcome;
  /** Of the thing that is proved, if it is not as usual. */
  thing?: Partial<Thing>;
  passkeys?: string;
}

/** `assetId` as `asset-id`, as the names of vectors are. */
export function hyphened(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** As the content of a proof of kind `signoff`. */
export async function vectorOf({
  name,
  about,
  document,
  outcome,
  thing,
  passkeys,
}: Row): Promise<NamedVector> {
  // As JSON has it: without what is undefined.
  const content = canonicalJson(JSON.parse(JSON.stringify(document)));
  const { role = 'certified' } = document as { role?: string };
  const [made] = await makeProofs(
    [
      {
        ...{ kind: 'signoff', id: maintenanceId, canonicalization: 'jcs' as const, key: vaultKeys.first },
        ...{ content: utf8(content), salt: fixed(0xa7), claims: { assetId, role } },
        ...thing,
      },
    ],
    { ...firstBlock, sequence: 1 },
  );
  if (!made) throw new Error('the batch has one thing');
  const signed = outcome.signed ?? ['signature'];
  const expected = expect(made.proof, { ...outcome, signed });
  const given = { ...givenWith({ content }, made.proof), ...(passkeys !== undefined && { passkeys }) };
  return { name: hyphened(name), about, ...given, expected };
}
