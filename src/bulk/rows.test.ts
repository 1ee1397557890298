/** Rows are the same however their bytes arrive, and those of CSV are the ones that Python reads. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { needs, pathOf } from '../../test/support/programs/needs.ts';
import { fc } from '../../test/support/service/properties.ts';
import { csvField, csvFields } from './csv-fields.ts';
import { createRowSplitter, type RawRow } from './split-rows.ts';
import { type Row, recordUnits, unitsOf } from './units.ts';

function split(bytes: Uint8Array, delimiter: string | null, pieceBytes: number, maxBytes = 1_000): RawRow[] {
  const splitter = createRowSplitter({ maxBytes, delimiter });
  const rows: RawRow[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    rows.push(...splitter.push(bytes.subarray(at, at + pieceBytes)));
  return [...rows, ...splitter.end()];
}

const text = fc.string({ unit: fc.constantFrom('a', 'ä', '漢', '"', ',', '\n', '\r\n', ' ', '😀') });

test('any bytes are split in the same way, whatever the pieces', () => {
  const alphabet = fc.constantFrom(0x22, 0x2c, 0x0a, 0x0d, 0x61, 0xc3, 0xa4, 0xef, 0xbb, 0xbf);
  fc.assert(
    fc.property(fc.array(alphabet), fc.integer({ min: 1, max: 7 }), fc.boolean(), (codes, size, isCsv) => {
      const bytes = Uint8Array.from(codes);
      const delimiter = isCsv ? ',' : null;
      assert.deepEqual(split(bytes, delimiter, size, 9), split(bytes, delimiter, bytes.length + 1, 9));
    }),
  );
});

needs('python3').test('rows that Python writes are read as they were', () => {
  const tables = fc.sample(fc.array(fc.array(text, { minLength: 2, maxLength: 4 }), { minLength: 1 }), 100);
  const program =
    'import csv, io, json, sys\nfor t in json.load(sys.stdin):\n o = io.StringIO()\n csv.writer(o).writerows(t)\n print(json.dumps(o.getvalue()))';
  const written = execFileSync(pathOf('python3'), ['-c', program], {
    input: JSON.stringify(tables),
  }).toString();
  written
    .trim()
    .split('\n')
    .forEach((line, at) => {
      const rows = split(new TextEncoder().encode(JSON.parse(line)), ',', 5, 100_000);
      assert.deepEqual(
        rows.map((row) => ('text' in row ? csvFields(row.text, ',') : row.fault)),
        tables[at],
      );
    });
});

test('a field that is written is read as it was', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 2, maxLength: 5 }), (fields) => {
      const read = fields.map((field) => (/^[=+\-@\t\r]/.test(field) ? `'${field}` : field));
      assert.deepEqual(csvFields(fields.map(csvField).join(','), ','), read);
    }),
  );
});

test('no field that is written begins like a formula', () => {
  for (const start of ['=', '+', '-', '@', '\t', '\r']) {
    const written = csvField(`${start}HYPERLINK("http://example.org")`);
    assert.match(written, /^"?'/);
    assert.deepEqual(csvFields(`${written},x`, ','), [`'${start}HYPERLINK("http://example.org")`, 'x']);
  }
  assert.equal(csvField('a=b'), 'a=b');
});

test('a row that is too long or never ends is one fault, and the rows after it are read', () => {
  const bytes = new TextEncoder().encode(
    `a,b\n${'x'.repeat(2_000)},1\n"q\n${'y'.repeat(2_000)}",2\n3,4\n"open\n5,6\n`,
  );
  const rows = split(bytes, ',', 64);
  assert.deepEqual(
    rows.map(({ line, ...row }) => [line, 'text' in row ? row.text : row.fault.slice(0, 20)]),
    [
      [1, 'a,b'],
      [2, 'The row is too long:'],
      [3, 'The row is too long:'],
      [5, '3,4'],
      [6, 'A quote is opened an'],
    ],
  );
});

test('units are the same however rows arrive, and none is larger than a request may be', async () => {
  const rows: Row[] = Array.from({ length: 4_000 }, (_, at) => {
    const place = { line: at + 1, end: at };
    return at % 7 === 0
      ? { ...place, fault: 'x' }
      : { ...place, json: '{}', bytes: (at % 11) * 900, values: at % 90 };
  });
  const unitsBy = async (size: number) => {
    async function* batches() {
      for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size);
    }
    const units: Row[][] = [];
    for await (const unit of unitsOf(batches(), recordUnits)) units.push(unit);
    return units;
  };
  const units = await unitsBy(1);
  assert.deepEqual(units, await unitsBy(333));
  assert.deepEqual(units.flat(), rows);
  for (const unit of units) {
    const good = unit.filter((row) => 'json' in row);
    assert.ok(good.length <= recordUnits.rows);
    assert.ok(good.reduce((sum, { bytes }) => sum + bytes + 1, 0) <= recordUnits.bytes);
    assert.ok(good.reduce((sum, { values }) => sum + values, 0) <= recordUnits.values);
  }
});
