/** A QR code: dark on light in every colour scheme, as scanners expect. */
import { create } from 'qrcode';

export function QrCode({ text, label }: { text: string; label: string }) {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const { size } = modules;
  const squares = Array.from({ length: size * size }, (_, place) => [place % size, Math.floor(place / size)])
    .filter(([column = 0, row = 0]) => modules.get(row, column))
    .map(([column, row]) => `M${column} ${row}h1v1h-1z`);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`-4 -4 ${size + 8} ${size + 8}`}
      shapeRendering="crispEdges"
      style={{ width: '100%', maxWidth: 280, background: '#ffffff', borderRadius: 8 }}
    >
      <path d={squares.join('')} fill="#000000" />
    </svg>
  );
}
