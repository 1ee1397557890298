/** A document on A4 pages with the same frame on each: where things are drawn, when a page is full, how it is read aloud. */
import type { Readable } from 'node:stream';
import PDFDocument from 'pdfkit';
import { type FaceName, faceNames, openFace } from './faces.ts';
import { colours, sizes } from './look.ts';
import { setRuns, widthOf } from './runs.ts';
import { rightToLeft } from './shaper.ts';

export interface PaperOptions {
  /** Plain ASCII, because it also becomes XML as it is: keep what users wrote out of it. */
  title: string;
  subject: string;
  madeAt: Date;
  /** Small, at the top of every page, left and right. */
  head: [string, string];
  /** Small, at the bottom of every page, beside its number. */
  foot: string;
  /** Bands across the top of every page: what nobody may overlook, on whichever page. */
  marks?: string[];
  /**
   * Gives pages out as they are finished and keeps none, so that any number of them fits into memory. They are numbered
   * without their total, and have no tags.
   */
  streamed?: boolean;
}

export interface TextLine {
  x: number;
  y: number;
  face: FaceName;
  size: number;
  /** Of the place: a line that runs from right to left begins at its right edge. */
  width?: number;
  colour?: string;
  link?: string;
}

export interface Paper {
  /** The PDF, as far as it is drawn. */
  stream: Readable;
  left: number;
  width: number;
  /** Where the next thing goes; things move it down. */
  y: number;
  /** What is left of the page. */
  room(): number;
  /** Goes to a new page unless so much is left of this one. */
  need(height: number): void;
  turnPage(): void;
  /** One line at a place; `y` is the top of the line. */
  line(text: string, line: TextLine): void;
  /** A picture inside a `content`, which says what it is. */
  draw(draw: (doc: PDFKit.PDFDocument) => void): void;
  /** Rules, boxes and the like: what is not read aloud. */
  decorate(draw: (doc: PDFKit.PDFDocument) => void): void;
  /** Something that has parts: `Table`, `TR`, `L`, `LI`. */
  group(type: string, draw: () => void): void;
  /** The same for parts that come one by one; call what it returns after the last one. */
  enter(type: string): () => void;
  /** Something that is read: `P`, `H1`, `TD`, or a `Figure` with its words. It may go on over pages. */
  content(type: string, draw: () => void, options?: { alt?: string; scope?: 'Row' | 'Column' }): void;
  /** A file inside the PDF. */
  attach(file: Attachment): void;
  end(): void;
}

export interface Attachment {
  name: string;
  description: string;
  mediaType: string;
  bytes: Uint8Array;
}

const page = { width: 595.28, height: 841.89, side: 56, top: 58, bottom: 70 };
const language = 'en';

export function createPaper(options: PaperOptions): Paper {
  const { title, subject, madeAt, streamed = false, marks = [] } = options;
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    bufferPages: !streamed,
    pdfVersion: '1.7',
    tagged: !streamed,
    lang: language,
    displayTitle: true,
    // Else pdfkit keeps every word it has ever set.
    fontLayoutCache: false,
    font: '',
    info: { Title: title, Subject: subject, Creator: 'Holdfast', Producer: 'Holdfast', CreationDate: madeAt },
  });
  for (const name of faceNames) doc.registerFont(name, openFace(name).source as never);

  const root = streamed ? null : doc.struct('Document');
  if (root) doc.addStructure(root);
  let parent = root;
  let open: { type: string; element: PDFKit.PDFStructureElement } | null = null;
  let pages = 0;

  function mark(): void {
    if (open) open.element.add(doc.markStructureContent(open.type));
  }
  function unmark(): void {
    if (open) doc.endMarkedContent();
  }

  function text(words: string, { x, y, face, size, width, colour = colours.ink, link }: TextLine): void {
    const own = openFace(face);
    const runs = setRuns(words, own);
    const wide = runs.reduce((sum, run) => sum + run.face.width(run.text, size), 0);
    const start = words.startsWith(rightToLeft) && width !== undefined ? x + width - wide : x;
    let end = start;
    for (const run of runs) {
      doc
        .font(run.face.name)
        .fontSize(size)
        .fillColor(colour)
        // With a list of features pdfkit lays the run out as a whole, and not word by word from left to right.
        .text(run.text, end, y + own.ascent * size, {
          lineBreak: false,
          baseline: 'alphabetic',
          features: [],
        });
      end += run.face.width(run.text, size);
    }
    if (link === undefined) return;
    const structParent = open?.type === 'Link' ? { structParent: open.element } : {};
    doc.link(start, y, wide, size * 1.2, link, structParent as object);
  }

  function decorate(draw: (doc: PDFKit.PDFDocument) => void): void {
    if (streamed) {
      draw(doc);
      return;
    }
    unmark();
    doc.markContent('Artifact', { type: 'Layout' });
    draw(doc);
    doc.endMarkedContent();
    mark();
  }

  function drawFoot(number: number, total: number | null): void {
    const y = page.height - 46;
    const count = total === null ? `Page ${number}` : `Page ${number} of ${total}`;
    doc.lineWidth(0.5).strokeColor(colours.rule);
    doc
      .moveTo(page.side, y - 7)
      .lineTo(page.width - page.side, y - 7)
      .stroke();
    const small = { y, face: 'sans', size: sizes.frame, colour: colours.soft } as const;
    text(options.foot, { ...small, x: page.side });
    text(count, { ...small, x: page.width - page.side - widthOf(count, openFace('sans'), sizes.frame) });
  }

  function drawHead(): void {
    const [left, right] = options.head;
    const small = { y: 32, face: 'sans', size: sizes.frame, colour: colours.soft } as const;
    text(left, { ...small, x: page.side });
    const width = widthOf(right, openFace('sans'), sizes.frame);
    text(right, { ...small, x: page.width - page.side - width });
    doc.lineWidth(0.5).strokeColor(colours.rule);
    doc
      .moveTo(page.side, 46)
      .lineTo(page.width - page.side, 46)
      .stroke();
    for (const [place, words] of marks.entries()) {
      const y = page.top - 4 + place * 19;
      doc.rect(page.side, y, page.width - 2 * page.side, 16).fill(colours.alarm);
      const wide = widthOf(words, openFace('sansBold'), sizes.small);
      const x = (page.width - wide) / 2;
      text(words, { x, y: y + 2.5, face: 'sansBold', size: sizes.small, colour: '#ffffff' });
    }
  }

  function turnPage(): void {
    unmark();
    const finished = pages === 0 ? null : doc.page;
    if (streamed && finished) drawFoot(pages, null);
    doc.addPage();
    // It is written; the list of pages would keep all of it for the sake of its number.
    if (streamed && finished) finished.dictionary.data = {} as never;
    pages += 1;
    const kept = open;
    open = null;
    decorate(drawHead);
    open = kept;
    paper.y = page.top + marks.length * 19 + (marks.length > 0 ? 8 : 0);
    mark();
  }

  function enter(type: string): () => void {
    const before = parent;
    if (!before) return () => {};
    const entered = doc.struct(type);
    before.add(entered);
    parent = entered;
    return () => {
      entered.end();
      parent = before;
    };
  }

  const paper: Paper = {
    stream: doc,
    left: page.side,
    width: page.width - 2 * page.side,
    y: 0,
    room: () => page.height - page.bottom - paper.y,
    need(height) {
      if (paper.room() < height) turnPage();
    },
    turnPage,
    line: text,
    draw: (draw) => draw(doc),
    decorate,
    group(type, draw) {
      const leave = enter(type);
      draw();
      leave();
    },
    enter,
    content(type, draw, tag = {}) {
      if (!parent || open) return draw();
      const element = doc.struct(type, tag);
      parent.add(element);
      open = { type, element };
      mark();
      draw();
      unmark();
      open = null;
      element.end();
    },
    attach({ name, description, mediaType, bytes }) {
      // The types know of paths only.
      const source = bytes as unknown as string;
      doc.file(source, {
        name,
        description,
        type: mediaType,
        creationDate: madeAt,
        modifiedDate: madeAt,
        relationship: 'Data',
      } as object);
    },
    end() {
      if (streamed) drawFoot(pages, null);
      for (let place = 0; !streamed && place < pages; place += 1) {
        doc.switchToPage(place);
        decorate(() => drawFoot(place + 1, pages));
      }
      root?.end();
      doc.end();
    },
  };
  turnPage();
  return paper;
}
