/** Rows of boxes with a label in the corner of each, as in printed forms. A row that is longer than a page goes on there. */
import { type Setting, setWords, type Words } from './blocks.ts';
import { openFace } from './faces.ts';
import { colours, leading, sizes } from './look.ts';
import type { Paper } from './paper.ts';

export interface Box {
  /** Number and name of the box. */
  label: string;
  /** Share of the width. */
  share: number;
  value: Words[];
  /** Not to be filled in. */
  shaded?: boolean;
}

interface Line extends Omit<Setting, 'lines'> {
  words: string;
}

interface Placed extends Box {
  x: number;
  wide: number;
  lines: Line[];
}

const inset = 3;
const size = sizes.small;
const step = size * leading;
const labelStep = sizes.frame * leading + 2;

/** Each call is one row. */
export function boxes(paper: Paper, row: Box[]): void {
  const placed = place(paper, row);
  let done = 0;
  const all = Math.max(1, ...placed.map(({ lines }) => lines.length));
  if (paper.room() < labelStep + Math.min(all, 3) * step + 2 * inset) paper.turnPage();
  while (done < all) {
    const room = Math.max(1, Math.floor((paper.room() - labelStep - 2 * inset) / step));
    const some = Math.min(all - done, room);
    drawRow(paper, placed, { from: done, to: done + some });
    done += some;
    if (done < all) paper.turnPage();
  }
}

function place(paper: Paper, row: Box[]): Placed[] {
  const shares = row.reduce((sum, { share }) => sum + share, 0);
  let x = paper.left;
  return row.map((box) => {
    const wide = (paper.width * box.share) / shares;
    x += wide;
    const lines = box.value.flatMap((words) =>
      setWords(words, wide - 2 * inset, size).flatMap(({ lines, ...style }) =>
        lines.map((words) => ({ ...style, words })),
      ),
    );
    return { ...box, x: x - wide, wide, lines };
  });
}

function drawRow(paper: Paper, row: Placed[], { from, to }: { from: number; to: number }): void {
  const top = paper.y;
  const height = labelStep + (to - from) * step + 2 * inset;
  paper.decorate((doc) => {
    for (const { x, wide, shaded } of row) {
      if (shaded) doc.rect(x, top, wide, height).fill(colours.rule);
      doc.lineWidth(0.7).strokeColor(colours.ink).rect(x, top, wide, height).stroke();
    }
  });
  paper.group('TR', () => {
    for (const { label, x, wide, lines } of row) {
      const left = x + inset;
      paper.content('TH', () => {
        const name = from === 0 ? label : `${label} (continued)`;
        paper.line(name, {
          x: left,
          y: top + inset - 1,
          face: 'sans',
          size: sizes.frame,
          colour: colours.soft,
        });
      });
      paper.content('TD', () => {
        for (const [place, { words, ...style }] of lines.slice(from, to).entries()) {
          // All boxes share the baselines, whatever the faces.
          const base = openFace('serif').ascent * size - openFace(style.face).ascent * style.size;
          const y = top + inset + labelStep + place * step + base;
          paper.line(words, { ...style, x: left, y, width: wide - 2 * inset });
        }
      });
    }
  });
  paper.y = top + height;
}
