/** Names for files of an export: safe on every usual file system, and no two the same. */
import { findNameFault } from '../input/file-name.ts';

const reserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
const mostBytes = 255;

/** The name itself where it can be kept. `isTaken` ignores case, as some file systems do. */
export function exportName(name: string, id: string, isTaken: (name: string) => boolean): string {
  const safe = name.replace(/[<>:"|?*\\/\p{Cc}]/gu, '_').replace(/[. ]+$/u, '_');
  const isGood = findNameFault(safe) === null && !reserved.test(safe);
  if (isGood && !isTaken(foldedName(safe))) return safe;
  const [, stem = safe, ending = ''] = /^(.+?)(\.[^.]{1,16})?$/u.exec(isGood ? safe : `file-${safe}`) ?? [];
  return `${cut(stem, mostBytes - Buffer.byteLength(ending) - id.length - 3)} (${id})${ending}`;
}

export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function cut(text: string, bytes: number): string {
  let kept = '';
  let size = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > bytes) break;
    kept += character;
  }
  return kept;
}
