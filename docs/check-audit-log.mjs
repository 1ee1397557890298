/** Checks the hash chain of a workspace's audit log: node docs/check-audit-log.mjs PAGE.json … */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import canonicalize from 'canonicalize';

const entries = process.argv
  .slice(2)
  .flatMap((file) => JSON.parse(readFileSync(file, 'utf8')))
  // The newest entries may not have their place yet.
  .filter((entry) => entry.sequence !== null)
  .sort((one, other) => one.sequence - other.sequence);

let previousHash = '00'.repeat(32);
for (const [index, entry] of entries.entries()) {
  const { workspaceId, id, at, actor, action, targetId, requestId, details, sequence, hash } = entry;
  if (sequence !== index + 1) fail(`entry ${index + 1} is missing`);
  const fields = [workspaceId, id, at, actor.kind, actor.id, action, targetId, requestId, details];
  const digest = sha256(canonicalize(['holdfast/audit@1', ...fields]));
  if (entry.digest !== digest) fail(`entry ${sequence} (${id}) was changed`);
  if (hash !== sha256(Buffer.from(previousHash + digest, 'hex'))) {
    fail(`entry ${sequence} (${id}) does not follow the one before it`);
  }
  previousHash = hash;
}
if (entries.length === 0) fail('there are no entries');
console.log(`ok: ${entries.length} entries, head ${previousHash}`);

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function fail(reason) {
  console.log(`broken: ${reason}`);
  process.exit(1);
}
