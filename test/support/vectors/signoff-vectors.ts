/**
 * Proofs of sign-offs with the sign-off as content: by a key, by the service on behalf of a worker, and by passkeys; and
 * sign-offs that were anchored although their form or their signature is not what it should be.
 */
import { firstTime } from './base-batches.ts';
import { assertion, es256 } from './passkey-assertions.ts';
import { receivedRows } from './received-rows.ts';
import { changeRows } from './signoff-change-rows.ts';
import { assetId, byKey, later, licence, release, unsigned, vectorOf } from './signoff-made.ts';
import { passkeyRows, type SignoffRow } from './signoff-passkey-rows.ts';
import { timeRows } from './signoff-time-rows.ts';
import type { NamedVector, Outcome } from './vector.ts';

const fails: Outcome = { fail: ['signature'], time: firstTime };
const passes: Outcome = { time: firstTime };
const unknown: Outcome = { skip: ['signature'], time: firstTime };
/** A kind that is signed has one canonicalization. */
const otherwise: Outcome = {
  ...{ fail: ['leaf'], skip: ['path', 'registry', 'chain', 'finality', 'time'] },
  ...{ time: null, signed: [] },
};

export async function signoffVectors(): Promise<NamedVector[]> {
  const key = await byKey(unsigned);
  const rows: SignoffRow[] = [
    ...(await passkeyRows(passes, fails)),
    ...(await formRows()),
    ...(await timeRows(passes, fails)),
    ...(await changeRows(passes, fails)),
    ...receivedRows({ good: assertion(es256, unsigned), key }, passes, fails),
  ];
  const vectors = rows.map(([name, about, document, outcome]) =>
    vectorOf({ name: `signoff-${name}`, about, document, outcome }),
  );
  for (const [name, about, document] of [
    ['', 'a sign-off', key],
    ['-of-nothing', 'what is none', { hello: 'world' }],
  ] as const) {
    const claims = { assetId, role: 'certified' };
    for (const [canonicalization, more] of [
      ['raw', { salt: undefined as never }],
      ['hmac-sha256', {}],
    ] as const) {
      const thing = { canonicalization, claims, ...more };
      vectors.push(
        vectorOf({
          name: `signoff-${canonicalization}${name}`,
          about: `The kind is signoff and the canonicalization ${canonicalization}; the content is ${about}.`,
          ...{ document, outcome: otherwise, thing },
        }),
      );
    }
  }
  vectors.push(
    vectorOf({
      ...{
        name: 'signoff-other-role-in-the-claims',
        about: 'In another role than the claims say.',
        document: key,
      },
      ...{ outcome: fails, thing: { claims: { assetId, role: 'inspected' } } },
    }),
  );
  return Promise.all(vectors);
}

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function withV(signature: string): string {
  return `${signature.slice(0, -2)}${signature.endsWith('1b') ? '00' : '01'}`;
}

function withHighS(signature: string): string {
  const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
  return `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`;
}

async function formRows(): Promise<SignoffRow[]> {
  const key = await byKey(unsigned);
  const without = (document: object, name: string) =>
    Object.fromEntries(Object.entries(document).filter(([member]) => member !== name));
  const changed = (change: object) => byKey({ ...unsigned, ...change });
  return [
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
      'on-behalf-of-nobody',
      'The id of the API key is empty, which is signed like none.',
      await byKey(unsigned, { method: 'held-key', apiKeyId: '' }),
      fails,
    ],
    [
      'held-key-without-api-key',
      'Held by the service, without saying at whose request.',
      {
        ...(await byKey(unsigned, { method: 'held-key', apiKeyId: null })),
        signedWith: { method: 'held-key' },
      },
      fails,
    ],
    [
      'earlier-format',
      'Of the first format, which is void.',
      { ...key, format: 'holdfast/signoff@1' },
      unknown,
    ],
    ['unknown-format', 'Of a format that is not known.', { ...key, format: 'holdfast/signoff@9' }, unknown],
    ['no-format', 'Without a format.', { hello: 'world' }, unknown],
    ['format-in-a-list', 'A list instead of an object.', [key], unknown],
    ...Object.keys(key).map(
      (name): SignoffRow => [
        `without-${name}`,
        `Without the member ${name}.`,
        without(key, name),
        name === 'format' ? unknown : fails,
      ],
    ),
    ['one-member-more', 'A member that the format does not have.', { ...key, trusted: true }, fails],
    ['no-address', 'An address that is too short.', later(key, { workerAddress: '0x12' }), fails],
    [
      'role-unknown',
      'A role that there is not.',
      await changed({ role: 'approved', release: undefined }),
      fails,
    ],
    ...['scope', 'number', 'authority', 'category', 'validFrom', 'expiresAt', 'suspendedAt'].map(
      (name): SignoffRow => [
        `licence-without-${name}`,
        `A licence without ${name}.`,
        { ...key, licence: without(licence, name) },
        fails,
      ],
    ),
    [
      'licence-of-no-category',
      'An empty category, which is signed like none.',
      await changed({ licence: { ...licence, category: '' } }),
      fails,
    ],
    [
      'licence-null-category',
      'A licence without a category.',
      await changed({ licence: { ...licence, category: null } }),
      passes,
    ],
    [
      'release-as-inspected',
      'A release in another role than certified.',
      await changed({ role: 'inspected' }),
      fails,
    ],
    ['release-null', 'As certified, with null as release.', { ...key, release: null }, fails],
    [
      'release-without-organisation',
      "As certified, in nobody else's name.",
      await changed({ release: { ...release, organisation: null } }),
      passes,
    ],
    [
      'release-without-approval',
      'A release that lacks the approval number of its organisation.',
      { ...key, release: { ...release, organisation: without(release.organisation, 'approvalNumber') } },
      fails,
    ],
    [
      'release-of-no-version',
      'A release of an asset whose version is a text.',
      { ...key, release: { ...release, asset: { ...release.asset, version: '3' } } },
      fails,
    ],
    [
      'own-key-of-another',
      'Signed by the key of somebody else.',
      later(key, { workerAddress: '0x7777777777777777777777777777777777777777' }),
      fails,
    ],
    [
      'own-key-other-name-of-method',
      'A method that is not known.',
      await byKey(unsigned, { method: 'trust-me' as 'own-key' }),
      fails,
    ],
    [
      'own-key-longer',
      'A byte behind the signature.',
      later(key, { signature: `${key.signature}00` }),
      fails,
    ],
    [
      'own-key-small-v',
      'A signature whose v is 0 or 1.',
      later(key, { signature: withV(key.signature) }),
      fails,
    ],
    [
      'own-key-high-s',
      'The other signature over the same.',
      later(key, { signature: withHighS(key.signature) }),
      fails,
    ],
    ['signed-with-null', 'signedWith is null.', { ...key, signedWith: null }, fails],
    ['other-asset', 'About another asset than the claims say.', await changed({ assetId: 'Pump 8' }), fails],
    [
      'other-entry',
      'About another entry than the subject of the proof.',
      await changed({ maintenanceId: 'mnt_other' }),
      fails,
    ],
    [
      'other-workspace',
      'Of another workspace than the subject of the proof.',
      await changed({ workspaceId: 'ws_other' }),
      fails,
    ],
    [
      'texts-alike',
      'Texts that look alike are not the same.',
      later(key, { workerName: 'Zoë Åberg'.normalize('NFD') }),
      fails,
    ],
    [
      'inspected',
      'As inspected, without a release.',
      await byKey(without({ ...unsigned, role: 'inspected' }, 'release')),
      passes,
    ],
    [
      'performed',
      'As performed, without a licence.',
      await byKey(without({ ...unsigned, role: 'performed', licence: null }, 'release')),
      passes,
    ],
  ];
}
