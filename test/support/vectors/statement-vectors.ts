/** Proofs of statements about passkeys, with the statement as content: registrations signed by the worker, and revocations. */
import { canonicalJson } from '../../../src/proof/canonical.ts';
import { fixed, makeProofs, type Thing } from '../fixtures/proof-fixture.ts';
import { firstBlock, firstTime, givenWith, vaultKeys } from './base-batches.ts';
import { ecPasskey, es256 } from './passkey-assertions.ts';
import { hyphened, worker } from './signoff-made.ts';
import { registrationOf, revocationOf, statementChain, stranger, thingOf } from './statements-made.ts';
import { expect, type NamedVector, type Outcome } from './vector.ts';

type Row = [name: string, about: string, document: object, outcome: Outcome, thing?: Partial<Thing>];

const passes: Outcome = { time: firstTime };
const fails: Outcome = { fail: ['signature'], time: firstTime };
const unknown: Outcome = { skip: ['signature'], time: firstTime };
const otherwise: Outcome = {
  ...{ fail: ['leaf'], skip: ['path', 'registry', 'chain', 'finality', 'time'] },
  ...{ time: null, signed: [] },
};

export async function statementVectors(): Promise<NamedVector[]> {
  const good = await registrationOf(es256);
  const chain = statementChain();
  const first = await chain.add(good);
  const second = ecPasskey(0x46);
  const by = { passkey: es256, of: first };
  const next = await registrationOf(second, { number: 2, by });
  const revocation = revocationOf(first);
  const without = (document: object, name: string) =>
    Object.fromEntries(Object.entries(document).filter(([member]) => member !== name));
  const changed = (change: object) => registrationOf(es256, { change });
  const rows: Row[] = [
    ['own-key', 'The first passkey, signed by the key of the worker.', good, passes],
    [
      'held-key',
      'The first passkey, signed by the key that the service held.',
      await registrationOf(es256, { method: 'held-key' }),
      passes,
    ],
    ['by-passkey', 'A second passkey, signed by the first.', next, passes],
    [
      'by-key-of-another',
      'Signed by the key of somebody else.',
      await registrationOf(es256, { account: stranger }),
      fails,
    ],
    [
      'later-by-key',
      'A second passkey, signed by the key of the worker.',
      await registrationOf(second, { number: 2 }),
      fails,
    ],
    [
      'by-itself',
      'A second passkey, signed by the statement that registers it.',
      await registrationOf(second, {
        number: 2,
        by: { passkey: second, of: { number: 2, hash: fixed(0xcd) } },
      }),
      fails,
    ],
    [
      'by-a-later-one',
      'A second passkey, signed by one that was registered later.',
      await registrationOf(second, {
        number: 2,
        by: { passkey: es256, of: { number: 3, hash: fixed(0xcd) } },
      }),
      fails,
    ],
    [
      'by-an-assertion-for-something-else',
      'An assertion for something else.',
      await registrationOf(second, { number: 2, by, made: { challenge: new Uint8Array(32) } }),
      fails,
    ],
    [
      'by-an-assertion-elsewhere',
      'An assertion on the page of another site.',
      await registrationOf(second, { number: 2, by, made: { origin: 'https://holdfast.example.net' } }),
      fails,
    ],
    [
      'by-an-assertion-with-a-list',
      'An assertion whose origin is a list.',
      await registrationOf(second, { number: 2, by, made: { origin: ['https://holdfast.example.com'] } }),
      fails,
    ],
    ['one-person', 'One person invited and confirmed.', await changed({ confirmedBy: 'usr_1' }), fails],
    [
      'one-person-with-a-key',
      'One person invited with an API key, and confirmed.',
      await changed({ invitedWith: 'key_1', confirmedBy: 'usr_1' }),
      fails,
    ],
    ['with-a-key', 'Somebody invited with an API key.', await changed({ invitedWith: 'key_1' }), passes],
    [
      'with-an-empty-key',
      'An empty API key, which is signed like none.',
      await changed({ invitedWith: '' }),
      fails,
    ],
    ['nobody-invited', 'Nobody invited.', await changed({ invitedBy: '' }), fails],
    ['nobody-confirmed', 'Nobody confirmed.', await changed({ confirmedBy: '' }), fails],
    [
      'invited-by-a-key',
      'An API key invited, and no person.',
      await changed({ invitedBy: null, invitedWith: 'key_1' }),
      fails,
    ],
    [
      'confirmed-before',
      'Confirmed before it was made.',
      await changed({ confirmedAt: '2026-11-15T00:59:59.999Z' }),
      fails,
    ],
    [
      'received-before',
      'Signed before it was confirmed.',
      { ...good, receivedAt: '2026-11-15T01:09:59.999Z' },
      fails,
    ],
    [
      'received-later',
      'Signed much later, which nobody signs.',
      { ...good, receivedAt: '2027-11-15T01:10:00.000Z' },
      passes,
    ],
    [
      'registered-on-no-day',
      'Made on a day that there is not.',
      await changed({ registeredAt: '2026-02-30T00:00:00.000Z' }),
      fails,
    ],
    [
      'confirmed-on-no-day',
      'Confirmed on a day that there is not.',
      await changed({ confirmedAt: '2027-02-29T00:00:00.000Z' }),
      fails,
    ],
    ['received-at-24', 'Signed at 24:00.', { ...good, receivedAt: '2026-11-15T24:00:00.000Z' }, fails],
    ['number-0', 'A statement 0.', await registrationOf(es256, { number: 0 }), fails, { version: 1 }],
    ['other-version', 'Another number than the leaf has.', good, fails, { version: 2 }],
    [
      'of-a-strangers-vault',
      'Sealed by another vault than it names.',
      good,
      fails,
      { key: vaultKeys.stranger },
    ],
    [
      'other-workspace',
      'Of another workspace than the proof.',
      await changed({ workspaceId: 'ws_other' }),
      fails,
    ],
    ['other-worker', 'About another worker than the proof.', good, fails, { id: 'wrk_other' }],
    [
      'other-address-in-the-claims',
      'About another address than the claims say.',
      good,
      fails,
      { claims: { worker: stranger.address, state: 'registered' } },
    ],
    [
      'other-state-in-the-claims',
      'A registration, though the claims say that it revokes.',
      good,
      fails,
      { claims: { worker: worker.address, state: 'revoked' } },
    ],
    [
      'vault-with-checksum',
      'The vault with its checksum.',
      await changed({ vault: `0x${'AB'.repeat(20)}` }),
      fails,
    ],
    [
      'address-in-small-letters',
      'The address in small letters.',
      { ...good, workerAddress: good.workerAddress.toLowerCase() },
      fails,
    ],
    [
      'host-name-with-capitals',
      'A host name with capitals.',
      await changed({ rpId: 'Holdfast.example.com' }),
      fails,
    ],
    [
      'relabelled-as-held',
      'The key of the worker, passed off as held by the service.',
      { ...good, signedWith: { method: 'held-key' } },
      fails,
    ],
    [
      'held-with-api-key',
      'With the API key that had the service sign.',
      { ...good, signedWith: { method: 'held-key', apiKeyId: null } },
      fails,
    ],
    [
      'as-a-sign-off',
      'A statement in a format of sign-offs.',
      { ...good, format: 'holdfast/signoff@2' },
      unknown,
    ],
    [
      'as-a-revocation',
      'A registration in the format of a revocation.',
      { ...good, format: 'holdfast/passkey-revocation@1' },
      fails,
    ],
    [
      'unknown-format',
      'Of a format that is not known.',
      { ...good, format: 'holdfast/passkey-registration@9' },
      unknown,
    ],
    ['one-member-more', 'A member that the format does not have.', { ...good, trusted: true }, fails],
    ...Object.keys(good).map(
      (name): Row => [
        `without-${name}`,
        `Without the member ${name}.`,
        without(good, name),
        name === 'format' ? unknown : fails,
      ],
    ),
    ...Object.entries({
      ...{ workerName: 'Zoe', credentialId: '0x01', publicKey: second.publicKey, rpId: 'example.com' },
      ...{ attestation: { ...good.attestation, object: '0xa1' }, invitedBy: 'usr_3', invitedWith: 'key_1' },
      ...{
        registeredAt: '2026-11-15T00:00:00.000Z',
        confirmedBy: 'usr_3',
        confirmedAt: '2026-11-15T01:05:00.000Z',
      },
      ...{ number: 2, vault: stranger.address.toLowerCase() },
    }).map(
      ([name, value]): Row => [
        `change-${name}`,
        `Another ${name} than was signed.`,
        { ...good, [name]: value },
        fails,
        name === 'number' ? { version: 2 } : {},
      ],
    ),
    ['revocation', 'The revocation of a passkey.', revocation, passes],
    [
      'revocation-of-a-strangers-vault',
      'Sealed by another vault than it names.',
      revocation,
      fails,
      { key: vaultKeys.stranger },
    ],
    [
      'revocation-on-no-day',
      'Revoked on a day that there is not.',
      { ...revocation, revokedAt: '2026-02-30T00:00:00.000Z' },
      fails,
    ],
    ['revocation-by-nobody', 'Revoked by nobody.', { ...revocation, revokedBy: null }, fails],
    [
      'revocation-signed',
      'A revocation with a signature.',
      { ...revocation, signature: good.signature },
      fails,
    ],
    ...Object.keys(revocation).map(
      (name): Row => [
        `revocation-without-${name}`,
        `A revocation without the member ${name}.`,
        without(revocation, name),
        name === 'format' ? unknown : fails,
      ],
    ),
    [
      'raw',
      'The kind is passkey and the canonicalization raw.',
      good,
      otherwise,
      { canonicalization: 'raw', salt: undefined as never },
    ],
    [
      'hmac-sha256',
      'The kind is passkey and the canonicalization hmac-sha256.',
      good,
      otherwise,
      { canonicalization: 'hmac-sha256' },
    ],
  ];
  return Promise.all(rows.map((row) => vectorOf(row)));
}

async function vectorOf([name, about, document, outcome, change = {}]: Row): Promise<NamedVector> {
  const content = canonicalJson(document);
  // What it is anchored as does not follow from a document that lacks something.
  const usual = {
    id: 'wrk_01M7EG19SH3FMASFKSTVVAKF4G',
    claims: { worker: worker.address, state: stateOf(document) },
  };
  const { number = 1 } = document as { number?: number };
  const thing = { ...thingOf(document as never), ...usual, version: number, ...change };
  const [made] = await makeProofs([thing], { ...firstBlock, sequence: 1 });
  if (!made) throw new Error('the batch has one thing');
  const expected = expect(made.proof, { signed: ['signature'], ...outcome });
  return { name: hyphened(`statement-${name}`), about, ...givenWith({ content }, made.proof), expected };
}

function stateOf(document: object): string {
  return 'registration' in document || 'revokedAt' in document ? 'revoked' : 'registered';
}
