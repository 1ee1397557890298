/** The fields of a row of CSV, by RFC 4180: a field with a delimiter, a quote or a line break is quoted, and a quote is doubled. */

/** A string says why it is no row. */
export function csvFields(row: string, delimiter: string): string[] | string {
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    if (row[at] === '"') {
      const read = quotedField(row, at + 1);
      if (read === null) return `Field ${fields.length + 1} has a quote that is never closed.`;
      fields.push(read.text);
      at = read.end;
      if (at < row.length && row[at] !== delimiter)
        return `Field ${fields.length} has text after its closing quote. Write a quote inside a quoted field twice.`;
    } else {
      const found = row.indexOf(delimiter, at);
      const end = found < 0 ? row.length : found;
      const text = row.slice(at, end);
      if (text.includes('"'))
        return `Field ${fields.length + 1} has a quote, but does not begin with one. Quote the whole field, and write quotes inside it twice.`;
      if (text.includes('\r')) return `Field ${fields.length + 1} has a carriage return, and is not quoted.`;
      fields.push(text);
      at = end;
    }
    if (at >= row.length) return fields;
    at += 1;
    if (at === row.length) {
      fields.push('');
      return fields;
    }
  }
}

/** From after the opening quote; `end` is after the closing one. */
function quotedField(row: string, begin: number): { text: string; end: number } | null {
  let text = '';
  for (let at = begin; ; ) {
    const close = row.indexOf('"', at);
    if (close < 0) return null;
    text += row.slice(at, close);
    if (row[close + 1] !== '"') return { text, end: close + 1 };
    text += '"';
    at = close + 2;
  }
}

/** A spreadsheet executes a field that begins with one of these, also a quoted one. */
const formulaStart = /^[=+\-@\t\r]/;

/** The field as it is written. A text that a spreadsheet would execute begins with an apostrophe, so that it stays text. */
export function csvField(given: string): string {
  const text = formulaStart.test(given) ? `'${given}` : given;
  return /[",\r\n]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text;
}
