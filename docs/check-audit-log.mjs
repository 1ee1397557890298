/**
 * Checks the hash chain of a workspace's audit log, and that it has the entries that were anchored:
 * node docs/check-audit-log.mjs PAGE.json … [PROOF.json …], where each proof is an answer of /platform/audit-log/proof.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import canonicalize from 'canonicalize';

const files = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const given = files.filter(Array.isArray).flat();
const proofs = files.filter((file) => !Array.isArray(file));
const entries = given
  .filter(({ sequence }) => sequence !== null)
  .sort((one, other) => one.sequence - other.sequence);
if (entries.length === 0) fail('there are no entries');

const [{ workspaceId: workspace }] = entries;
const stranger = given.find(({ workspaceId }) => workspaceId !== workspace);
if (stranger) fail(`entry ${stranger.id} is of the workspace ${stranger.workspaceId}, not of ${workspace}`);

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

for (const { sequence, content, proof } of proofs) {
  const what = `the proof of entry ${sequence}`;
  const { subject, claims, content: proven } = proof;
  const isAbout = proof.kind === 'audit-log' && subject.workspaceId === workspace && subject.id === workspace;
  if (!isAbout) fail(`${what} is not about the audit log of ${workspace}`);
  if (claims?.sequence !== sequence) fail(`${what} claims entry ${claims?.sequence}`);
  const entry = entries[sequence - 1];
  if (!entry) fail(`entry ${sequence} was anchored, but the log ends with entry ${entries.length}`);
  const isProven =
    proven.digest === `0x${entry.hash}` && sha256(Buffer.from(content, 'base64')) === entry.hash;
  if (!isProven) fail(`entry ${sequence} is not the one that was anchored: the log was rewritten`);
}

console.log(`ok: ${entries.length} entries of ${workspace}, head ${previousHash}`);
for (const { sequence } of proofs) console.log(`entry ${sequence} is the one that its proof names`);
if (proofs.length === 0)
  console.log('no proof was given: a log that was rewritten or cut off would look the same');
for (const { id, at, action } of given.filter(({ sequence }) => sequence === null)) {
  console.log(`not in the chain yet, so not checked: ${id} (${action}, ${at})`);
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function fail(reason) {
  console.log(`broken: ${reason}`);
  process.exit(1);
}
