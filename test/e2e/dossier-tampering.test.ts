/** A dossier holds as it was made, and whatever is changed in it, left out or added is found. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { dossierPaths, type EntryLine } from '../../src/maintenance/dossier-check/dossier-format.ts';
import { makeSignoffTypedData } from '../../src/maintenance/signing/signoff.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import { check, type ReadDossier } from '../support/clients/dossier-reader.ts';
import { type DossierFixture, openDossierFixture } from '../support/fixtures/dossier-fixture.ts';
import type { Service } from '../support/service/service.ts';

let fixture: DossierFixture;
let service: Service;
let made: ReadDossier;

before(async () => {
  fixture = await openDossierFixture();
  ({ service, made } = fixture);
});
after(() => fixture?.close());

const pdfs = 'The logbook and the release certificates were not checked: no proof covers these PDF files.';
const complete =
  'That nothing was left out: each entry and sign-off has its own proof, but no proof says how many there are.';

test('an untampered dossier has no fault, and with a chain only its clock is unproven', async () => {
  const { verdict, files } = made;
  assert.deepEqual(verdict.faults, []);
  assert.equal(verdict.verdict, 'incomplete');
  assert.deepEqual(
    [...verdict.gaps.keys()],
    [pdfs, 'That it was anchored on the chain, and when: no chain node was queried.', complete],
  );
  assert.deepEqual(verdict.counts, { ...verdict.counts, entries: 3, signoffs: 4, versions: 3 });
  const asked = await check(files, relayReader(service));
  assert.deepEqual(asked.faults, []);
  assert.deepEqual(
    [...asked.gaps.keys()].filter((gap) => !gap.startsWith('The finality')),
    [pdfs, 'The time of the anchors: the operator of this development chain can set its clock.', complete],
  );
});

test('finds whatever is changed, left out or added', async () => {
  const part = 'entries/00001.jsonl';
  const other = privateKeyToAccount(`0x${'11'.repeat(32)}`);
  /** Changes one line, and has everything else fit as somebody who tampers would. */
  const changed = async (
    place: number,
    change: (line: EntryLine) => unknown,
  ): Promise<Map<string, Buffer>> => {
    const lines = structuredClone(made.lines);
    const line = lines[place] ?? assert.fail();
    const gone = (await change(line)) === null;
    return relisted(
      part,
      lines
        .filter((one) => !gone || one !== line)
        .map((one) => `${JSON.stringify(one)}\n`)
        .join(''),
    );
  };
  const signoff = (line: EntryLine) => line.signoffs[1] ?? assert.fail();
  const cases: [string, Promise<Map<string, Buffer>>, RegExp][] = [
    ['a summary', changed(2, ({ entry }) => (entry.summary = 'All fine')), /was changed/],
    ['an entry left out', changed(0, () => null), /number 2, but dossier.json counts 3/],
    ['a correction left out', changed(2, () => null), /marked as corrected by .*, which does not correct it/],
    [
      'an entry twice',
      changed(0, (line) => Object.assign(line, structuredClone(made.lines[1]))),
      /occurs twice/,
    ],
    [
      'a proof of another',
      changed(0, (line) => (line.proof = made.lines[1]?.proof ?? null)),
      /fails at digest|something else/,
    ],
    [
      'a sign-off left out',
      changed(1, (line) => (line.signoffs = line.signoffs.slice(1))),
      /break a rule|lacks a sign-off/,
    ],
    [
      'a licence made longer',
      changed(1, (line) =>
        Object.assign(signoff(line).document.licence ?? {}, { expiresAt: '2099-01-01T00:00:00Z' }),
      ),
      /does not match its hash/,
    ],
    [
      'another licence number',
      changed(1, (line) => Object.assign(signoff(line).document.licence ?? {}, { number: 'X' })),
      /the signature is refused/,
    ],
    [
      'another signer',
      changed(1, async (line) => {
        const { document, typedData } = signoff(line);
        document.signature = await other.signTypedData(makeSignoffTypedData(typedData.message));
      }),
      /the signature is refused/,
    ],
    [
      'a seal',
      changed(2, ({ proof }) => Object.assign(proof?.seal ?? {}, { sequence: 999 })),
      /fails at seal/,
    ],
    ['entries in another order', relisted(part, reordered()), /is out of order/],
    [
      'sign-offs left out, and counted so',
      changed(1, (line) => (line.signoffs = [])).then((files) =>
        recounted(files, { signoffs: 2, provenSignoffs: 2 }),
      ),
      /certified entries number 1, but dossier.json counts 2/,
    ],
    ['more certified', summary(({ counts }) => (counts.certified = 3)), /certified entries number 2/],
    ['more usage', summary(({ asset }) => (asset.usage.hours = 1)), /The usage is 120 hours, .* says 1/],
    ['other metadata', summary(({ asset }) => (asset.metadata.maker = 'X')), /a different metadata/],
    ['no installation', summary((dossier) => (dossier.installations = [])), /different installations/],
    ['installed nowhere', summary(({ asset }) => (asset.parentAssetId = null)), /installed somewhere else/],
    ['fewer versions', summary(({ asset }) => (asset.version = 1)), /the wrong number of versions/],
    ['more versions', summary(({ counts }) => (counts.versions = 9)), /number 2, but dossier.json counts 9/],
    ['an older owner', ownedSince(0, '2020-01-01T00:00:00.000Z'), /since 2020-01-01T00:00:00.000Z, but the/],
    [
      'another transfer',
      ownedSince(1, '2020-01-01T00:00:00.000Z'),
      /since 2020-01-01T00:00:00.000Z, but the/,
    ],
    ['no time of a transfer', ownedSince(1, ''), /since , but the proofs say since/],
    [
      'real evidence',
      summary((dossier) => (dossier.developmentEvidence = false)),
      /is from a development chain/,
    ],
    [
      'another anchor',
      changed(0, ({ anchor }) => Object.assign(anchor ?? {}, { blockNumber: 1 })),
      /a different anchor than its proof/,
    ],
    ['no attachment', changed(1, (line) => (line.attachments = [])), /attachments other than its own/],
    [
      'another serial number',
      summary(({ asset }) => (asset.serialNumber = 'S-2')),
      /a different serialNumber/,
    ],
    [
      'another owner',
      summary(({ owners }) => Object.assign(owners[1]?.vault ?? {}, { address: other.address })),
      /differ from those in the proofs/,
    ],
    [
      'a file more',
      Promise.resolve(new Map([...made.files, ['extra.pdf', Buffer.from('x')]])),
      /is not part of the dossier/,
    ],
    [
      'a file changed',
      Promise.resolve(new Map([...made.files, ['logbook.pdf', Buffer.from('x')]])),
      /has changed since it was written/,
    ],
    [
      'a file less',
      Promise.resolve(new Map([...made.files].filter(([name]) => name !== 'logbook.pdf'))),
      /is missing/,
    ],
    [
      'no summary',
      Promise.resolve(new Map([...made.files].filter(([name]) => name !== 'dossier.json'))),
      /not a dossier/,
    ],
  ];
  for (const [what, files, expected] of cases) {
    const { verdict, faults } = await check(await files);
    assert.equal(verdict, 'fail', what);
    assert.match(faults.map(({ place, message }) => `${place} ${message}`).join('\n'), expected, what);
  }
});

test('reports an owner that the proofs name but dossier.json leaves out', async () => {
  const { gaps } = await check(
    await summary((dossier) => {
      dossier.owners.length = 1;
      dossier.owner = dossier.owners[0]?.vault ?? assert.fail();
    }),
  );
  assert.match([...gaps.keys()].join('\n'), /The proofs name a later owner, 0x[0-9a-f]{40},/);
});

test('takes the times of owners from anchors on the chain, whatever others a proof names', async () => {
  const history = JSON.parse(String(made.files.get(dossierPaths.history)));
  const sold = history.proofs.find(({ kind }: { kind: string }) => kind === 'transfer');
  const since = '2020-01-01T00:00:00.000Z';
  const elsewhere = { ...sold.anchors[0], chainId: 999, blockTime: Date.parse(since) / 1000 };
  sold.anchors.unshift(elsewhere);
  const files = await relisted(dossierPaths.history, JSON.stringify(history));
  assert.deepEqual((await check(files, relayReader(service))).faults, []);
  const dossier = JSON.parse(String(files.get('dossier.json')));
  dossier.owners[1].since = since;
  files.set('dossier.json', Buffer.from(JSON.stringify(dossier)));
  const { verdict, faults } = await check(files, relayReader(service));
  assert.equal(verdict, 'fail');
  assert.match(
    JSON.stringify(faults),
    /The owners.*since 2020-01-01T00:00:00.000Z, but the proofs say since/,
  );
});

function ownedSince(place: number, since: string): Promise<Map<string, Buffer>> {
  return summary(({ owners }) => Object.assign(owners[place] ?? {}, { since }));
}

const reordered = () =>
  [made.lines[1], made.lines[0], made.lines[2]].map((line) => `${JSON.stringify(line)}\n`).join('');

function recounted(files: Map<string, Buffer>, counts: object): Map<string, Buffer> {
  const dossier = JSON.parse(String(files.get('dossier.json')));
  Object.assign(dossier.counts, counts);
  return files.set('dossier.json', Buffer.from(JSON.stringify(dossier)));
}

async function summary(change: (dossier: ReadDossier['dossier']) => unknown): Promise<Map<string, Buffer>> {
  const dossier = structuredClone(made.dossier);
  change(dossier);
  return new Map([...made.files, ['dossier.json', Buffer.from(JSON.stringify(dossier))]]);
}

function relisted(path: string, text: string): Promise<Map<string, Buffer>> {
  const bytes = Buffer.from(text);
  made.files.set(path, made.files.get(path) ?? bytes);
  return summary(({ contents }) => {
    const listed = contents.find((one) => one.path === path);
    if (!listed) assert.fail(`${path} is not listed`);
    listed.bytes = bytes.length;
    listed.sha256 = createHash('sha256').update(bytes).digest('hex');
  }).then((files) => files.set(path, bytes));
}
