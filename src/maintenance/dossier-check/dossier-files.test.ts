/** The texts of a dossier are read in one way: strict UTF-8, and a byte order mark is no JSON. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import { checkTimed, makeTimedDossier } from '../../../test/support/fixtures/timed-dossier.ts';
import { linesOf } from './dossier-files.ts';
import { dossierPaths, entriesPath } from './dossier-format.ts';

let made: Map<string, Uint8Array>;
before(async () => {
  made = await makeTimedDossier({
    ...{ created: { vouchedAt: '2026-01-01T00:00:00Z' }, transferred: null },
    entries: [{ by: 'seller', recordedAt: '2026-02-01T00:00:00Z', vouchedAt: '2026-02-01T00:05:00Z' }],
    ...{ madeAt: '2026-06-01T00:00:00.000Z', sealed: { by: 'seller', vouchedAt: '2026-06-01T00:01:00Z' } },
  });
});

/** With other bytes in a file, which dossier.json lists as they are now; without the seal, which nobody can make again. */
async function judge(path: string, change: (bytes: Uint8Array) => Uint8Array) {
  const files = new Map(made);
  const bytes = change(files.get(path) ?? assert.fail());
  files.set(path, bytes);
  const isListed = path !== dossierPaths.summary && path !== dossierPaths.seal;
  if (isListed) {
    const dossier = JSON.parse(new TextDecoder().decode(files.get(dossierPaths.summary)));
    const listed = dossier.contents.find((one: { path: string }) => one.path === path);
    Object.assign(listed, { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    files.set(dossierPaths.summary, Buffer.from(JSON.stringify(dossier)));
  }
  if (path !== dossierPaths.seal) files.delete(dossierPaths.seal);
  const { verdict, faults } = await checkTimed(files);
  return { verdict, faults: faults.map(({ place, message }) => `${place} ${message}`).join('\n') };
}

const marked = (bytes: Uint8Array) => Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), bytes]);
/** The first letter becomes a byte that begins no character. */
const latin = (bytes: Uint8Array) => {
  const text = Buffer.from(bytes).toString('latin1');
  return Buffer.from(text.replace(/"[a-z]/, '"\xff'), 'latin1');
};
const cut = (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.of(0xc3)]);

for (const [what, change] of [
  ['a byte order mark', marked],
  ['a byte that is not UTF-8', latin],
  ['half a character at the end', cut],
] as const) {
  test(`${what} in any file of a dossier is a fault`, async () => {
    const paths = [dossierPaths.summary, dossierPaths.seal, dossierPaths.history, dossierPaths.versions];
    for (const path of [...paths, entriesPath(1)]) {
      const { verdict, faults } = await judge(path, change);
      assert.equal(verdict, 'fail', path);
      assert.match(faults, new RegExp(`^${path}.*(UTF-8|encoded data|JSON|valid)`, 'm'), path);
    }
  });
}

test('a character that two pieces of a file share is one character', async () => {
  const bytes = new TextEncoder().encode('{"a":"Ö"}\n{"b":"€"}');
  async function* pieces() {
    for (const byte of bytes) yield Uint8Array.of(byte);
  }
  const lines: string[] = [];
  for await (const line of linesOf(pieces())) lines.push(line);
  assert.deepEqual(lines, ['{"a":"Ö"}', '{"b":"€"}']);
});
