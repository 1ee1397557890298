/** A dossier proves the times that trusted clocks vouch for, whatever it states about itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addressOf,
  checkTimed,
  makeTimedDossier,
  type TimedDossier,
  type TimedEntry,
} from '../../../test/support/fixtures/timed-dossier.ts';
import type { DossierVerdict } from './dossier-check.ts';

/** Sold in March, and sealed by the buyer in June. */
const honest = {
  created: { vouchedAt: '2026-01-01T00:00:00Z' },
  transferred: { vouchedAt: '2026-03-01T00:00:00Z' },
  entries: [
    { by: 'seller', recordedAt: '2026-02-01T00:00:00Z', vouchedAt: '2026-02-01T00:01:00Z' },
    { by: 'buyer', recordedAt: '2026-04-01T00:00:00Z', vouchedAt: '2026-04-01T00:01:00Z' },
  ],
  madeAt: '2026-06-01T00:00:00.000Z',
  sealed: { by: 'buyer', vouchedAt: '2026-06-01T00:01:00Z' },
} satisfies TimedDossier;
const [first, second] = honest.entries as [TimedEntry, TimedEntry];

async function judge(change: Partial<TimedDossier>): Promise<DossierVerdict> {
  return checkTimed(await makeTimedDossier({ ...honest, ...change }));
}

const faultsOf = ({ faults }: DossierVerdict) =>
  faults.map(({ place, message }) => `${place} ${message}`).join('\n');
const gapsOf = ({ gaps }: DossierVerdict) => [...gaps.keys()].join('\n');

test('an honest dossier passes, with the time that is vouched for and not the one that is stated', async () => {
  const result = await judge({});
  assert.equal(faultsOf(result), '');
  assert.equal(gapsOf(result), '');
  assert.deepEqual([result.verdict, result.seal, result.times], ['pass', 'valid', 'proven']);
  assert.equal(new Date(result.sealed?.time ?? 0).toISOString(), '2026-06-01T00:01:00.000Z');
  assert.match(result.sealed?.by ?? '', /^the timestamp authority /);
});

test('a former owner cannot seal a dossier of the time when the asset was its own', async () => {
  const backdated = {
    madeAt: '2026-02-15T00:00:00.000Z',
    entries: [first],
    sealed: { by: 'seller', vouchedAt: '2026-06-01T00:00:00Z' },
  } satisfies Partial<TimedDossier>;
  const forged = await judge(backdated);
  assert.deepEqual([forged.verdict, forged.seal, forged.sealed], ['fail', 'invalid', null]);
  assert.match(
    faultsOf(forged),
    /dossier-proof\.json is not the proof of this dossier: .* had given the asset away: the transfer existed on 2026-03-01T00:00:00Z, .* only on 2026-06-01T00:00:00Z/,
  );
  // It names the present owner.
  const disguised = await judge({ ...backdated, owner: 'buyer' });
  assert.match(
    faultsOf(disguised),
    new RegExp(
      `sealed by ${addressOf('seller').toLowerCase()}, but the owner .*is ${addressOf('buyer')}`,
      'i',
    ),
  );
  // It leaves out the transfer, which no proof can show to be missing; but not the time of its seal.
  const truncated = await judge({ ...backdated, transferred: null });
  assert.deepEqual([truncated.verdict, truncated.seal], ['incomplete', 'valid']);
  assert.match(gapsOf(truncated), /^That the dossier was created when it says: .* more than 24 hours later/);
});

test('what the block of a transfer states does not extend the time of the owner before', async () => {
  const forged = {
    transferred: { vouchedAt: '2026-03-01T00:00:00Z', blockAt: '2026-07-01T00:00:00Z' },
    madeAt: '2026-06-01T00:00:00.000Z',
    entries: [],
    sealed: { by: 'seller', vouchedAt: '2026-06-01T00:00:00Z' },
  } satisfies Partial<TimedDossier>;
  const extended = await judge(forged);
  assert.deepEqual([extended.verdict, extended.seal], ['fail', 'invalid']);
  assert.match(faultsOf(extended), /had given the asset away: the transfer existed on 2026-03-01/);
  // Without the token of the transfer, nothing shows when it was; then the seal is not one of the owner.
  const stripped = await judge({ ...forged, transferred: { ...forged.transferred, vouchedAt: null } });
  assert.deepEqual([stripped.verdict, stripped.seal], ['incomplete', 'former']);
  assert.match(gapsOf(stripped), /sealed by a vault that has given the asset away, and no trusted clock/);
  const late = {
    by: 'seller',
    recordedAt: '2026-06-01T00:00:00Z',
    vouchedAt: '2026-06-01T00:01:00Z',
  } as const;
  const entered = await judge({ ...forged, entries: [late], sealed: honest.sealed });
  assert.match(faultsOf(entered), /mnt_1 has a proof of something else: .* did not own the asset at 2026-06/);
});

test('an owner is not shown to have had the asset before a trusted clock vouches for it', async () => {
  const early = await judge({
    transferred: { vouchedAt: '2026-03-01T00:00:00Z', blockAt: '2025-03-01T00:00:00Z' },
  });
  assert.equal(faultsOf(early), '');
  assert.equal(early.verdict, 'incomplete');
  assert.match(
    gapsOf(early),
    /^Since when owners have the asset: a time in dossier\.json is more than 24 hours/,
  );
});

test('a transfer while the dossier was made is no fault, and is said', async () => {
  const met = await judge({
    madeAt: '2026-02-28T23:59:00.000Z',
    entries: [first],
    sealed: { by: 'seller', vouchedAt: '2026-03-01T12:00:00Z' },
  });
  assert.equal(faultsOf(met), '');
  assert.deepEqual([met.verdict, met.seal], ['incomplete', 'valid']);
  assert.match(gapsOf(met), /^The proofs name a later owner/);
});

test('finds a dossier that says it is younger than its seal, and one that does not say when it was made', async () => {
  const younger = await judge({ madeAt: '2026-06-02T00:00:00.000Z' });
  assert.equal(younger.verdict, 'fail');
  assert.match(
    faultsOf(younger),
    /dossier\.json states that it was created at 2026-06-02T00:00:00\.000Z, but it existed before: on 2026-06-01T00:01:00Z/,
  );
  assert.match(faultsOf(await judge({ madeAt: 'in spring' })), /does not state when it was created/);
});

test('finds entries that state a time after their proof, and says which times are not shown', async () => {
  const withSecond = (change: object) => judge({ entries: [first, { ...second, ...change }] });
  const later = await withSecond({ recordedAt: '2026-04-01T03:00:00Z' });
  assert.match(
    faultsOf(later),
    /mnt_2 states that it was recorded at 2026-04-01T03:00:00Z, but it existed before/,
  );
  const unstamped = await withSecond({ recordedAt: '2026-06-02T00:00:00Z', vouchedAt: null });
  assert.match(faultsOf(unstamped), /mnt_2 states .* but it existed before: on 2026-06-01T00:01:00Z/);
  const cases: [object, RegExp][] = [
    [{ recordedAt: '2026-03-20T00:00:00Z' }, /^When entries were recorded and signed: .* more than 24 hours/],
    [{ recordedAt: '2026-01-15T00:00:00Z', by: 'seller' }, /^When entries were recorded: .* order of their/m],
    [
      { recordedAt: '2026-03-01T00:00:00Z', by: 'seller' },
      /^That the owner sealed all entries and sign-offs/m,
    ],
  ];
  for (const [change, gap] of cases) {
    const result = await withSecond(change);
    assert.equal(faultsOf(result), '');
    assert.equal(result.verdict, 'incomplete');
    assert.match(gapsOf(result), gap);
  }
  const back = {
    by: 'seller',
    recordedAt: '2026-03-01T10:00:00Z',
    vouchedAt: '2026-03-01T10:01:00Z',
  } as const;
  const disorder = await judge({
    entries: [{ ...second, recordedAt: '2026-03-01T09:00:00Z', vouchedAt: '2026-03-01T09:01:00Z' }, back],
  });
  assert.match(gapsOf(disorder), /^That the owner sealed all entries: one is sealed by an earlier owner/);
});

test('where nobody vouches, all times are statements that must agree, and the page says so', async () => {
  const unstamped = (at: string) => ({ vouchedAt: null, blockAt: at });
  const statements: Partial<TimedDossier> = {
    created: unstamped('2026-01-01T00:00:00Z'),
    transferred: unstamped('2026-03-01T00:00:00Z'),
    entries: honest.entries.map((entry) => ({ ...entry, ...unstamped(entry.vouchedAt) })),
    sealed: { by: 'buyer', ...unstamped('2026-06-01T00:01:00Z') },
  };
  const result = await judge(statements);
  assert.equal(faultsOf(result), '');
  assert.deepEqual([result.verdict, result.seal, result.sealed], ['incomplete', 'valid', null]);
  assert.match(gapsOf(result), /^When it was anchored: [^\n]*$/);
  const former = await judge({
    ...statements,
    entries: [],
    sealed: { by: 'seller', ...unstamped('2026-06-01T00:01:00Z') },
  });
  assert.match(faultsOf(former), /which did not own the asset at 2026-06-01/);
});
