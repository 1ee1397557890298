/** A dossier's entries say what is in force, have one form, and name each of their attached files. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { fixed, utf8 } from '../../../test/support/fixtures/proof-fixture.ts';
import {
  checkTimed,
  makeTimedDossier,
  type TimedDossier,
  type TimedEntry,
} from '../../../test/support/fixtures/timed-dossier.ts';
import { byKey, licence, release, unsigned } from '../../../test/support/vectors/signoff-made.ts';
import type { AttachedFile } from '../signing/maintenance-entry.ts';
import type { SignedEntry } from '../signing/signoff.ts';
import type { DossierVerdict } from './dossier-check.ts';
import { attachmentPath, type DossierAttachment } from './dossier-format.ts';

const recorded = {
  by: 'seller',
  recordedAt: '2026-02-01T00:00:00Z',
  vouchedAt: '2026-02-01T00:05:00Z',
} as const;
const next = { by: 'seller', recordedAt: '2026-02-02T00:00:00Z', vouchedAt: '2026-02-02T00:05:00Z' } as const;

const dossierOf = (entries: TimedEntry[], more: Partial<TimedDossier> = {}) =>
  makeTimedDossier({
    ...{ created: { vouchedAt: '2026-01-01T00:00:00Z' }, transferred: null, entries },
    ...{ madeAt: '2026-06-01T00:00:00.000Z', sealed: { by: 'seller', vouchedAt: '2026-06-01T00:01:00Z' } },
    ...more,
  });
const judge = async (entries: TimedEntry[], more: Partial<TimedDossier> = {}): Promise<DossierVerdict> =>
  checkTimed(await dossierOf(entries, more));

const faultsOf = ({ faults }: DossierVerdict) =>
  faults.map(({ place, message }) => `${place} ${message}`).join('\n');
const gapsOf = ({ gaps }: DossierVerdict) => [...gaps.keys()].join('\n');

async function signed(entry: SignedEntry) {
  const { release: _, ...unreleased } = unsigned;
  const performer = privateKeyToAccount(fixed(0x55));
  const about = { ...entry, licence: { ...licence, scope: '*' } };
  const performed = {
    ...{ ...unreleased, ...about, signedAt: '2026-02-01T00:00:01.000Z', role: 'performed' },
    ...{ licence: null, workerAddress: performer.address },
  };
  const certified = {
    ...{ ...unsigned, ...about, signedAt: '2026-02-01T00:00:02.000Z' },
    release: { ...release, asset: { version: 1, name: 'Pump', partNumber: '', serialNumber: 'S-1' } },
  };
  return [await byKey(performed, { method: 'own-key' }, performer), await byKey(certified)];
}

test('a certification counts until its entry is corrected, also by a correction that nobody signed', async () => {
  const certified = { ...recorded, signoffs: signed };
  const alone = await judge([certified]);
  assert.deepEqual([faultsOf(alone), alone.verdict], ['', 'pass']);
  assert.deepEqual([alone.facts?.certified, alone.facts?.withdrawn], [1, []]);
  const corrected = await judge([
    { ...certified, line: { supersededBy: 'mnt_2' } },
    { ...next, entry: { supersedes: 'mnt_1' } },
  ]);
  assert.equal(faultsOf(corrected), '');
  assert.deepEqual(
    [corrected.facts?.certified, corrected.facts?.withdrawn],
    [0, [{ maintenanceId: 'mnt_1', correctedBy: 'mnt_2' }]],
  );
});

test('an entry whose times are not in UTC, or that has another form, is a fault', async () => {
  const cases: [change: TimedEntry['entry'], why: RegExp][] = [
    [{ recordedAt: '2026-02-01T00:00:00' }, /mnt_1 has an entry of another form: recordedAt is not a time/],
    [{ recordedAt: '2026-02-01T01:00:00+01:00' }, /recordedAt is not a time in UTC/],
    [{ recordedAt: '2026-02-30T00:00:00Z' }, /recordedAt is not a time in UTC/],
    [{ performedAt: '2026-01-01' }, /performedAt is not a time in UTC/],
    [{ performedAt: 'January' }, /performedAt is not a time in UTC/],
    [{ supersedes: 7 as never }, /supersedes is not a text/],
    [{ data: null as never }, /data is not an object|is not an entry/],
    [{ format: 'holdfast/maintenance@2' as never }, /format is not "holdfast\/maintenance@1"/],
  ];
  for (const [entry, why] of cases) {
    const verdict = await judge([{ ...recorded, ...(entry && { entry }) }]);
    assert.equal(verdict.verdict, 'fail', JSON.stringify(entry));
    assert.match(faultsOf(verdict), why);
  }
});

test('entries are in the order of the work, however their times are written', async () => {
  const ordered = await judge([
    { ...recorded, entry: { performedAt: '2026-01-01T00:00:00Z' } },
    { ...next, entry: { performedAt: '2026-01-01T00:00:00.500Z' } },
  ]);
  assert.deepEqual([faultsOf(ordered), ordered.verdict], ['', 'pass']);
  const swapped = await judge([
    { ...recorded, entry: { performedAt: '2026-01-01T00:00:00.500Z' } },
    { ...next, entry: { performedAt: '2026-01-01T00:00:00Z' } },
  ]);
  assert.match(faultsOf(swapped), /mnt_2 is out of order/);
});

const bytes = utf8('%PDF-1.7 report');
const other = utf8('%PDF-1.7 another');
const hashOf = (content: Uint8Array) => `0x${createHash('sha256').update(content).digest('hex')}` as const;

function fileOf(fileId: string, content: Uint8Array): AttachedFile {
  return {
    ...{ fileId, version: 1, name: `${fileId}.pdf` },
    ...{ contentHash: hashOf(content), canonicalization: 'raw' },
  };
}

function attached(files: AttachedFile[], pathOf: (file: AttachedFile) => string | null): TimedEntry {
  const attachments = files.map((file) => ({
    ...{ ...file, mediaType: 'application/pdf', size: 15, path: pathOf(file) },
  })) as DossierAttachment[];
  return { ...recorded, entry: { files }, line: { attachments } };
}

test('each attached file is checked, and those that are missing are named', async () => {
  const [one, two] = [fileOf('fil_1', bytes), fileOf('fil_2', other)];
  const [onePath, twoPath] = [attachmentPath(one), attachmentPath(two)];
  const included = (files: Record<string, Uint8Array>) => ({ attachmentsIncluded: true, files });

  const whole = await judge(
    [attached([one, two], attachmentPath)],
    included({ [onePath]: bytes, [twoPath]: other }),
  );
  assert.deepEqual([faultsOf(whole), gapsOf(whole), whole.verdict], ['', '', 'pass']);
  assert.equal(whole.counts.attachments, 2);

  const without = await judge([attached([one, two], () => null)], included({}));
  assert.equal(without.verdict, 'incomplete');
  assert.match(
    gapsOf(without),
    /^Attached files whose bytes are not in the dossier: fil_1\.pdf \(fil_1, version 1\), fil_2\.pdf \(fil_2/,
  );
  assert.equal((await judge([attached([one], () => null)])).verdict, 'pass', 'they were not requested');

  const erased = await judge([attached([one], attachmentPath)], included({}));
  assert.equal(erased.verdict, 'incomplete');
  assert.match(gapsOf(erased), /that entries list and the dossier lacks: .*: fil_1\.pdf/);

  const onePathForBoth = await judge([attached([one, two], () => twoPath)], included({ [twoPath]: other }));
  assert.equal(onePathForBoth.verdict, 'fail');
  assert.match(faultsOf(onePathForBoth), /mnt_1 says that fil_1\.pdf is at attachments\/fil_2-v1\.pdf/);

  // Two entries that attach one version of a file, of which only one has its hash.
  const disguised = await judge(
    [
      attached([{ ...one, contentHash: hashOf(other) }], attachmentPath),
      { ...attached([one], attachmentPath), ...next },
    ],
    included({ [onePath]: bytes }),
  );
  assert.equal(disguised.verdict, 'fail');
  assert.match(faultsOf(disguised), /is not the file fil_1\.pdf that its entry mnt_1 names/);

  const pathless = await judge([attached([one], () => 7 as never)], included({}));
  assert.match(faultsOf(pathless), /mnt_1 says that fil_1\.pdf is at 7/);
});
