/** The appearance of documents: colours and sizes, in one place. */

export const colours = {
  ink: '#1b1f24',
  soft: '#59626c',
  rule: '#c3c9d0',
  shade: '#f2f4f6',
  accent: '#1d3f66',
  alarm: '#a3161a',
  warning: '#8a5a00',
} as const;

/** In points. */
export const sizes = {
  title: 21,
  heading: 11.5,
  body: 9.5,
  small: 8.2,
  frame: 7.4,
  digits: 8.2,
} as const;

/** Line height for text of one point. */
export const leading = 1.42;
