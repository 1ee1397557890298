/** Mistakes in what is kept: encryption, erasure, backups, restores and the check of everything. */
import type { Mutation } from './mutation.ts';

export const storageMutations: Mutation[] = [
  {
    name: 'secrets not bound to their place',
    file: 'src/keys/envelope.ts',
    text: `JSON.stringify(['holdfast/secret@1', workspaceId, purpose, id]);
const wrapContext = ({ workspaceId, purpose, id }: SecretRef, version: number): string =>
  JSON.stringify(['holdfast/data-key@1', workspaceId, purpose, id, version]);`,
    replacement: `JSON.stringify(['holdfast/secret@1', purpose, id]);
const wrapContext = ({ workspaceId, purpose, id }: SecretRef, version: number): string =>
  JSON.stringify(['holdfast/data-key@1', purpose, id, version]);`,
    why: 'A sealed row that was moved to another workspace would open there.',
    tests: ['src/keys/keyring.test.ts'],
  },
  {
    name: 'cut-off content opens',
    file: 'src/blobs/cipher.ts',
    text: 'nonce.writeUInt8(last ? 1 : 0, 11);',
    replacement: 'nonce.writeUInt8(0, 11);',
    why: 'A blob whose end was cut off would decrypt as if it were whole.',
    tests: ['src/blobs/cipher.test.ts'],
  },
  {
    name: 'chunks in any order',
    file: 'src/blobs/cipher.ts',
    text: 'nonce.writeUInt32BE(number, 7);',
    replacement: 'nonce.writeUInt32BE(0, 7);',
    why: 'Chunks could change places unseen, and a nonce would be used twice.',
    tests: ['src/blobs/cipher.test.ts'],
  },
  {
    name: 'content erased that is needed',
    file: 'src/blobs/blobs.ts',
    text: 'if (!found || (await isNeeded())) return null;',
    replacement: 'if (!found) return null;',
    why: 'Erasing one file would take the bytes of another that has the same.',
    tests: ['src/blobs/blobs.test.ts'],
  },
  {
    name: 'changed archive restored',
    file: 'src/backup/manifest-seal.ts',
    text: "if (timingSafeEqual(mac, Buffer.from(seal.hmacSha256, 'hex'))) return;",
    replacement: "if (mac.length === Buffer.from(seal.hmacSha256, 'hex').length) return;",
    why: 'Somebody could write an archive anew, and it would become the truth.',
    tests: ['src/backup/backup.test.ts'],
  },
  {
    name: 'restore into a database in use',
    file: 'src/backup/target.ts',
    text: 'if (tables.length > 0) throw databaseNotEmpty(config, tables);',
    replacement: '',
    why: 'A restore with a wrong setting would drop everything that is there.',
    tests: ['src/backup/backup.test.ts'],
  },
  {
    name: 'restored leader still leads',
    file: 'src/backup/restore.ts',
    text: 'await sql`update leaders set backend_pid = null`.execute(db);',
    replacement: '',
    why: 'A restored service would wait for a node that is not there.',
    tests: ['src/backup/backup.test.ts'],
  },
  {
    name: 'fsck passes over a broken audit chain',
    file: 'src/auth/audit.check.ts',
    text: '} else if (!chainHash(previous, row.digest).equals(hash)) {',
    replacement: '} else if (chainHash(previous, row.digest).length !== hash.length) {',
    why: 'The check is there to find just that.',
    tests: ['test/fsck.test.ts'],
  },
  {
    name: 'fsck passes over a delivery that nobody will send',
    file: 'src/webhooks/deliveries.check.ts',
    text: 'if (queued === open) return null;',
    replacement: 'if (queued === open || open) return null;',
    why: 'A delivery that fell out of the queue would wait for ever, and nobody would know.',
    tests: ['test/fsck.test.ts'],
  },
  {
    name: 'answers kept for ever',
    file: 'src/http/idempotency.ts',
    text: 'created_at.getTime() < Date.now() - keptForMs;',
    replacement: 'created_at.getTime() < keptForMs;',
    why: 'A key that was promised to be free after a day would answer with what was done long ago.',
    tests: ['test/http-idempotency.test.ts'],
  },
];
