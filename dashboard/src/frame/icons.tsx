/** The few icons, drawn as lines on a grid of 24. */
import type { ReactNode } from 'react';

const shapes = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  vault:
    'M4 5h16v14H4zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6M12 9V7.5M12 16.5V15M15 12h1.5M7.5 12H9M7 19v2M17 19v2',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  folder: 'M3.500 5.500h6l2 2.500h9v11h-17z',
  record: 'M8 4H6v16h2M16 4h2v16h-2M11 9h2M11 12h2M11 15h2',
  asset: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  worker: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4 20c1-4 4-6 8-6s7 2 8 6',
  webhook: 'M4 12h5l3-7 3 14 2-7h3',
  event: 'M6 9a6 6 0 0 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20a2 2 0 0 0 4 0',
  key: 'M14 10a4 4 0 1 0-3.5 4L12 15.5h2v2h2v2h3v-3z',
  members:
    'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M3 19c.6-3.4 3-5 6-5s5.400 1.600 6 5M16 5.500a3.500 3.500 0 0 1 0 6.500M18 14.500c1.700.700 2.700 2.200 3 4.500',
  audit: 'M5 4h14v16H5zM8 8h8M8 12h8M8 16h5',
  settings:
    'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6M12 3v3M12 18v3M3 12h3M18 12h3M5.600 5.600l2.100 2.100M16.300 16.300l2.100 2.100M5.600 18.400l2.100-2.100M16.300 7.700l2.100-2.100',
  verify: 'M12 3l7 3v6c0 4.500-3 7.500-7 9-4-1.500-7-4.500-7-9V6zM8.500 12l2.500 2.500 4.500-5',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  done: 'M5 12.500l4.500 4.500L19 7.500',
  plus: 'M12 5v14M5 12h14',
  download: 'M12 4v11M7.500 11l4.500 4.500 4.500-4.500M4 20h16',
  upload: 'M12 16V5M7.500 9.500L12 5l4.500 4.500M4 20h16',
  search: 'M10.500 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13M15.500 15.500L20 20',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2.500v2M12 19.500v2M2.500 12h2M19.500 12h2M5.300 5.300l1.400 1.400M17.300 17.300l1.400 1.400M5.300 18.700l1.400-1.400M17.300 6.700l1.400-1.400',
  moon: 'M19.500 14.500A8 8 0 0 1 9.500 4.500a8 8 0 1 0 10 10',
  warning: 'M12 4l9 16H3zM12 10v4.500M12 17.500v.01',
  again: 'M20 12a8 8 0 1 1-2.500-5.800M20 4v4.500h-4.500',
  transfer: 'M4 8h14M14 4l4 4-4 4M20 16H6M10 12l-4 4 4 4',
  eye: 'M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6',
  bin: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  pencil: 'M4 20l1-4L16 5l3 3L8 19z',
  left: 'M15 5l-7 7 7 7',
  cross: 'M6 6l12 12M18 6L6 18',
  more: 'M5.500 11.500h1v1h-1zM11.500 11.500h1v1h-1zM17.500 11.500h1v1h-1z',
} as const;

export type IconName = keyof typeof shapes;

/** Decoration only: the meaning is in the text beside it, or in the label of the button. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }): ReactNode {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={shapes[name]} />
    </svg>
  );
}
