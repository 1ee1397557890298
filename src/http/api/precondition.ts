/** ETag and If-Match: which version was sent, and which version a change is based on. */
import { Type } from 'typebox';
import type { SeenVersions } from '../../runtime/seen-version.ts';

const tag = '(W/)?"[!#-+\\--~]*"';

export const ifMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 1024,
      pattern: `^(\\*|${tag}( ?, ?${tag})*)$`,
      description:
        'The ETag you last read: the version in quotes, such as `"3"`. 412 if it has changed since.',
    }),
  ),
});

export function etagOf({ version }: { version: number }): string {
  return `"${version}"`;
}

/** Weak and foreign tags match nothing, as RFC 9110 requires. */
export function seenVersions(headers: { 'if-match'?: string }): SeenVersions {
  const text = headers['if-match'];
  if (text === undefined || text === '*') return undefined;
  return text.split(',').flatMap((tag) => {
    const version = /^"([1-9]\d{0,8})"$/.exec(tag.trim())?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}
