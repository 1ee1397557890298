/** A dossier shows whose passkeys signed: each was registered by its worker, sealed by the vault it names, and by two people. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { fixed } from '../../../test/support/fixtures/proof-fixture.ts';
import {
  checkTimed,
  makeTimedDossier,
  ownerKeys,
  type TimedDossier,
  type TimedStatement,
} from '../../../test/support/fixtures/timed-dossier.ts';
import {
  assertion,
  ecPasskey,
  es256,
  type Passkey,
} from '../../../test/support/vectors/passkey-assertions.ts';
import { byKey, licence, release, unsigned } from '../../../test/support/vectors/signoff-made.ts';
import { registrationOf, revocationOf } from '../../../test/support/vectors/statements-made.ts';
import { recordDigest } from '../../proof/content.ts';
import { fromHex } from '../../proof/hex.ts';
import type { PasskeyDocument } from '../../proof/signoff/passkey-document.ts';
import type { SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import type { SignedEntry } from '../signing/signoff.ts';
import type { DossierVerdict } from './dossier-check.ts';

/** Somebody else's, and the one whose name is misused. */
const stranger = privateKeyToAccount(fixed(0x77));
const strangersKey = fixed(0x77);
/** Of the salt that the fixture gives everything. */
const hashOf = (document: object): Hex => recordDigest(fromHex(fixed(0x33)), document);
const vaultOf = (key: Hex) => privateKeyToAccount(key).address.toLowerCase();
const usual = { workerId: 'wrk_victim', vault: vaultOf(ownerKeys.seller) };
const stamped = { vouchedAt: '2026-01-20T00:01:00Z' };
const early = {
  registeredAt: '2026-01-20T00:00:00.000Z',
  confirmedAt: '2026-01-20T00:00:01.000Z',
  receivedAt: '2026-01-20T00:00:02.000Z',
};

interface Signed {
  /** Statements about the passkey of the certifier, and the key that seals each. */
  statements: { document: PasskeyDocument; key?: Hex }[];
  certify(entry: SignedEntry): Promise<SignoffDocument>;
}

/** The entry is performed by another worker with a key. */
async function judge({ statements, certify }: Signed): Promise<DossierVerdict> {
  const performer = privateKeyToAccount(fixed(0x55));
  const dossier: TimedDossier = {
    ...{ created: { vouchedAt: '2026-01-01T00:00:00Z' }, transferred: null },
    entries: [
      {
        ...{ by: 'seller', recordedAt: '2026-02-01T00:00:00Z', vouchedAt: '2026-02-01T00:05:00Z' },
        signoffs: async (entry) => [await performed(entry, performer), await certify(entry)],
      },
    ],
    passkeys: statements.map(
      ({ document, key = ownerKeys.seller }): TimedStatement => ({ document, key, ...stamped }),
    ),
    ...{ madeAt: '2026-06-01T00:00:00.000Z', sealed: { by: 'seller', vouchedAt: '2026-06-01T00:01:00Z' } },
  };
  return checkTimed(await makeTimedDossier(dossier));
}

const { release: _, ...unreleased } = unsigned;
const about = (entry: SignedEntry, seconds: number) => ({
  ...{ ...entry, signedAt: `2026-02-01T00:00:0${seconds}.000Z`, licence: { ...licence, scope: '*' } },
  release: { ...release, asset: { version: 1, name: 'Pump', partNumber: '', serialNumber: 'S-1' } },
});

async function performed(
  entry: SignedEntry,
  account: ReturnType<typeof privateKeyToAccount>,
): Promise<SignoffDocument> {
  const { release: _, ...rest } = about(entry, 1);
  const document = {
    ...unreleased,
    ...rest,
    role: 'performed',
    licence: null,
    workerAddress: account.address,
  };
  return byKey(document, { method: 'own-key' }, account);
}

const certifiedBy =
  (passkey: Passkey, registration: PasskeyDocument) =>
  async (entry: SignedEntry): Promise<SignoffDocument> => {
    const reference = { number: registration.number, hash: hashOf(registration) };
    return assertion(passkey, { ...unsigned, ...about(entry, 2) }, { registration: reference });
  };

const faultsOf = ({ faults }: DossierVerdict) =>
  faults.map(({ place, message }) => `${place} ${message}`).join('\n');

let first: PasskeyDocument;
before(async () => {
  first = await registrationOf(es256, { change: { ...usual, ...early } });
});

test('a passkey that its worker has signed, and a second one that the first has signed, certify', async () => {
  const honest = await judge({ statements: [{ document: first }], certify: certifiedBy(es256, first) });
  assert.equal(faultsOf(honest), '');
  assert.deepEqual([honest.verdict, honest.facts?.certified, [...honest.gaps.keys()]], ['pass', 1, []]);
  const second = ecPasskey(0x46);
  const by = { passkey: es256, of: { number: 1, hash: hashOf(first) } };
  const next = await registrationOf(second, { number: 2, by, change: { ...usual, ...early } });
  const later = await judge({
    statements: [{ document: first }, { document: next }],
    certify: certifiedBy(second, next),
  });
  assert.deepEqual([faultsOf(later), later.verdict, later.facts?.certified], ['', 'pass', 1]);
});

test('a passkey that somebody else registered for a worker whose key was never used fails', async () => {
  const strangers = { ...usual, ...early, vault: vaultOf(strangersKey) };
  const alone = { ...strangers, invitedBy: 'usr_9', confirmedBy: 'usr_9' };
  const cases: [what: string, change: object, key: Hex, account: typeof stranger, why: RegExp][] = [
    ['by a stranger alone', alone, strangersKey, stranger, /invited the worker confirmed/],
    ['by a stranger and a friend', strangers, strangersKey, stranger, /signature is refused: it was made by/],
    ['in the vault of the owner', { ...usual, ...early }, ownerKeys.seller, stranger, /signature is refused/],
  ];
  for (const [what, change, key, account, why] of cases) {
    const document = await registrationOf(es256, { account, change });
    const verdict = await judge({ statements: [{ document, key }], certify: certifiedBy(es256, document) });
    assert.equal(verdict.verdict, 'fail', what);
    assert.match(faultsOf(verdict), why, what);
    assert.match(
      faultsOf(verdict),
      /sign-off 2 \(certified\) its passkey is not one that the worker had/,
      what,
    );
    assert.equal(verdict.facts?.certified, 0, what);
  }
});

test('what the worker has signed counts only in the vault, the workspace and the place that they signed', async () => {
  const stolen = { statements: [{ document: first, key: strangersKey }], certify: certifiedBy(es256, first) };
  assert.match(faultsOf(await judge(stolen)), /sealed by another vault than it names/);
  const elsewhere = await registrationOf(es256, { change: { ...usual, ...early, workspaceId: 'ws_other' } });
  const moved = await judge({
    statements: [{ document: elsewhere }],
    certify: certifiedBy(es256, elsewhere),
  });
  assert.match(faultsOf(moved), /is about something else/);
  const again = { ...first, number: 2 };
  const replayed = await judge({
    statements: [{ document: first }, { document: again }],
    certify: certifiedBy(es256, again),
  });
  assert.match(faultsOf(replayed), /statement 2 is refused: only the first registration is signed by a key/);
});

test('a later passkey that no active one has signed, and one after the revocation of all, fail', async () => {
  const second = ecPasskey(0x46);
  const revocation = revocationOf({ number: 1, hash: hashOf(first), document: first } as never, {
    ...{ ...usual, revokedAt: '2026-01-20T00:00:03.000Z' },
  });
  const by = { passkey: es256, of: { number: 1, hash: hashOf(first) } };
  const after = await registrationOf(second, { number: 3, by, change: { ...usual, ...early } });
  const late = await judge({
    statements: [{ document: first }, { document: revocation }, { document: after }],
    certify: certifiedBy(second, after),
  });
  assert.match(faultsOf(late), /statement 3 is signed by a passkey that had been revoked/);
  const keyed = await registrationOf(second, { number: 2, change: { ...usual, ...early } });
  const byTheKey = await judge({
    statements: [{ document: first }, { document: keyed }],
    certify: certifiedBy(second, keyed),
  });
  assert.match(faultsOf(byTheKey), /only the first registration is signed by a key/);
});

test('a sign-off by the key of a worker who had a passkey by then fails', async () => {
  const keyed = await judge({
    statements: [{ document: first }],
    certify: (entry) => byKey({ ...unsigned, ...about(entry, 2) }, { method: 'own-key' }),
  });
  assert.match(faultsOf(keyed), /signed without a passkey, although the worker had one then/);
});

test('a sign-off whose licence ends at no time fails', async () => {
  const endless = await judge({
    statements: [],
    certify: (entry) =>
      byKey({ ...unsigned, ...about(entry, 2), licence: { ...licence, expiresAt: '31.12.2020' } }),
  });
  assert.match(faultsOf(endless), /licence\.expiresAt is not a time in UTC/);
  assert.equal(endless.facts?.certified, 0);
});
