/**
 * Proofs of sign-offs with the sign-off as content: by a key, by the service on behalf of a worker, and by passkeys; and
 * sign-offs that were anchored although their signature is not what it should be.
 */
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { makeSignoffTypedData } from '../../../src/maintenance/signing/signoff.ts';
import { canonicalJson } from '../../../src/proof/canonical.ts';
import { fromHex } from '../../../src/proof/hex.ts';
import { fieldsOf, type SignoffDocument } from '../../../src/proof/signoff/signoff-document.ts';
import { fixed, makeProofs, utf8 } from '../fixtures/proof-fixture.ts';
import { firstBlock, firstTime, givenWith, vaultKeys } from './base-batches.ts';
import { assertion, es256, rpId, rs256, type Unsigned } from './passkey-assertions.ts';
import { receivedRows } from './received-rows.ts';
import { expect, type NamedVector, type Outcome } from './vector.ts';

const worker = privateKeyToAccount(fixed(0x44));
const workspaceId = 'ws_01M7EG10J2M7YBHBFEBJ52FMP4';
const maintenanceId = 'mnt_01M7EG19SH3FMASFKSTVVAKF4G';
const assetId = 'Pümp 7';

const unsigned: Unsigned = {
  format: 'holdfast/signoff@2',
  workspaceId,
  assetId,
  maintenanceId,
  maintenanceHash: fixed(0xab),
  role: 'certified',
  workerAddress: worker.address,
  workerName: 'Zoë Åberg',
  licence: { scope: 'engine/borescope', number: 'DK.66.1', authority: 'EASA', expiresAt: null },
  signedAt: '2026-11-15T02:10:00.000Z',
};

const wholeLicence = {
  ...{ scope: 'engine/borescope', number: 'DK.66.1', authority: 'EASA', category: 'B1.1' },
  ...{ validFrom: '2021-07-01T00:00:00.000Z', expiresAt: null, suspendedAt: null },
};

const release = {
  organisation: {
    ...{ name: 'Nordjet Teknik', address: 'Hangar 4, 1, 2300 København', authority: 'EASA, Denmark' },
    ...{ approvalNumber: 'DK.145.0042', regulation: 'Part-145' },
  },
  asset: { version: 3, name: 'Pümp', partNumber: 'P-7', serialNumber: '0417' },
};

async function byKey(
  document: Unsigned,
  signedWith?: SignoffDocument['signedWith'],
): Promise<SignoffDocument> {
  const signature = await worker.signTypedData(makeSignoffTypedData(fieldsOf(document)));
  return { ...document, ...(signedWith && { signedWith }), signature };
}

/** Changes what was signed with, or the document, after it was signed. */
function later(document: SignoffDocument, change: object, within: object = {}): SignoffDocument {
  const { signedWith } = document;
  return {
    ...document,
    ...(signedWith && { signedWith: { ...signedWith, ...within } }),
    ...change,
  } as SignoffDocument;
}

export async function signoffVectors(): Promise<NamedVector[]> {
  const good = assertion(es256, unsigned);
  const key = await byKey(unsigned, { method: 'own-key' });
  const inside = (within: object) => later(good, {}, within);
  const fails: Outcome = { fail: ['signature'], time: firstTime };
  const passes: Outcome = { time: firstTime };
  const r = (text: string) => text.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) as Hex;
  const rows: [name: string, about: string, document: object, outcome: Outcome][] = [
    ['passkey', 'By a passkey with ES256.', good, passes],
    [
      'whole-licence',
      'With category and limits of the licence.',
      await byKey({ ...unsigned, licence: wholeLicence }, { method: 'own-key' }),
      passes,
    ],
    [
      'part-of-a-licence',
      'With a category, but without the limits that belong to it.',
      await byKey(
        { ...unsigned, licence: { ...unsigned.licence, category: 'B1' } as never },
        { method: 'own-key' },
      ),
      fails,
    ],
    [
      'release',
      'As certified, in the name of an organisation.',
      await byKey({ ...unsigned, release }, { method: 'own-key' }),
      passes,
    ],
    [
      'release-without-organisation',
      "As certified, in nobody else's name.",
      await byKey({ ...unsigned, release: { ...release, organisation: null } }, { method: 'own-key' }),
      passes,
    ],
    [
      'release-as-inspected',
      'A release in another role than certified.',
      await byKey({ ...unsigned, role: 'inspected', release }, { method: 'own-key' }),
      fails,
    ],
    [
      'release-without-approval',
      'A release that lacks the approval number of its organisation.',
      await byKey(
        {
          ...unsigned,
          release: {
            ...release,
            organisation: { ...release.organisation, approvalNumber: undefined as never },
          },
        },
        { method: 'own-key' },
      ),
      fails,
    ],
    [
      'release-of-no-version',
      'A release of an asset whose version is a text.',
      await byKey(
        { ...unsigned, release: { ...release, asset: { ...release.asset, version: '3' as never } } },
        { method: 'own-key' },
      ),
      fails,
    ],
    ['passkey-rs256', 'By a passkey with RS256.', assertion(rs256(), unsigned), passes],
    [
      'passkey-without-licence',
      'As performed, without a licence.',
      assertion(es256, { ...unsigned, licence: null, role: 'performed' }),
      passes,
    ],
    [
      'passkey-backed-up',
      'Flags of a passkey that is synchronised.',
      assertion(es256, unsigned, { flags: 0x1d }),
      passes,
    ],
    [
      'passkey-extensions',
      'A flag that announces extensions, and their bytes.',
      assertion(es256, unsigned, { flags: 0x85, surplus: [0xa0] }),
      passes,
    ],
    [
      'passkey-port-and-below',
      'On a port of a host name below the one of the passkey.',
      assertion(es256, unsigned, { origin: `https://shop.${rpId}:8443` }),
      passes,
    ],
    [
      'passkey-not-crossing',
      'Client data that say that no other site was around.',
      assertion(es256, unsigned, { crossOrigin: false }),
      passes,
    ],
    ['own-key', "By the worker's own key.", key, passes],
    [
      'on-behalf',
      'By the service on behalf of the worker.',
      await byKey(unsigned, { method: 'held-key', apiKeyId: 'key_1' }),
      passes,
    ],
    [
      'held-key-in-session',
      'By the worker with a key that the service holds.',
      await byKey(unsigned, { method: 'held-key', apiKeyId: null }),
      passes,
    ],
    [
      'earlier-format',
      'Of the format that does not say how it was signed.',
      await byKey({ ...unsigned, format: 'holdfast/signoff@1' }),
      passes,
    ],
    [
      'unknown-format',
      'Of a format that is not known.',
      { ...key, format: 'holdfast/signoff@9' },
      { skip: ['signature'], time: firstTime },
    ],
    ['no-format', 'Without a format.', { hello: 'world' }, { skip: ['signature'], time: firstTime }],
    ['passkey-other-role', 'Another role than was signed.', later(good, { role: 'inspected' }), fails],
    [
      'passkey-other-worker',
      'Another worker than was signed.',
      later(good, { workerAddress: `0x${'77'.repeat(20)}` }),
      fails,
    ],
    [
      'passkey-other-licence',
      'Another licence than was signed.',
      later(good, { licence: { ...unsigned.licence, number: 'DK.66.2' } }),
      fails,
    ],
    [
      'passkey-other-time',
      'Another time than was signed.',
      later(good, { signedAt: '2026-11-15T02:10:01.000Z' }),
      fails,
    ],
    [
      'passkey-other-hash',
      'Another entry than was signed.',
      later(good, { maintenanceHash: fixed(0xac) }),
      fails,
    ],
    [
      'passkey-other-challenge',
      'Signed for something else.',
      assertion(es256, unsigned, { challenge: fromHex(fixed(0x01)) }),
      fails,
    ],
    [
      'passkey-other-origin',
      'Signed on the page of another site.',
      assertion(es256, unsigned, { origin: 'https://holdfast.example.net' }),
      fails,
    ],
    [
      'passkey-origin-that-ends-alike',
      'Signed on a site whose name only ends like the host name.',
      assertion(es256, unsigned, { origin: `https://evil${rpId}` }),
      fails,
    ],
    [
      'passkey-http',
      'Signed on a page without TLS.',
      assertion(es256, unsigned, { origin: `http://${rpId}` }),
      fails,
    ],
    [
      'passkey-crossing',
      'Signed inside the page of another site.',
      assertion(es256, unsigned, { crossOrigin: true }),
      fails,
    ],
    [
      'passkey-other-host',
      'The authenticator signed for another host name.',
      assertion(es256, unsigned, { rpIdHashed: 'example.net' }),
      fails,
    ],
    [
      'passkey-registration',
      'The signature of a registration.',
      assertion(es256, unsigned, { type: 'webauthn.create' }),
      fails,
    ],
    [
      'passkey-not-verified',
      'Its user was not verified.',
      assertion(es256, unsigned, { flags: 0x01 }),
      fails,
    ],
    ['passkey-not-present', 'Nobody was present.', assertion(es256, unsigned, { flags: 0x04 }), fails],
    [
      'passkey-surplus',
      'Bytes behind the authenticator data that no flag announces.',
      assertion(es256, unsigned, { surplus: [0xa0] }),
      fails,
    ],
    [
      'passkey-client-data-twice',
      'A name occurs twice in the client data.',
      assertion(es256, unsigned, { clientDataJSON: '{"type":"webauthn.get","type":"webauthn.get"}' }),
      fails,
    ],
    [
      'passkey-client-data-no-json',
      'Client data that are no JSON.',
      assertion(es256, unsigned, { clientDataJSON: 'webauthn.get' }),
      fails,
    ],
    [
      'passkey-changed-client-data',
      'A blank was added to the client data.',
      inside({
        clientDataJSON: `${good.signedWith?.method === 'passkey' ? good.signedWith.clientDataJSON : ''} `,
      }),
      fails,
    ],
    [
      'passkey-changed-authenticator-data',
      'The counter was changed.',
      inside({
        authenticatorData: r(
          good.signedWith?.method === 'passkey' ? good.signedWith.authenticatorData : '0x',
        ),
      }),
      fails,
    ],
    [
      'passkey-other-key',
      'The public key of another passkey.',
      inside({ publicKey: rs256().publicKey }),
      fails,
    ],
    ['passkey-no-key', 'A public key that is none.', inside({ publicKey: '0x3000' }), fails],
    [
      'passkey-other-rp-id',
      'Another host name than it was signed for.',
      inside({ rpId: 'example.com' }),
      fails,
    ],
    [
      'passkey-changed-signature',
      'The last bit of the signature.',
      later(good, { signature: r(good.signature) }),
      fails,
    ],
    ['passkey-without-registration', 'A member is missing.', inside({ registration: undefined }), fails],
    ['passkey-one-member-more', 'A member that the format does not have.', inside({ trusted: true }), fails],
    [
      'passkey-as-own-key',
      'An assertion passed off as the signature of a key.',
      { ...good, signedWith: { method: 'own-key' } },
      fails,
    ],
    [
      'own-key-as-passkey',
      'The signature of a key passed off as an assertion.',
      { ...good, signature: key.signature },
      fails,
    ],
    [
      'own-key-of-another',
      'Signed by the key of somebody else.',
      later(key, { workerAddress: `0x${'77'.repeat(20)}` }),
      fails,
    ],
    [
      'own-key-other-name-of-method',
      'A method that is not known.',
      { ...key, signedWith: { method: 'trust-me' } },
      fails,
    ],
    [
      'other-asset',
      'About another asset than the claims say.',
      await byKey({ ...unsigned, assetId: 'Pump 8' }, { method: 'own-key' }),
      fails,
    ],
    [
      'other-entry',
      'About another entry than the subject of the proof.',
      await byKey({ ...unsigned, maintenanceId: 'mnt_other' }, { method: 'own-key' }),
      fails,
    ],
    [
      'other-workspace',
      'Of another workspace than the subject of the proof.',
      await byKey({ ...unsigned, workspaceId: 'ws_other' }, { method: 'own-key' }),
      fails,
    ],
    ...receivedRows(
      { good, key, earlier: await byKey({ ...unsigned, format: 'holdfast/signoff@1' }) },
      passes,
      fails,
    ),
    [
      'part-of-a-second',
      'A time with a part of a second.',
      await byKey({ ...unsigned, signedAt: '2026-11-15T02:10:00.500Z' }, { method: 'own-key' }),
      fails,
    ],
  ];
  return Promise.all(
    rows.map(([name, about, document, outcome]) => vectorOf({ name, about, document, outcome })),
  );
}

interface Row {
  name: string;
  about: string;
  document: object;
  outcome: Outcome;
}

async function vectorOf({ name, about, document, outcome }: Row): Promise<NamedVector> {
  // As JSON has it: without what is undefined.
  const content = canonicalJson(JSON.parse(JSON.stringify(document)));
  const { role = 'certified' } = document as { role?: string };
  const thing = {
    ...{ kind: 'signoff', id: maintenanceId, canonicalization: 'jcs' as const, key: vaultKeys.first },
    ...{ content: utf8(content), salt: fixed(0xa7), claims: { assetId, role } },
  };
  const [made] = await makeProofs([thing], { ...firstBlock, sequence: 1 });
  if (!made) throw new Error('the batch has one thing');
  const expected = expect(made.proof, { ...outcome, signed: true });
  return { name: `signoff-${name}`, about, ...givenWith({ content }, made.proof), expected };
}
