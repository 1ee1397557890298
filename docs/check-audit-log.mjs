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

// The first entry of every workspace tells of its creation.
const workspaceId = entries[0]?.targetId;
let previousHash = '00'.repeat(32);
for (const [index, entry] of entries.entries()) {
  const { sequence, id, at, actor, action, targetId, requestId, details, hash } = entry;
  const text = canonicalize([
    'holdfast/audit@1',
    workspaceId,
    sequence,
    id,
    at,
    actor.kind,
    actor.id,
    action,
    targetId,
    requestId,
    details,
  ]);
  const expected = createHash('sha256').update(Buffer.from(previousHash, 'hex')).update(text).digest('hex');
  if (sequence !== index + 1) fail(`entry ${index + 1} is missing`);
  if (entry.previousHash !== previousHash)
    fail(`entry ${sequence} (${id}) does not follow the one before it`);
  if (hash !== expected) fail(`entry ${sequence} (${id}) was changed`);
  previousHash = hash;
}
if (entries.length === 0) fail('there are no entries');
console.log(`ok: ${entries.length} entries, head ${previousHash}`);

function fail(reason) {
  console.log(`broken: ${reason}`);
  process.exit(1);
}
