/** A QR code drawn as squares, sharp at any size. */
import { create } from 'qrcode';
import type { Paper } from './paper.ts';

export interface QrCode {
  text: string;
  /** The alternative text for screen readers. */
  alt: string;
  x: number;
  y: number;
  /** In points, including the quiet zone of four modules around it that scanners need. */
  size: number;
}

export function drawQrCode(paper: Paper, { text, alt, x, y, size }: QrCode): void {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const quiet = 4;
  const unit = size / (modules.size + 2 * quiet);
  paper.content(
    'Figure',
    () =>
      paper.draw((doc) => {
        // One rectangle per run of dark modules, so that there are no hairlines between neighbours.
        for (let row = 0; row < modules.size; row += 1) {
          for (let column = 0; column < modules.size; column += 1) {
            if (!modules.get(row, column)) continue;
            const start = column;
            while (column + 1 < modules.size && modules.get(row, column + 1)) column += 1;
            const length = column - start + 1;
            doc.rect(x + (start + quiet) * unit, y + (row + quiet) * unit, length * unit, unit);
          }
        }
        doc.fill('#000000');
      }),
    { alt },
  );
}
