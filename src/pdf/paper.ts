/** A document of A4 pages with the same frame on each: drawing, page breaks, and tags for screen readers. */
import type { Readable } from 'node:stream';
import PDFDocument from 'pdfkit';
import { type FaceName, faceNames, openFace } from './faces.ts';
import { colours, sizes } from './look.ts';
import { setRuns, widthOf } from './runs.ts';
import { rightToLeft } from './shaper.ts';

export interface PaperOptions {
  /** Plain ASCII, because it is also written to XML unescaped: never put user input into it. */
  title: string;
  subject: string;
  madeAt: Date;
  /** Small text at the top of every page, left and right. */
  head: [string, string];
  /** Small text at the bottom of every page, beside the page number. */
  foot: string;
  /** Bands across the top of every page, for warnings that nobody may overlook. */
  marks?: string[];
  /**
   * Emits pages as they are finished and keeps none, so that memory does not limit their number. The pages are numbered
   * without a total, and have no tags.
   */
  streamed?: boolean;
  landscape?: boolean;
}

export interface TextLine {
  x: number;
  y: number;
  face: FaceName;
  size: number;
  /** The width of the area: a right-to-left line begins at its right edge. */
  width?: number;
  colour?: string;
  link?: string;
}

export interface Paper {
  /** The PDF, as far as it has been drawn. */
  stream: Readable;
  left: number;
  width: number;
  /** The vertical position of the next element; drawing moves it down. */
  y: number;
  /** The height left on the page. */
  room(): number;
  /** Starts a new page unless this one has this much height left. */
  need(height: number): void;
  turnPage(): void;
  /** Draws one line at a position; `y` is the top of the line. */
  line(text: string, line: TextLine): void;
  /** Draws a picture inside a `content`, which describes it. */
  draw(draw: (doc: PDFKit.PDFDocument) => void): void;
  /** Draws lines, boxes and the like, which screen readers skip. */
  decorate(draw: (doc: PDFKit.PDFDocument) => void): void;
  /** An element with parts: `Table`, `TR`, `L`, `LI`. */
  group(type: string, draw: () => void): void;
  /** The same for parts that come one by one; call the returned function after the last one. */
  enter(type: string): () => void;
  /** An element for screen readers: `P`, `H1`, `TD`, or a `Figure` with its alternative text. It may span pages. */
  content(type: string, draw: () => void, options?: { alt?: string; scope?: 'Row' | 'Column' }): void;
  /** Embeds a file in the PDF. */
  attach(file: Attachment): void;
  end(): void;
}

export interface Attachment {
  name: string;
  description: string;
  mediaType: string;
  bytes: Uint8Array;
}

const a4 = { width: 595.28, height: 841.89 };
const margins = { side: 56, top: 58, bottom: 70 };
const language = 'en';

export function createPaper(options: PaperOptions): Paper {
  const { title, subject, madeAt, streamed = false, landscape = false, marks = [] } = options;
  const size = landscape ? { width: a4.height, height: a4.width } : a4;
  const page = { ...size, ...margins };
  const doc = new PDFDocument({
    size: 'A4',
    layout: landscape ? 'landscape' : 'portrait',
    margin: 0,
    autoFirstPage: false,
    bufferPages: !streamed,
    pdfVersion: '1.7',
    tagged: !streamed,
    lang: language,
    displayTitle: true,
    // Otherwise pdfkit caches every word it has ever set.
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
        // With a list of features pdfkit lays out the run as a whole, not word by word from left to right.
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
    // The page is written; otherwise the list of pages would keep all of it just for its object number.
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
      // The types allow only paths.
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
