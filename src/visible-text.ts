/** A text that people can see, as a pattern for schemas. */

/** Has a sign that can be seen: not blanks alone, nor signs without width, nor letters that are drawn as nothing. */
export const visible = '(?![\\u115f\\u1160\\u2800\\u3164\\uffa0])[\\p{L}\\p{N}\\p{P}\\p{S}]';
