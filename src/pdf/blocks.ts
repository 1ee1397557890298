/** The building blocks of documents: titles, paragraphs, lists, notices, and name-value pairs. */
import { type FaceName, openFace } from './faces.ts';
import { colours, leading, sizes } from './look.ts';
import type { Paper } from './paper.ts';
import { showable } from './showable.ts';
import { wrapDigits, wrapText } from './wrap.ts';

export interface TextStyle {
  face?: FaceName;
  size?: number;
  colour?: string;
  /** In points, from the left and the right edge of the text area. */
  indent?: number;
  inset?: number;
  link?: string;
}

/** Text broken into lines; the content of a cell or a value. */
export interface Setting extends Required<Pick<TextStyle, 'face' | 'size' | 'colour'>> {
  lines: string[];
  /** The width that the lines were broken for. */
  width: number;
  link?: string;
}

/** Text; or digits, which are set in a monospaced face and break into lines of equal length. */
export type Words =
  | string
  | { digits: string; note?: string }
  | { text: string; link?: string; strong?: boolean; note?: string };

export function title(paper: Paper, text: string, subtitle: string): void {
  paper.content('H1', () =>
    lines(paper, text, { face: 'serifBold', size: sizes.title, colour: colours.accent }),
  );
  paper.content('P', () =>
    lines(paper, subtitle, { face: 'serif', size: sizes.body + 1, colour: colours.soft }),
  );
  paper.y += 8;
}

/** Keeps the heading on one page with at least `keep` points of what follows it. */
export function heading(paper: Paper, text: string, { keep = 60 } = {}): void {
  paper.need(30 + keep);
  paper.y += 12;
  paper.content('H2', () =>
    lines(paper, text, { face: 'sansBold', size: sizes.heading, colour: colours.accent }),
  );
  drawRule(paper, { at: paper.y + 1, width: 0.8, colour: colours.accent });
  paper.y += 7;
}

export const fineRule = { width: 0.4, colour: colours.rule };

/** A horizontal line from edge to edge. */
export function drawRule(
  paper: Paper,
  { at, width, colour }: { at: number; width: number; colour: string },
): void {
  paper.decorate((doc) => {
    doc.lineWidth(width).strokeColor(colour);
    doc
      .moveTo(paper.left, at)
      .lineTo(paper.left + paper.width, at)
      .stroke();
  });
}

export function paragraph(paper: Paper, text: string, style: TextStyle = {}): void {
  paper.content(style.link === undefined ? 'P' : 'Link', () => lines(paper, text, style));
  paper.y += 4;
}

/** Bullet points, or numbered steps; each may be followed by commands, which are set apart from it. */
export function list(
  paper: Paper,
  items: (string | { text: string; commands: string[] })[],
  { numbered = false, inset = 0 } = {},
): void {
  const indent = numbered ? 18 : 12;
  paper.group('L', () => {
    for (const [place, item] of items.entries()) {
      const { text, commands } = typeof item === 'string' ? { text: item, commands: [] } : item;
      paper.need(sizes.body * leading * 2);
      paper.group('LI', () => {
        const label = numbered ? `${place + 1}.` : '•';
        const at = { x: paper.left + 2, y: paper.y, face: 'serif', size: sizes.body } as const;
        paper.content('Lbl', () => paper.line(label, at));
        paper.content('LBody', () => {
          lines(paper, text, { indent, inset });
          for (const command of commands) {
            lines(paper, command, { face: 'mono', size: sizes.digits, indent: indent + 8, inset });
          }
        });
      });
      paper.y += 3;
    }
  });
}

/** A conspicuous box; never split across pages. */
export function notice(
  paper: Paper,
  { title, text, tone }: { title: string; text: string; tone: string },
): void {
  const width = paper.width - 22;
  const face = openFace('serif');
  const body = wrapText(showable(text, face, { lines: true }), { face, size: sizes.body, width });
  const height = 10 + (body.length + 1) * sizes.body * leading + 4;
  paper.need(height + 6);
  const top = paper.y;
  paper.decorate((doc) => {
    doc.rect(paper.left, top, paper.width, height).fill(colours.shade);
    doc.rect(paper.left, top, 4, height).fill(tone);
  });
  paper.y += 7;
  paper.content('P', () => lines(paper, title, { face: 'sansBold', colour: tone, indent: 14 }));
  paper.content('P', () => lines(paper, text, { indent: 14, inset: 8 }));
  paper.y = top + height + 8;
}

export interface Pair {
  name: string;
  value: Words;
}

/** Names on the left, values on the right; a long value continues on the next page. */
export function pairs(paper: Paper, all: Pair[]): void {
  const parts = pairByPair(paper, all);
  while (!parts.next().done);
}

/** The same for long values; yields after each of them. */
export function* pairByPair(paper: Paper, all: Pair[]): Generator<'part', void, unknown> {
  const nameWidth = 118;
  const width = paper.width - nameWidth;
  const name = { face: 'sans', size: sizes.small, colour: colours.soft } as const;
  const leave = paper.enter('Table');
  for (const pair of all) {
    const settings = setWords(pair.value, width);
    const step = sizes.body * leading;
    paper.need(
      Math.min(
        settings.reduce((sum, { lines }) => sum + lines.length, 0),
        3,
      ) *
        step +
        4,
    );
    paper.group('TR', () => {
      // On the baseline of the value's first line.
      const [first] = settings;
      const base = paper.y + (first ? openFace(first.face).ascent * first.size : 0);
      const at = { x: paper.left, y: base - openFace(name.face).ascent * name.size, ...name };
      paper.content('TH', () => paper.line(pair.name, at), { scope: 'Row' });
      paper.content('TD', () => {
        for (const setting of settings) drawSetting(paper, setting, paper.left + nameWidth);
      });
    });
    paper.y += 2;
    drawRule(paper, { at: paper.y, ...fineRule });
    paper.y += 2.5;
    yield 'part';
  }
  leave();
}

/** Breaks a value, and the note below it, into lines of this width. */
export function setWords(words: Words, width: number, size: number = sizes.body): Setting[] {
  if (typeof words === 'string') return [setText(words, { face: 'serif', size, width })];
  const small = size * (sizes.small / sizes.body);
  const note =
    words.note === undefined
      ? []
      : [{ ...setText(words.note, { face: 'serif', size: small, width }), colour: colours.soft }];
  if ('digits' in words) {
    const lines = wrapDigits(words.digits, { face: openFace('mono'), size: small, width });
    return [{ face: 'mono', size: small, colour: colours.ink, lines, width }, ...note];
  }
  const text = setText(words.text, { face: words.strong ? 'serifBold' : 'serif', size, width });
  const { link } = words;
  return [link === undefined ? text : { ...text, colour: colours.accent, link }, ...note];
}

function setText(
  text: string,
  { face, size, width }: { face: FaceName; size: number; width: number },
): Setting {
  const measure = { face: openFace(face), size, width };
  return {
    face,
    size,
    width,
    colour: colours.ink,
    lines: wrapText(showable(text, measure.face, { lines: true }), measure),
  };
}

/** Draws line by line, and continues at the top of the next page when one is full. */
export function drawSetting(paper: Paper, { lines, link, ...style }: Setting, x: number): void {
  const step = Math.max(style.size * leading, openFace(style.face).ascent * style.size);
  for (const words of lines) {
    paper.need(step);
    paper.line(words, { ...style, x, y: paper.y, ...(link === undefined ? {} : { link }) });
    paper.y += step;
  }
}

function lines(paper: Paper, text: string, style: TextStyle): void {
  const { face = 'serif', size = sizes.body, colour = colours.ink, indent = 0, inset = 0, link } = style;
  const opened = openFace(face);
  const width = paper.width - indent - inset;
  const set = wrapText(showable(text, opened, { lines: true }), { face: opened, size, width });
  const setting = { face, size, colour, width, lines: set, ...(link === undefined ? {} : { link }) };
  drawSetting(paper, setting, paper.left + indent);
}
