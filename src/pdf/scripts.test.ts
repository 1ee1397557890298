/** Text in all scripts that documents support: joined, ordered, broken into lines, and copied out as it was written. */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { create, type Font } from 'fontkit';
import { readPdf } from '../../test/support/clients/read-pdf.ts';
import { paragraph } from './blocks.ts';
import { openFace } from './faces.ts';
import { createPaper } from './paper.ts';
import { setRuns, widthOf } from './runs.ts';
import { showable } from './showable.ts';
import { readCharacters } from './world-face.ts';
import { wrapText } from './wrap.ts';

const serif = openFace('serif');
const chinese = '检查主旋翼，未发现缺陷。';
const japanese = '「ヘリコプター」を点検しました。髙橋';
const korean = '대한민국';
const emoji = '🚁👩‍🚀❤️🇩🇪1️⃣🏳️‍🌈👍🏽';

function write(...texts: string[]): Promise<Buffer> {
  const paper = createPaper({
    title: 'A test',
    subject: 'Nothing',
    madeAt: new Date('2026-11-15T10:00:00Z'),
    head: ['', ''],
    foot: '',
  });
  const document = buffer(paper.stream);
  for (const text of texts) paragraph(paper, text);
  paper.end();
  return document;
}

/** The runs of the written text, without the page number. */
async function runsOf(...texts: string[]): Promise<string[]> {
  const runs = readPdf(await write(...texts)).pages.flat();
  assert.ok(!runs.some((run) => /[\0?‹]/.test(run)), `something is missing in ${JSON.stringify(runs)}`);
  return runs.filter((run) => run !== '' && !run.startsWith('Page '));
}

const reversed = (text: string): string => [...text].reverse().join('');

describe('Chinese, Japanese, Korean and emoji', () => {
  test('appear in the document as they were written', async () => {
    for (const text of [chinese, japanese, korean, emoji]) {
      assert.equal(showable(text, serif), text);
      assert.deepEqual(await runsOf(text), [text]);
    }
  });

  test('are segmented as Unicode specifies, even without a lookup', () => {
    const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' });
    for (let point = 0; point < 0x323b0; point += point < 0x3400 || point > 0xa000 ? 1 : 101) {
      const text = `中${String.fromCodePoint(point).repeat(2)}中`;
      const expected = Array.from(clusters.segment(text), ({ segment }) => segment);
      assert.equal(readCharacters(text).join('|'), expected.join('|'), point.toString(16));
    }
  });

  test('have the same glyphs whatever font files were opened before, and however often', async () => {
    // Two module instances, each with no font opened yet.
    const [first, second] = (await Promise.all(
      ['first', 'second'].map((name) => import(`./web-fonts.ts?${name}`)),
    )) as typeof import('./web-fonts.ts')[];
    const wanted = [...'检查主旋翼未发现缺陷髙榊대'];
    const expected = wanted.map((one) => first?.webGlyph(one, 400));
    for (const from of [0x4e00, 0x4e01, 0x4e02]) {
      for (let point = from; point < 0x9fff; point += 61) second?.webGlyph(String.fromCodePoint(point), 400);
    }
    assert.ok(expected.every((glyph) => glyph !== null));
    assert.deepEqual(
      wanted.map((one) => second?.webGlyph(one, 400)),
      expected,
    );
  });

  test('have glyphs with ink, heavier in bold text', () => {
    const inkOf = (face: 'world' | 'worldBold', text: string): number[] => {
      const source = openFace(face).source as {
        layout(text: string): { glyphs: { id: number }[] };
        createSubset(): { includeGlyph(id: number): number; encode(): Uint8Array };
      };
      const subset = source.createSubset();
      const places = source.layout(text).glyphs.map(({ id }) => subset.includeGlyph(id));
      const font = create(Buffer.from(subset.encode())) as Font;
      assert.equal(font.numGlyphs, new Set(places).size + 1);
      return places.map((place) => {
        const { minX, maxX, minY, maxY } = font.getGlyph(place).path.bbox;
        return (maxX - minX) * (maxY - minY);
      });
    };
    const text = `${chinese}${japanese}${korean}${emoji}`;
    for (const ink of inkOf('world', text)) assert.ok(ink > 0);
    // Its single stroke is as high as it is heavy.
    const [plain = 0] = inkOf('world', '一');
    const [bold = 0] = inkOf('worldBold', '一');
    assert.ok(bold > plain * 1.2, `${bold} is not heavier than ${plain}`);
  });

  test('break into lines between characters, but not before closing punctuation', () => {
    const lines = wrapText(chinese.repeat(10), { face: serif, size: 10, width: 115 });
    assert.equal(lines.join(''), chinese.repeat(10));
    for (const line of lines) {
      assert.ok(widthOf(line, serif, 10) <= 115);
      assert.doesNotMatch(line, /^[，。]/);
    }
    assert.ok(lines.every((line, place) => [...line].length >= 10 || place === lines.length - 1));
  });

  test('show an ideographic space only between such characters', () => {
    assert.equal(showable('山田　太郎', serif), '山田　太郎');
    assert.equal(showable('a　b', serif), 'a‹U+3000›b');
  });
});

describe('Arabic and Hebrew', () => {
  test('can be copied letter by letter, even if two letters share a glyph', async () => {
    for (const text of ['محمد الأحمد', 'سلام (لا)', 'שלום, דוד (בן גוריון)', 'می‌خواهم']) {
      assert.equal(showable(text, serif), text);
      assert.deepEqual((await runsOf(text)).map(reversed), [text]);
    }
  });

  test('have their letters joined', () => {
    const source = openFace('sans').source as { layout(text: string): { glyphs: { id: number }[] } };
    const ids = (text: string) => source.layout(`\u200f${text}`).glyphs.map(({ id }) => id);
    const [, middle, , first] = ids('محمد');
    // One at the start, one in the middle, and one alone: three shapes.
    assert.equal(new Set([middle, first, ...ids('م')]).size, 3);
  });

  test('follow the Unicode bidirectional rules among other text', () => {
    const order = (text: string) => setRuns(text, serif).map((run) => run.text.replace('\u200f', '‏'));
    assert.deepEqual(order('by محمد, found 12'), ['by ', '‏محمد', ', found 12']);
    assert.deepEqual(order('قطعة ABC-1 سليمة'), ['‏ سليمة', 'ABC-1', '‏قطعة ']);
  });

  test('run from right to left in every line of a paragraph that begins with them', () => {
    const text = 'فحص المروحة الرئيسية (Rev. B) 34 '.repeat(8).trim();
    const lines = wrapText(text, { face: serif, size: 10, width: 150 });
    assert.ok(lines.length > 3);
    assert.ok(lines.every((line) => line.startsWith('\u200f') && widthOf(line, serif, 10) <= 150));
    assert.equal(lines.map((line) => line.slice(1)).join(' '), text);
  });

  test('show an invisible mark only where it separates two letters', () => {
    assert.equal(showable('ا‌ب', serif), 'ا‹U+200C›ب');
    assert.equal(showable('محمد\u200f', serif), 'محمد‹U+200F›');
  });
});

test('a document is the same whatever scripts were drawn before', async () => {
  const texts = [chinese, 'محمد یحیی', emoji];
  const first = await write(...texts);
  await write(japanese, 'يحيى', korean, 'more');
  assert.ok(first.equals(await write(...texts)));
});
