/** A pending leaf: made when a thing is accepted and committed with it, then waiting for the next batch. */
import { hash } from 'node:crypto';
import type { Write } from '../db/writes.ts';
import { smallRandomBytes } from '../random.ts';
import { canonicalJson } from './canonical.ts';
import { type Keccak, loadKeccak, plainKeccak } from './keccak.ts';
import { encodeLeaf, leafValues } from './leaf.ts';

/** One version of one thing. */
export interface Anchorable {
  workspaceId: string;
  kind: string;
  subjectId: string;
  /** Counts from 1. */
  version: number;
  /** The vault that the thing belongs to, and that seals it. */
  vault: { id: string; address: string };
  digest: Buffer;
  /** The leaf that came before, of the same subject and committed already; `firstLeaf` when there is none. */
  previousLeaf: Buffer;
  /** They get a random salt if they have none. */
  claims: Record<string, unknown>;
}

export interface PendingLeaf {
  leaf: Buffer;
  /** To be committed with the thing itself, after the leaf that came before. */
  write: Write;
}

/** What the first leaf of a thing names as its previous one. */
export const firstLeaf: Buffer = Buffer.alloc(32);

/** Throws CanonicalJsonError when the claims are no JSON that has one reading. */
export function pendingLeaf(thing: Anchorable): PendingLeaf {
  const { workspaceId, kind, subjectId, version, vault, digest, previousLeaf } = thing;
  const claims = canonicalJson({ salt: newSalt(), ...thing.claims }, 'claims');
  const claimsHash = hash('sha256', claims, 'buffer');
  const keccak = currentKeccak();
  const values = leafValues(
    {
      kind,
      digest: hexOf(digest),
      subject: { workspaceId, id: subjectId },
      version,
      previousLeaf: hexOf(previousLeaf),
      vault: vault.address,
      claimsHash: hexOf(claimsHash),
    },
    keccak,
  );
  const leaf = Buffer.from(keccak(keccak(encodeLeaf(values))));
  return {
    leaf,
    write: {
      table: 'anchor_leaves',
      row: {
        workspace_id: workspaceId,
        kind,
        subject_id: subjectId,
        version,
        vault_id: vault.id,
        digest,
        previous_leaf: previousLeaf,
        claims,
        claims_hash: claimsHash,
        leaf,
      },
    },
  };
}

function newSalt(): string {
  return `0x${smallRandomBytes(32).toString('hex')}`;
}

function hexOf(bytes: Buffer): `0x${string}` {
  if (bytes.length !== 32) throw new Error(`a hash has 32 bytes, not ${bytes.length}`);
  return `0x${bytes.toString('hex')}`;
}

let keccak: Keccak | null = null;

/** The first leaves are hashed in plain JavaScript, while the faster code is loaded. */
function currentKeccak(): Keccak {
  if (keccak === null) {
    keccak = plainKeccak;
    void loadKeccak().then((loaded) => {
      keccak = loaded;
    });
  }
  return keccak;
}
