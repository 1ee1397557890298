/** Documents: lines that fit, names that cannot deceive, tables across pages, and a length that memory does not limit. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readPdf } from '../../test/support/clients/read-pdf.ts';
import { heading, list, notice, pairs, paragraph, title } from './blocks.ts';
import { openFace } from './faces.ts';
import { createPaper, type Paper, type PaperOptions } from './paper.ts';
import { drawQrCode } from './qr-code.ts';
import { showable } from './showable.ts';
import { createTable } from './table.ts';
import { wrapDigits, wrapText } from './wrap.ts';

const options: PaperOptions = {
  title: 'A test',
  subject: 'Nothing',
  madeAt: new Date('2026-11-15T10:00:00Z'),
  head: ['Left', 'Right'],
  foot: 'Foot',
};
const serif = openFace('serif');

async function write(draw: (paper: Paper) => void, more: Partial<PaperOptions> = {}): Promise<Buffer> {
  const paper = createPaper({ ...options, ...more });
  const document = buffer(paper.stream);
  draw(paper);
  paper.end();
  return document;
}

describe('text', () => {
  const measure = { face: serif, size: 10, width: 120 };

  test('no line is wider than its column, and no text is lost', () => {
    const text = `short words, then ${'x'.repeat(200)} and a/long/path/${'part-'.repeat(30)} 中 end`;
    const lines = wrapText(text, measure);
    for (const line of lines) assert.ok(serif.width(line, 10) <= 120, `${line} is too wide`);
    assert.equal(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
  });

  test('a long path breaks after a separator rather than within a name', () => {
    const [first = ''] = wrapText('department/contracts/2026/november/lease-agreement.pdf', measure);
    assert.match(first, /[/-]$/);
  });

  test('a hash breaks into lines of equal length', () => {
    const lines = wrapDigits('ab'.repeat(32), { face: openFace('mono'), size: 8, width: 200 });
    assert.deepEqual(
      lines.map(({ length }) => length),
      [32, 32],
    );
  });

  test('puts one character on each line if the column is too narrow', () => {
    assert.deepEqual(wrapText('abc', { face: serif, size: 10, width: 1 }), ['a', 'b', 'c']);
  });

  test('shows Latin, Greek and Cyrillic unchanged', () => {
    const text = 'Zażółć gęślą jaźń – Ελληνικά – Договор аренды – “ß” € 20';
    assert.equal(showable(text, serif), text);
  });

  test('spells out marks that change the reading order, so that no name passes for another', () => {
    assert.equal(showable('invoice\u202Efdp.exe', serif), 'invoice‹U+202E›fdp.exe');
  });

  test('writes characters that the fonts cannot show as their code point', () => {
    assert.equal(
      showable('हि\u0000\u00a0\u{1f9ff}\u{16a00}\n', serif),
      '‹U+0939›‹U+093F›‹U+0000›‹U+00A0›\u{1f9ff}‹U+16A00›‹U+000A›',
    );
    assert.equal(showable('ไทย', openFace('sans')), '‹U+0E44›‹U+0E17›‹U+0E22›');
  });
});

describe('a whole document', () => {
  test('has a title, a language, tags, and page numbers with their total', async () => {
    const { pages, catalogue } = readPdf(
      await write((paper) => {
        title(paper, 'A title', 'below it');
        for (let i = 0; i < 120; i += 1) paragraph(paper, `Paragraph ${i}`);
      }),
    );
    assert.ok(pages.length > 1);
    assert.ok(pages[1]?.includes(`Page 2 of ${pages.length}`));
    assert.match(catalogue, /\/Lang \(en\)/);
    assert.match(catalogue, /\/StructTreeRoot \d+ 0 R/);
    assert.match(catalogue, /\/ViewerPreferences/);
  });

  test('shows its marks on every page', async () => {
    const marks = ['ONLY A TEST', 'NOT FINAL'];
    const { pages } = readPdf(await write((paper) => paragraph(paper, 'word '.repeat(4_000)), { marks }));
    assert.ok(pages.length > 2);
    for (const page of pages) for (const mark of marks) assert.ok(page.includes(mark));
  });

  test('is the same for the same input, whatever was drawn before', async () => {
    const draw = (paper: Paper) => {
      heading(paper, 'Heading');
      pairs(paper, [{ name: 'Name', value: { text: 'Größe', note: 'note' } }]);
      notice(paper, { title: 'Careful', text: 'A box.', tone: '#a00000' });
      list(paper, ['one', { text: 'two', commands: ['run'] }], { numbered: true });
      drawQrCode(paper, { text: 'https://example.com/verify', alt: 'a code', x: 60, y: 500, size: 90 });
    };
    const first = await write(draw);
    await write((paper) => paragraph(paper, 'something else'));
    assert.ok(first.equals(await write(draw)));
  });

  test('contains its attachments, byte for byte', async () => {
    const bytes = Buffer.from('{"ü":1}\n');
    const pdf = await write((paper) =>
      paper.attach({ name: 'proof.json', description: 'Proof', mediaType: 'application/json', bytes }),
    );
    assert.deepEqual(readPdf(pdf).attachments.get('proof.json'), bytes);
  });

  test('continues a value longer than a page on the next pages, without loss', async () => {
    const words = Array.from({ length: 3_000 }, (_, place) => `word${place}`);
    const { pages, text } = readPdf(
      await write((paper) => pairs(paper, [{ name: 'Metadata', value: words.join(' ') }])),
    );
    assert.ok(pages.length > 1);
    assert.deepEqual(text.match(/word\d+/g), words);
  });
});

describe('a table', () => {
  const columns = [
    { title: 'Number', share: 1 },
    { title: 'What', share: 3 },
  ];

  test('repeats its header on every page, and has every row once', async () => {
    const { pages, text } = readPdf(
      await write((paper) => {
        const table = createTable(paper, columns);
        for (let i = 0; i < 200; i += 1) table.row([`row${i}`, 'word '.repeat(i % 40)]);
        table.end();
      }),
    );
    assert.ok(pages.length > 5);
    for (const page of pages) assert.equal(page.filter((line) => line === 'Number').length, 1);
    assert.deepEqual(
      text.match(/row\d+/g),
      Array.from({ length: 200 }, (_, place) => `row${place}`),
    );
  });

  test('continues a row longer than a page under the header of the next', async () => {
    const words = Array.from({ length: 2_000 }, (_, place) => `word${place}`);
    const { pages, text } = readPdf(
      await write((paper) => createTable(paper, columns).row(['1', words.join(' ')])),
    );
    assert.ok(pages.length > 2);
    for (const page of pages) assert.ok(page.includes('What'));
    assert.deepEqual(text.match(/word\d+/g), words);
  });
});

describe('a streamed document', () => {
  async function writeLogbook(paper: Paper, entries: number, each: (place: number) => void): Promise<void> {
    const table = createTable(paper, [
      { title: 'Number', share: 1 },
      { title: 'What', share: 3 },
    ]);
    for (let place = 0; place < entries; place += 1) {
      const digits = place.toString(16).padStart(64, '0');
      table.row([
        `entry${place}`,
        { text: `Inspected item ${place}, found ${digits}`, note: 'as it should be' },
      ]);
      table.wide({ digits });
      each(place);
      // Lets the reader consume what was drawn.
      await setImmediate();
    }
    table.end();
    paper.end();
  }

  test('uses no more memory for 5,000 entries than for the first thousand', async () => {
    const paper = createPaper({ ...options, streamed: true });
    let bytes = 0;
    paper.stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const heap: number[] = [];
    await writeLogbook(paper, 5_000, (place) => {
      if ((place + 1) % 1_000 === 0) heap.push(usedHeap());
    });
    await once(paper.stream, 'end');
    const [first = 0] = heap;
    const grown = (heap.at(-1) ?? 0) - first;
    assert.ok(bytes > 500_000, `only ${bytes} bytes were written`);
    // What remains is some 200 bytes per page, for the list of pages.
    assert.ok(grown < 500_000, `the heap grew by ${grown} bytes over 4,000 entries`);
  });

  test('is like any other document, but its page numbers have no total', async () => {
    const paper = createPaper({ ...options, streamed: true });
    const document = buffer(paper.stream);
    await writeLogbook(paper, 300, () => {});
    const { pages, text } = readPdf(await document);
    assert.ok(pages.length > 5);
    for (const [place, page] of pages.entries()) assert.ok(page.includes(`Page ${place + 1}`));
    assert.equal(text.match(/entry\d+/g)?.length, 300);
  });
});

function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
