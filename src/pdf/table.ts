/** Tables of any length: the head repeats on every page, and a row that is longer than a page continues on the next. */
import { drawRule, fineRule, type Setting, setWords, type Words } from './blocks.ts';
import { openFace } from './faces.ts';
import { colours, leading, sizes } from './look.ts';
import type { Paper, TextLine } from './paper.ts';

export interface Column {
  title: string;
  /** Share of the width. */
  share: number;
}

export interface Table {
  row(cells: Words[]): void;
  /** Spans all columns, below the previous row. */
  wide(words: Words): void;
  end(): void;
}

interface CellLine extends Omit<Setting, 'lines'> {
  words: string;
}

interface Cell {
  x: number;
  lines: CellLine[];
}

const gap = 8;
const size = sizes.small;
const step = size * leading;

/** Draws rows as they come, and keeps none of them. */
export function createTable(paper: Paper, columns: Column[]): Table {
  const shares = columns.reduce((sum, { share }) => sum + share, 0);
  let x = paper.left;
  const places = columns.map(({ share }) => {
    const width = (paper.width * share) / shares;
    x += width;
    return { x: x - width, width: width - gap };
  });

  function drawHead(drawTitle: (title: string, at: TextLine) => void): void {
    const y = paper.y;
    paper.decorate((doc) => {
      doc.rect(paper.left, y, paper.width, step + 5).fill(colours.shade);
    });
    for (const [place, { title }] of columns.entries()) {
      const x = (places[place]?.x ?? 0) + 3;
      drawTitle(title, { x, y: y + 2.5, face: 'sansBold', size, colour: colours.accent });
    }
    paper.y = y + step + 8;
  }

  function turnPage(): void {
    paper.turnPage();
    // Screen readers skip the repeated head.
    drawHead((title, at) => paper.decorate(() => paper.line(title, at)));
  }

  function drawLine({ words, ...style }: CellLine, x: number, top: number): void {
    // All cells share one baseline, whatever their face.
    const y = top + openFace('serif').ascent * size - openFace(style.face).ascent * style.size;
    paper.line(words, { ...style, x: x + 3, y });
  }

  function drawRow(cells: Cell[]): void {
    const height = Math.max(0, ...cells.map(({ lines }) => lines.length));
    if (paper.room() < Math.min(height, 4) * step + 4) turnPage();
    const leave = paper.enter('TR');
    if (height * step <= paper.room()) {
      for (const { x, lines } of cells) {
        paper.content('TD', () => {
          for (const [place, line] of lines.entries()) drawLine(line, x, paper.y + place * step);
        });
      }
      paper.y += height * step;
    } else {
      paper.content('TD', () => drawOverPages(cells, height));
    }
    leave();
    rule();
  }

  /** Draws all cells side by side, line by line, so that a page may end between any two lines. */
  function drawOverPages(cells: Cell[], height: number): void {
    for (let place = 0; place < height; place += 1) {
      if (paper.room() < step) turnPage();
      for (const { x, lines } of cells) {
        const line = lines[place];
        if (line) drawLine(line, x, paper.y);
      }
      paper.y += step;
    }
  }

  paper.need(step * 6);
  const leaveTable = paper.enter('Table');
  paper.group('TR', () =>
    drawHead((title, at) => paper.content('TH', () => paper.line(title, at), { scope: 'Column' })),
  );
  return {
    row(cells) {
      paper.y += 1.5;
      drawRow(
        cells.map((words, place) => {
          const { x, width } = places[place] ?? { x: paper.left, width: 0 };
          return { x, lines: cellLines(setWords(words, width - 3, size)) };
        }),
      );
    },
    wide(words) {
      drawRow([{ x: paper.left, lines: cellLines(setWords(words, paper.width - 6, size)) }]);
    },
    end() {
      leaveTable();
      paper.y += 6;
    },
  };

  function rule(): void {
    drawRule(paper, { at: paper.y + 1, ...fineRule });
    paper.y += 2.5;
  }
}

function cellLines(settings: Setting[]): CellLine[] {
  return settings.flatMap(({ lines, ...style }) => lines.map((words) => ({ ...style, words })));
}
