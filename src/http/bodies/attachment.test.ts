/** Names and types of downloads, including malicious ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/service/properties.ts';
import { attachment, safeMediaType } from './attachment.ts';

test('sends a plain name once', () => {
  assert.equal(attachment('report 2026 (final).pdf'), 'attachment; filename="report 2026 (final).pdf"');
});

test('sends a name beyond ASCII exactly, beside a fallback for every client', () => {
  assert.equal(
    attachment("Jürgen's 50% €.pdf"),
    `attachment; filename="J_rgen_s 50_ _.pdf"; filename*=UTF-8''J%C3%BCrgen%27s%2050%25%20%E2%82%AC.pdf`,
  );
});

test('a name cannot contain a directory, start with a dot, or reverse the text', () => {
  for (const [name, safe] of [
    ['../../etc/passwd', '__.._etc_passwd'],
    ['..\\..\\boot.ini', '__.._boot.ini'],
    ['.bashrc', '_bashrc'],
    ['..', '_'],
    ['', 'file'],
    ['a"; filename="b.exe', 'a__ filename=_b.exe'],
    ['line\r\nSet-Cookie: a=b', 'line__Set-Cookie_ a=b'],
    ['invoice\u202efdp.exe', 'invoice_fdp.exe'],
    ['CON: ', 'CON__'],
  ] as const) {
    assert.match(
      attachment(name),
      new RegExp(`^attachment; filename="${safe.replaceAll('.', '\\.')}"`),
      name,
    );
  }
});

test('truncates a long name, but keeps its extension', () => {
  const [, exact = ''] = /filename\*=UTF-8''(\S+)$/.exec(attachment(`${'ü'.repeat(400)}.tar.gz`)) ?? [];
  assert.ok(Buffer.byteLength(decodeURIComponent(exact)) <= 200);
  assert.match(decodeURIComponent(exact), /^ü+\.gz$/);
});

test('the header is ASCII without inner quotes, slashes or line breaks for any name', () => {
  const character = fc.integer({ min: 0, max: 0x10_ff_ff }).map((code) => String.fromCodePoint(code));
  const name = fc.array(character, { maxLength: 60 }).map((characters) => characters.join(''));
  fc.assert(
    fc.property(name, (name) => {
      assert.match(
        attachment(name),
        /^attachment; filename="[\w .()+,=@~-]+"(; filename\*=UTF-8''[\w%.!~-]+)?$/,
      );
    }),
  );
});

test('only valid media types are sent as media types', () => {
  for (const type of ['text/plain', 'image/svg+xml', 'text/plain; charset=utf-8', 'a/b;x="y z"']) {
    assert.equal(safeMediaType(type), type);
  }
  for (const type of [
    '',
    'text',
    'text/',
    'text/html\r\nx: y',
    'text/html, text/plain',
    'a/b; x',
    'a/b;x="ü"',
  ]) {
    assert.equal(safeMediaType(type), 'application/octet-stream', type);
  }
});
