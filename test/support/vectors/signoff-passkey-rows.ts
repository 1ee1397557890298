/** Sign-offs by passkeys, rightly made or wrong in one way. */

import { fromHex } from '../../../src/proof/hex.ts';
import { signoffDigest, signoffMessage } from '../../../src/proof/signoff/signoff-message.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { asserted, assertion, es256, type Made, p384, rpId, rs256 } from './passkey-assertions.ts';
import { byKey, later, licence, unsigned } from './signoff-made.ts';
import type { Outcome } from './vector.ts';

export type SignoffRow = [name: string, about: string, document: object, outcome: Outcome];

export async function passkeyRows(passes: Outcome, fails: Outcome): Promise<SignoffRow[]> {
  const good = assertion(es256, unsigned);
  const { signedWith } = asserted(es256, digestOf(unsigned));
  const { clientDataJSON, authenticatorData } = signedWith;
  const key = await byKey(unsigned);
  const { release: _, ...unreleased } = unsigned;
  const asPerformed = { ...unreleased, role: 'performed' as const };
  const inside = (within: object) => later(good, {}, within);
  const made = (change: Made) => assertion(es256, unsigned, change);
  return [
    ['passkey', 'By a passkey with ES256.', good, passes],
    ['passkey-rs256', 'By a passkey with RS256.', assertion(rs256(), unsigned), passes],
    [
      'passkey-without-licence',
      'As performed, without a licence.',
      assertion(es256, { ...asPerformed, licence: null }),
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
      later(good, { licence: { ...licence, number: 'DK.66.2' } }),
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
        clientDataJSON: `${clientDataJSON} `,
      }),
      fails,
    ],
    [
      'passkey-changed-authenticator-data',
      'The counter was changed.',
      inside({
        authenticatorData: otherDigit(authenticatorData),
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
      later(good, { signature: otherDigit(good.signature) }),
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
      'passkey-list-of-origins',
      'The origin is a list of one origin.',
      made({ origin: [`https://${rpId}`] }),
      fails,
    ],
    ['passkey-client-data-list', 'Client data that are a list.', made({ clientDataJSON: '[]' }), fails],
    [
      'passkey-short-authenticator-data',
      'Authenticator data that lack a byte, although a flag announces more.',
      made({ flags: 0x45, counterBytes: 3 }),
      fails,
    ],
    ['passkey-p384', 'By a passkey on P-384.', assertion(p384(), unsigned), fails],
    [
      'passkey-no-origin',
      'Client data without an origin.',
      made({ clientDataJSON: clientDataJSON.replace('origin', 'origin2') }),
      fails,
    ],
    ['passkey-crossing-null', 'crossOrigin is null.', made({ crossOrigin: null }), fails],
    ['passkey-crossing-text', 'crossOrigin is a text.', made({ crossOrigin: 'false' }), fails],
    ['passkey-on-behalf', 'An API key beside the passkey.', inside({ apiKeyId: null }), fails],
    [
      'passkey-host-name-without-name',
      'The host name is empty, and the page of a name that ends with a dot.',
      made({ rpId: '', origin: 'https://holdfast.example.com.' }),
      fails,
    ],
    [
      'passkey-localhost',
      'On localhost without TLS.',
      made({ rpId: 'localhost', origin: 'http://localhost:7000' }),
      passes,
    ],
    [
      'passkey-registration-0',
      'Of the statement 0.',
      inside({ registration: { number: 0, hash: fixed(0xcd) } }),
      fails,
    ],
    [
      'passkey-origin-twice',
      'The client data name two origins.',
      made({ clientDataJSON: clientDataJSON.replace('{', `{"origin":"https://${rpId}",`) }),
      fails,
    ],
  ];
}

function digestOf(document: typeof unsigned): Uint8Array {
  return signoffDigest(signoffMessage({ ...document, signedWith: { method: 'passkey' } }));
}

const otherDigit = (text: string) => text.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
