/** The leaf that is made when a thing is accepted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Hex, zeroHash } from 'viem';
import { toHex } from '../../proof/hex.ts';
import { loadKeccak } from '../../proof/keccak.ts';
import { claimsHash, leafHash, leafValues } from '../../proof/leaf.ts';
import { type Anchorable, firstLeaf, pendingLeaf } from './pending.ts';

const thing: Anchorable = {
  workspaceId: 'ws_1',
  kind: 'record',
  subjectId: 'rec_1',
  version: 3,
  vault: { id: 'vlt_1', address: '0x1563915E194D8CfBA1943570603F7606A3115508' },
  digest: Buffer.alloc(32, 1),
  canonicalization: 'jcs',
  previousLeaf: Buffer.alloc(32, 2),
  claims: { externalId: 'ünïcödé', count: 1 },
};

test('the leaf matches the stored row, as a verifier computes it', async () => {
  // The first round hashes in plain JavaScript, the second in WebAssembly.
  for (let round = 0; round < 2; round += 1) {
    const { leaf, write } = pendingLeaf(thing);
    assert.ok(write.table === 'anchor_leaves');
    const { row } = write;
    const values = leafValues({
      kind: row.kind,
      canonicalization: row.canonicalization,
      digest: toHex(row.digest),
      subject: { workspaceId: row.workspace_id, id: row.subject_id },
      version: row.version,
      previousLeaf: toHex(row.previous_leaf),
      vault: thing.vault.address,
      claimsHash: claimsHash(JSON.parse(row.claims ?? '')),
    });
    assert.equal(toHex(leaf), toHex(leafHash(values)));
    assert.deepEqual(row.leaf, leaf);
    assert.equal(row.vault_id, 'vlt_1');
    // Called after pending.ts, so this one also finishes loading later.
    await loadKeccak();
  }
});

test('one digest under two canonicalizations has two leaves', () => {
  const one = { ...thing, claims: { salt: `0x${'5a'.repeat(32)}` } };
  const leaves = (['jcs', 'raw', 'hmac-sha256', 'jcs'] as const).map((canonicalization) =>
    toHex(pendingLeaf({ ...one, canonicalization }).leaf),
  );
  assert.equal(new Set(leaves).size, 3);
  assert.equal(leaves[0], leaves[3]);
});

test('claims get a random salt unless they already have one', () => {
  const saltOf = (claims: Record<string, unknown>) => {
    const { write } = pendingLeaf({ ...thing, claims });
    return JSON.parse((write.row as { claims: string }).claims).salt as Hex;
  };
  assert.match(saltOf({}), /^0x[0-9a-f]{64}$/);
  assert.notEqual(saltOf({}), saltOf({}));
  const salt = `0x${'5a'.repeat(32)}`;
  assert.equal(saltOf({ salt }), salt);
});

test('the first leaf has a previous leaf of zeros, and hashes of another length are refused', () => {
  assert.equal(toHex(firstLeaf), zeroHash);
  assert.throws(() => pendingLeaf({ ...thing, digest: Buffer.alloc(31) }), /32 bytes/);
  assert.throws(() => pendingLeaf({ ...thing, previousLeaf: Buffer.alloc(0) }), /32 bytes/);
});
