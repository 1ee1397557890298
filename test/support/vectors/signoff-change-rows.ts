/** Sign-offs of which one member was changed after it was signed: everything is signed that is not said to be exempt. */
import type { SignoffDocument } from '../../../src/proof/signoff/signoff-document.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { assertion, es256 } from './passkey-assertions.ts';
import { byKey, later, release, unsigned } from './signoff-made.ts';
import type { SignoffRow } from './signoff-passkey-rows.ts';
import type { Outcome } from './vector.ts';

export async function changeRows(passes: Outcome, fails: Outcome): Promise<SignoffRow[]> {
  const good = await byKey(unsigned);
  const onBehalf = await byKey(unsigned, { method: 'held-key', apiKeyId: 'key_1' });
  const { release: _, ...unreleased } = unsigned;
  const inspected = await byKey({ ...unreleased, role: 'inspected' });
  const rows: [name: string, about: string, document: object][] = [
    ...(['workspaceId', 'assetId', 'maintenanceId', 'workerName'] as const).map(
      (name): [string, string, object] => [
        `other-${name}`,
        `Another ${name} than was signed.`,
        later(good, { [name]: 'x' }),
      ],
    ),
    ['other-hash', 'Another entry than was signed.', later(good, { maintenanceHash: fixed(0xac) })],
    ['other-role', 'Another role than was signed.', { ...inspected, role: 'performed' }],
    ['other-time', 'Another time than was signed.', later(good, { signedAt: '2026-11-15T02:10:01.000Z' })],
    [
      'other-case-of-the-address',
      'The address in small letters.',
      later(good, { workerAddress: good.workerAddress.toLowerCase() }),
    ],
    ['no-licence', 'Without the licence that was signed.', later(good, { licence: null })],
    ...Object.entries({
      ...{ scope: '*', number: 'DK.66.2', authority: 'FAA', category: 'C', validFrom: null },
      ...{ expiresAt: '2099-01-01T00:00:00.000Z', suspendedAt: '2099-01-01T00:00:00.000Z' },
    }).map(([name, value]): [string, string, object] => [
      `other-licence-${name}`,
      `Another ${name} of the licence than was signed.`,
      later(good, { licence: { ...good.licence, [name]: value } }),
    ]),
    [
      'held-as-own',
      'What the service signed, passed off as signed by the worker.',
      { ...onBehalf, signedWith: { method: 'own-key' } },
    ],
    [
      'held-by-another-key',
      'On behalf of the worker, at the request of another API key.',
      later(onBehalf, {}, { apiKeyId: 'key_2' }),
    ],
    [
      'held-in-session',
      'On behalf of the worker, passed off as in their own session.',
      later(onBehalf, {}, { apiKeyId: null }),
    ],
    ...Object.keys(release.organisation).map((name): [string, string, object] => [
      `other-organisation-${name}`,
      `Another ${name} of the organisation than was signed.`,
      withRelease(good, { organisation: { ...release.organisation, [name]: '' } }),
    ]),
    ...Object.entries({ version: 2, name: 'Pumpe', partNumber: 'P-8', serialNumber: '0418' }).map(
      ([name, value]): [string, string, object] => [
        `other-asset-${name}`,
        `Another ${name} of the asset than was signed.`,
        withRelease(good, { asset: { ...release.asset, [name]: value } }),
      ],
    ),
    [
      'no-organisation',
      'Without the organisation that was signed.',
      withRelease(good, { organisation: null }),
    ],
  ];
  return [
    ...rows.map(([name, about, document]): SignoffRow => [`change-${name}`, about, document, fails]),
    [
      'change-received',
      'With a time of receipt, which nobody signs.',
      { ...good, receivedAt: '2026-11-16T02:10:00.000Z' },
      passes,
    ],
    [
      'change-passkey-registration',
      'Another registration of the passkey: the statements about passkeys show whose it is.',
      later(assertion(es256, unsigned), {}, { registration: { number: 2, hash: fixed(0xce) } }),
      passes,
    ],
  ];
}

function withRelease(document: SignoffDocument, change: object): object {
  return { ...document, release: { ...release, ...change } };
}
