/** Headers for bytes of foreign origin: they are saved under a name, never shown or run as part of this service. */

/** RFC 6266: a name that every client can read, and the exact one for clients that know RFC 8187. */
export function attachment(name: string): string {
  const safe = safeName(name);
  // Percent signs too: some clients wrongly decode them.
  const plain = safe.replaceAll(/[^\w .()+,=@~-]/g, '_');
  const exact = encodeURIComponent(safe).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return plain === safe
    ? `attachment; filename="${plain}"`
    : `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}

/** An invalid media type is replaced by application/octet-stream. */
export function safeMediaType(type: string): string {
  const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
  const parameter = `[ \\t]*;[ \\t]*${token}=(?:${token}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*")`;
  return new RegExp(`^${token}/${token}(?:${parameter})*$`).test(type) ? type : 'application/octet-stream';
}

/** If a browser shows the bytes after all, it loads nothing and runs no scripts or forms. */
export const attachmentPolicy = "default-src 'none'; sandbox; frame-ancestors 'none'";

/** Removes characters that could leave the directory, hide the name, or change its direction on screen. */
function safeName(name: string): string {
  const flat = name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd/\\:*?"<>|]/gu, '_')
    .replace(/^[. ]+/, '_')
    .replace(/[. ]+$/, '_');
  // Most file systems allow 255 bytes. The end is kept, as it has the file extension.
  const long = Buffer.byteLength(flat) > mostNameBytes;
  return long ? shortened(flat) : flat === '' ? 'file' : flat;
}

const mostNameBytes = 200;

function shortened(name: string): string {
  const [ending = ''] = /\.[^.]{1,16}$/u.exec(name) ?? [];
  const room = mostNameBytes - Buffer.byteLength(ending);
  let start = '';
  for (const character of name) {
    if (Buffer.byteLength(start + character) > room) break;
    start += character;
  }
  return start + ending;
}
