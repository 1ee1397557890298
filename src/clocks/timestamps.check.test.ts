/** What `holdfast fsck` finds in timestamps and in what heads cover, with one thing broken at a time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import {
  minute,
  openStampingFixture,
  type StampingFixture,
} from '../../test/support/fixtures/stamping-fixture.ts';
import { provedAnchor } from '../../test/support/opentimestamps/proved-anchor.ts';
import { createTestAuthority } from '../../test/support/timestamps/test-authority.ts';
import type { Db } from '../db/database.ts';
import type { CheckReport } from '../runtime/check.ts';

let fixture: StampingFixture;
/** Two tokens that a third renews, with two batches between the second and the third. */
before(async () => {
  fixture = await openStampingFixture();
  const ending = (years: number) =>
    createTestAuthority({
      around: fixture.now,
      signer: { notAfter: Math.floor(fixture.now / 1_000) * 1_000 + years * 365 * 24 * 60 * minute },
    });
  await fixture.replaceServer(ending(1));
  const clocks = fixture.open();
  const stamped = async () => {
    await clocks.batch();
    await clocks.step();
  };
  await stamped();
  fixture.now += minute;
  await stamped();
  await clocks.batch();
  await clocks.batch();
  await fixture.replaceServer(ending(9));
  for (let made = 0; made < 2; made += 1) {
    fixture.now += minute;
    await stamped();
  }
});
after(() => fixture.close());

/** Breaks something, looks, and takes it back. */
async function broken(...statements: RawBuilder<unknown>[]): Promise<CheckReport> {
  const takeBack = new Error('taken back');
  let report: CheckReport | undefined;
  await fixture.db
    .transaction()
    .execute(async (db: Db) => {
      for (const statement of statements) await statement.execute(db);
      report = await fixture.fsck(db);
      throw takeBack;
    })
    .catch((error) => {
      if (error !== takeBack) throw error;
    });
  assert.ok(report);
  assert.deepEqual(report.skipped, []);
  return report;
}

const rulesOf = ({ findings }: CheckReport) => findings.map(({ rule }) => rule).sort();

test('finds nothing in what is right, and looks at all of it', async () => {
  const report = await fixture.fsck();
  assert.deepEqual(report.findings, []);
  const [tokens, batches] = [await fixture.tokens(), await fixture.batches()];
  assert.equal(report.checked, tokens.length + batches.length);
  assert.deepEqual([tokens.length, batches.length], [4, 6]);
  assert.deepEqual(
    tokens.map(({ renewed, covered }) => [renewed, covered]),
    [
      [true, true],
      [true, true],
      [false, true],
      [false, false],
    ],
  );
});

const first = sql`(select min(id) from timestamps)`;
const last = sql`(select max(id) from timestamps)`;
const lastHead = sql`(select max(head_batch_id) from evidence)`;
const anOts = provedAnchor();

const cases: [name: string, statements: RawBuilder<unknown>[], rules: string[]][] = [
  [
    'a token with one bit changed',
    [sql`update timestamps set proof = set_byte(proof, 99, get_byte(proof, 99) # 1) where id = ${last}`],
    ['token_fails'],
  ],
  [
    'a covered token that was replaced',
    [
      sql`update timestamps set proof = (select proof from timestamps where id = ${last}) where id = ${first}`,
    ],
    ['evidence_item', 'evidence_item', 'token_fails'],
  ],
  [
    'a token with another end',
    [sql`update timestamps set valid_until = valid_until + interval '20 years' where id = ${last}`],
    ['timestamp_renewed', 'token_times'],
  ],
  [
    'a token whose end is a second later, which renews nothing',
    [sql`update timestamps set valid_until = valid_until + interval '1 s' where id = ${last}`],
    ['token_times'],
  ],
  [
    'a token with a list that is not stored',
    [sql`update timestamps set crl_hashes = array[sha256('x')] where id = ${last}`],
    ['timestamp_file_missing'],
  ],
  [
    'a certificate that was changed',
    [sql`insert into timestamp_files (sha256, bytes) values (sha256('x'), 'y')`],
    ['timestamp_file'],
  ],
  [
    'a token with another time',
    [sql`update timestamps set vouched_at = vouched_at + interval '1 s' where id = ${last}`],
    ['token_times'],
  ],
  [
    'an OpenTimestamps proof of something else',
    [
      sql`insert into timestamps (batch_id, kind, authority, proof, complete)
          select max(id), 'opentimestamps', '', decode(${anOts.anchor.proof}, 'base64'), false from anchor_batches`,
    ],
    ['ots_fails'],
  ],
  [
    'a covered token marked otherwise',
    [sql`update timestamps set covered = false where id = ${first}`],
    ['timestamp_covered'],
  ],
  [
    'a token marked as covered',
    [sql`update timestamps set covered = true where id = ${last}`],
    ['timestamp_covered'],
  ],
  [
    'a renewed token marked otherwise',
    [sql`update timestamps set renewed = false where id = ${first}`],
    ['timestamp_renewed'],
  ],
  [
    'a token marked as renewed',
    [sql`update timestamps set renewed = true where id = ${last}`],
    ['timestamp_renewed'],
  ],
  [
    'a stamped batch marked otherwise',
    [sql`update anchor_batches set stamped = false`],
    Array(6).fill('batch_stamped'),
  ],
  [
    'a batch whose token is gone',
    [
      sql`delete from evidence where timestamp_id = ${first}`,
      sql`delete from timestamps where id = ${first}`,
    ],
    ['batch_stamped', 'evidence_gap', 'evidence_root', 'evidence_root'],
  ],
  [
    'an item that was removed',
    [sql`delete from evidence where head_batch_id = ${lastHead} and position = 0`],
    ['evidence_gap', 'evidence_root', 'timestamp_covered'],
  ],
  [
    'an item with another hash',
    [sql`update evidence set sha256 = sha256('x') where head_batch_id = ${lastHead} and position = 0`],
    ['evidence_item', 'evidence_root'],
  ],
  [
    'a head with another root',
    [sql`update anchor_batches set evidence_root = sha256('x') where id = ${lastHead}`],
    ['evidence_root'],
  ],
];

for (const [name, statements, rules] of cases) {
  test(`gives the right findings for ${name}`, async () => {
    assert.deepEqual(rulesOf(await broken(...statements)), rules);
  });
}

test('says which tokens lead to a root that is no longer configured', async () => {
  const { findings } = await fixture.fsck(fixture.db, { trusted: null });
  assert.deepEqual(new Set(findings.map(({ rule }) => rule)), new Set(['token_untrusted']));
  assert.match(
    findings[0]?.message ?? '',
    /^The timestamp \d+ of batch \d+ leads to no root that is trusted here/,
  );
  assert.match(findings[0]?.advice ?? '', /HOLDFAST_TSA_ROOTS/);
});
