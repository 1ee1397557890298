/** A dossier holds as it was made, and whatever is changed in it, left out or added is found by the proofs alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { dossierPaths, type EntryLine } from '../../src/maintenance/dossier-check/dossier-format.ts';
import { typedDataToSign } from '../../src/maintenance/signing/typed-data.ts';
import { recordDigest } from '../../src/proof/content.ts';
import { fromHex } from '../../src/proof/hex.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import { check, type ReadDossier } from '../support/clients/dossier-reader.ts';
import { type DossierFixture, openDossierFixture } from '../support/fixtures/dossier-fixture.ts';
import { createForger, type DossierForger, part, unsealed } from '../support/fixtures/dossier-forger.ts';
import type { Service } from '../support/service/service.ts';

let fixture: DossierFixture;
let service: Service;
let made: ReadDossier;
let forger: DossierForger;

before(async () => {
  fixture = await openDossierFixture();
  ({ service, made } = fixture);
  forger = createForger(made);
});
after(() => fixture?.close());

type Files = Map<string, Buffer>;

const notAsked =
  'When it was anchored: no chain node was asked for the hashes of the blocks, and no other trusted clock vouches for a time.';

test('an untampered dossier has no fault, and with a chain only its clock is unproven', async () => {
  const { verdict, files } = made;
  assert.deepEqual(verdict.faults, []);
  assert.deepEqual([verdict.verdict, verdict.seal, verdict.times], ['incomplete', 'valid', 'development']);
  assert.deepEqual([...verdict.gaps.keys()], [notAsked]);
  assert.deepEqual(verdict.counts, { ...verdict.counts, entries: 3, signoffs: 4, versions: 3 });
  assert.deepEqual(verdict.facts, {
    asset: { version: 2, name: 'Pump', serialNumber: 'S-1', partNumber: '' },
    owners: made.dossier.owners.map(({ vault }) => vault.address.toLowerCase()),
    installations: 1,
    entries: 3,
    signoffs: 4,
    certified: 1,
    withdrawn: [{ maintenanceId: fixture.ids.first, correctedBy: fixture.ids.correction }],
    usage: { hours: 120, cycles: 0 },
    isChain: true,
  });
  const asked = await check(files, relayReader(service));
  assert.deepEqual(asked.faults, []);
  assert.deepEqual(
    [...asked.gaps.keys()].filter((gap) => !gap.startsWith('The finality')),
    ['When it was anchored: the chain is not a known public one, so its operator may set its clock.'],
  );
});

/** What is found in the changed dossier without its seal; with the seal, which nobody can make again, it fails at that. */
async function found(what: string, files: Files): Promise<string> {
  const sealed = await check(files);
  assert.equal(sealed.verdict, 'fail', what);
  assert.equal(sealed.seal, 'invalid', what);
  assert.match(JSON.stringify(sealed.faults), /dossier-proof\.json.*fails at digest/, what);
  const { verdict, faults } = await check(unsealed(files));
  assert.equal(verdict, 'fail', what);
  return faults.map(({ place, message }) => `${place} ${message}`).join('\n');
}

test('finds every change of an entry, and every entry that is missing between others', async () => {
  const { changed, entries } = forger;
  const numbered = (lines: EntryLine[], number: number) =>
    lines.find((line) => line.number === number) ?? assert.fail();
  const cases: [string, Promise<Files>, RegExp][] = [
    ['a summary', changed(2, ({ entry }) => (entry.summary = 'All fine')), /was changed/],
    ['the first entry left out', removed(1), /Entry number 1 is missing/],
    ['one in the middle left out', removed(2), /Entry number 2 is missing/],
    ['all but the last left out', removed(1, 2), /Entries number 1 to 2 are missing/],
    [
      'a number changed',
      changed(0, (line) => (line.number = 4)),
      /listed as number 4, but its leaf claims number 2.*Entry number 2 is missing/s,
    ],
    [
      'two numbers swapped',
      entries((lines) => {
        Object.assign(numbered(lines, 1), { number: -1 });
        Object.assign(numbered(lines, 2), { number: 1 });
        Object.assign(numbered(lines, -1), { number: 2 });
        return lines;
      }),
      /its leaf claims number 2.*its leaf claims number 1/s,
    ],
    ['a number beyond all', changed(0, (line) => (line.number = 2 ** 53)), /has no number/],
    ['a huge number', changed(0, (line) => (line.number = 2 ** 52)), /to 4503599627370495 are missing/],
    [
      'an entry twice',
      changed(0, (line) => Object.assign(line, structuredClone(made.lines[1]))),
      /occurs twice/,
    ],
    [
      'an entry in place of another, as if it were not anchored yet',
      changed(0, (line) => Object.assign(line, unanchored(line, 'Nothing found'))),
      new RegExp(`${made.lines[2]?.maintenanceId} does not follow ${made.lines[0]?.maintenanceId}`),
    ],
    [
      'the same, without its leaf',
      changed(0, (line) => Object.assign(line, { ...unanchored(line, 'x'), pending: undefined })),
      /has neither a proof nor the parts of its leaf/,
    ],
    [
      'a proof of another',
      changed(0, (line) => (line.proof = made.lines[1]?.proof ?? null)),
      /fails at digest|something else/,
    ],
    [
      'claims left out of a proof',
      changed(0, ({ proof }) => Object.assign(proof ?? {}, { claims: null })),
      /it names another asset/,
    ],
    [
      'a seal',
      changed(2, ({ proof }) => Object.assign(proof?.seal ?? {}, { sequence: '999' })),
      /fails at seal/,
    ],
    ['entries in another order', entries(([a, b, c]) => [b, a, c] as EntryLine[]), /is out of order/],
    [
      'another anchor',
      changed(0, ({ anchor }) => Object.assign(anchor ?? {}, { blockNumber: 1 })),
      /a different anchor than its proof/,
    ],
    ['no attachment', changed(1, (line) => (line.attachments = [])), /attachments other than its own/],
  ];
  for (const [what, files, expected] of cases) assert.match(await found(what, await files), expected, what);
});

/** Without the entries of these numbers, and as if nothing had ever referred to them. */
function removed(...numbers: number[]): Promise<Files> {
  return forger.entries((lines) => lines.filter(({ number }) => !numbers.includes(number)));
}

/** The line of an entry that nobody sealed, with everything that can be made up. */
function unanchored(line: EntryLine, summary: string): Partial<EntryLine> {
  const entry = { ...line.entry, summary };
  const claims = line.proof?.claims ?? assert.fail();
  const vault = line.proof?.leaf.values[6] ?? assert.fail();
  const maintenanceHash = recordDigest(fromHex(line.salt), entry);
  return {
    ...{ entry, maintenanceHash, pending: { vault, claims } },
    ...{ proof: null, status: 'pending', anchor: null, signoffs: [] },
  };
}

test('finds every change of a sign-off, and every one that is missing before others', async () => {
  const { changed } = forger;
  const other = privateKeyToAccount(`0x${'11'.repeat(32)}`);
  const second = (line: EntryLine) => line.signoffs[1] ?? assert.fail();
  const cases: [string, Promise<Files>, RegExp][] = [
    [
      'the first one left out',
      changed(1, (line) => (line.signoffs = line.signoffs.slice(1))),
      /lacks a sign-off/,
    ],
    [
      'the first one left out, and the other one given its number',
      changed(1, (line) => (line.signoffs = [{ ...second(line), number: 1 }])),
      /its version is 2/,
    ],
    [
      'a licence made longer',
      changed(1, (line) =>
        Object.assign(second(line).document.licence ?? {}, { expiresAt: '2099-01-01T00:00:00Z' }),
      ),
      /does not match its hash/,
    ],
    [
      'another licence number',
      changed(1, (line) => Object.assign(second(line).document.licence ?? {}, { number: 'X' })),
      /the signature is refused/,
    ],
    [
      'another signer',
      changed(1, async (line) => {
        const { document, typedData } = second(line);
        document.signature = await other.signTypedData(typedDataToSign(typedData));
      }),
      /the signature is refused/,
    ],
    [
      'one of another entry',
      changed(1, (line) => (line.signoffs = structuredClone(made.lines[2]?.signoffs ?? []))),
      /does not match the entry/,
    ],
  ];
  for (const [what, files, expected] of cases) assert.match(await found(what, await files), expected, what);
});

test('finds what dossier.json says of the asset against the proofs', async () => {
  const { summary } = forger;
  const at = '2020-01-01T00:00:00.000Z';
  const ownedSince = (place: number, since: string) =>
    summary(({ owners }) => Object.assign(owners[place] ?? {}, { since }));
  const cases: [string, Files, RegExp][] = [
    ['more entries', summary(({ counts }) => (counts.entries = 4)), /number 3, but dossier.json counts 4/],
    ['more certified', summary(({ counts }) => (counts.certified = 3)), /certified entries number 2/],
    ['more usage', summary(({ asset }) => (asset.usage.hours = 1)), /The usage is 120 hours, .* says 1/],
    ['other metadata', summary(({ asset }) => (asset.metadata.maker = 'X')), /a different metadata/],
    ['no installation', summary((dossier) => (dossier.installations = [])), /different installations/],
    ['installed nowhere', summary(({ asset }) => (asset.parentAssetId = null)), /installed somewhere else/],
    ['fewer versions', summary(({ asset }) => (asset.version = 1)), /the wrong number of versions/],
    ['more versions', summary(({ counts }) => (counts.versions = 9)), /number 2, but dossier.json counts 9/],
    ['an older owner', ownedSince(0, at), /since 2020-01-01T00:00:00.000Z, but the/],
    ['another transfer', ownedSince(1, at), /since 2020-01-01T00:00:00.000Z, but the/],
    ['no time of a transfer', ownedSince(1, ''), /since , but the proofs say since/],
    [
      'real evidence',
      summary((dossier) => (dossier.developmentEvidence = false)),
      /is from a development chain/,
    ],
    [
      'another serial number',
      summary(({ asset }) => (asset.serialNumber = 'S-2')),
      /a different serialNumber/,
    ],
    [
      'another owner',
      summary(({ owners }) => Object.assign(owners[1]?.vault ?? {}, { address: `0x${'ab'.repeat(20)}` })),
      /differ from those in the proofs/,
    ],
  ];
  for (const [what, files, expected] of cases) assert.match(await found(what, files), expected, what);
});

test('finds files that were changed, left out or added', async () => {
  const { files } = made;
  const cases: [string, Files, RegExp][] = [
    ['a file more', new Map([...files, ['extra.pdf', Buffer.from('x')]]), /is not part of the dossier/],
    ['a file changed', new Map([...files, ['logbook.pdf', Buffer.from('x')]]), /has changed since/],
    ['a file less', new Map([...files].filter(([name]) => name !== 'logbook.pdf')), /is missing/],
    ['no summary', new Map([...files].filter(([name]) => name !== 'dossier.json')), /not a dossier/],
  ];
  for (const [what, changed, expected] of cases) {
    const { verdict, faults } = await check(changed);
    assert.equal(verdict, 'fail', what);
    assert.match(faults.map(({ place, message }) => `${place} ${message}`).join('\n'), expected, what);
  }
});

test('reports an owner that the proofs name but dossier.json leaves out', async () => {
  const files = forger.summary((dossier) => {
    dossier.owners.length = 1;
    dossier.owner = dossier.owners[0]?.vault ?? assert.fail();
  });
  const { gaps } = await check(unsealed(files));
  assert.match([...gaps.keys()].join('\n'), /The proofs name a later owner, 0x[0-9a-f]{40},/);
});

test('takes the times of owners from anchors on the chain, whatever others a proof names', async () => {
  const history = JSON.parse(String(made.files.get(dossierPaths.history)));
  const sold = history.proofs.find(({ kind }: { kind: string }) => kind === 'transfer');
  const since = '2020-01-01T00:00:00.000Z';
  const blockTime = Date.parse(since) / 1000;
  const elsewhere = { ...sold.anchors[0], chainId: 999, blockTime, inclusion: null };
  sold.anchors.unshift(elsewhere);
  const files = unsealed(forger.relisted(dossierPaths.history, JSON.stringify(history)));
  assert.deepEqual((await check(files, relayReader(service))).faults, []);
  const forged = forger.summary(({ owners }) => Object.assign(owners[1] ?? {}, { since }), files);
  const { verdict, faults } = await check(forged, relayReader(service));
  assert.equal(verdict, 'fail');
  assert.match(
    JSON.stringify(faults),
    /The owners.*since 2020-01-01T00:00:00.000Z, but the proofs say since/,
  );
});

test('refuses malformed documents with a reason, and never breaks off', async () => {
  const { summary, relisted } = forger;
  const line = JSON.stringify(made.lines[0]);
  const malformed: [string, Files][] = [
    ['dossier.json no JSON', new Map([...made.files, ['dossier.json', Buffer.from('{')]])],
    ['dossier.json not UTF-8', new Map([...made.files, ['dossier.json', Buffer.from([0xff, 0x22])]])],
    ...(['owners', 'contents', 'counts', 'asset', 'installations', 'dossierId'] as const).map(
      (member): [string, Files] => [member, summary((dossier) => Object.assign(dossier, { [member]: 7 }))],
    ),
    ['no line of an entry', relisted(part, 'null\n"x"\n[]\n{}\n')],
    ['a proof of another form', relisted(part, line.replace('"seal":', '"seals":'))],
    ['no sign-offs', relisted(part, line.replace('"signoffs":[', '"signed":['))],
    ['no document', relisted(part, line.replace('"entry":{', '"entry":7,"x":{'))],
    ['versions', relisted(dossierPaths.versions, '7\n{"version":1}\n{"version":1,"document":null}\n')],
    ['no history', relisted(dossierPaths.history, '{"format":"holdfast/history@1"}')],
    ['a history of nothing', relisted(dossierPaths.history, 'null')],
    ['the seal', new Map([...made.files, [dossierPaths.seal, Buffer.from('{"format":1}')]])],
    ['the seal not UTF-8', new Map([...made.files, [dossierPaths.seal, Buffer.from([0xff])]])],
  ];
  for (const [what, files] of malformed) {
    const { verdict, faults } = await check(files);
    assert.equal(verdict, 'fail', what);
    assert.ok(faults.length > 0, what);
  }
});
