/** Rebuilds a batch from its leaves, and compares roots, paths, places and seals with those stored. */
import { sql } from 'kysely';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { headId } from '../../proof/head.ts';
import { toHex, zeroHash } from '../../proof/hex.ts';
import type { Keccak } from '../../proof/keccak.ts';
import { buildTree, hashBytes } from '../../proof/merkle.ts';
import { recoverSigner, sealId, signatureFault } from '../../proof/seal.ts';
import type { Finding } from '../../runtime/check.ts';
import { findArchivedLeaves } from '../archive/archived-rows.ts';
import { unpackIds } from '../leaves/leaf-places.ts';
import { buildTop } from './batch.ts';

interface Subtree {
  vault_id: string;
  address: string | null;
  root: Buffer;
  leaves: Buffer;
  ids: Buffer;
  first_place: number;
  sequence: string;
  previous_seal: Buffer;
  signature: Buffer;
  seal_id: Buffer;
  upper_path: Buffer;
  /** The newest other seal of this vault with the same or a smaller number. */
  before: { batch_id: number; sequence: string; seal_id: string } | null;
}

interface PlacedLeaf {
  id: number;
  vault_id: string;
  subject_id: string;
  place: number;
  leaf: Buffer;
}

export interface StoredBatch {
  id: number;
  root: Buffer;
  size: number;
  evidence_root: Buffer;
  head_path: Buffer;
}

type Find = (rule: string, ids: Finding['ids'], what: string) => void;

export async function batchContentFindings(db: Db, batch: StoredBatch, keccak: Keccak): Promise<Finding[]> {
  const findings: Finding[] = [];
  const find: Find = (rule, ids, what) =>
    findings.push({
      rule,
      ids: { batch: batch.id, ...ids },
      message: `In batch ${batch.id} ${what}.`,
      advice:
        'The rows were changed in the database, and proofs made from them fail: restore them from a backup.',
    });
  const subtrees = await readSubtrees(db, batch.id);
  const leaves = await readLeaves(db, batch.id);
  // A head alone covers something, and has no leaves.
  const isHeadAlone = batch.size === 0 && leaves.length === 0 && fromBytea(batch.evidence_root) !== zeroHash;
  if (subtrees.length === 0 && !isHeadAlone) {
    find('batch_empty', {}, 'the subtrees are missing');
    return findings;
  }
  await checkPlaces(db, leaves, { batch, subtrees, find });
  checkTree({ batch, subtrees, find }, keccak);
  for (const subtree of subtrees) await checkSeal(subtree, batch.id, find);
  return findings;
}

async function readSubtrees(db: Db, batchId: number): Promise<Subtree[]> {
  const { rows } = await sql<Subtree>`
    select s.vault_id, vault.address, s.root, s.leaves, s.ids, s.first_place, s.sequence, s.previous_seal, s.signature,
           s.seal_id, s.upper_path,
           before.found as before
    from anchor_subtrees s
    left join lateral (
      select v.address from vaults v where v.workspace_id = s.workspace_id and v.id = s.vault_id limit 1
    ) as vault on true
    left join lateral (
      select json_build_object('batch_id', o.batch_id, 'sequence', o.sequence::text,
                               'seal_id', '0x' || encode(o.seal_id, 'hex')) as found
      from anchor_subtrees o
      where o.vault_id = s.vault_id and o.sequence <= s.sequence and o.batch_id <> s.batch_id
      order by o.sequence desc limit 1
    ) as before on true
    where s.batch_id = ${batchId} order by s.first_place`.execute(db);
  return rows;
}

async function readLeaves(db: Db, batchId: number): Promise<PlacedLeaf[]> {
  const { rows } = await sql<PlacedLeaf>`
    select l.id, l.vault_id, l.subject_id, at.place, l.leaf
    from anchor_places p
    cross join lateral unnest(p.places) with ordinality as at (place, number)
    cross join lateral (select * from anchor_leaves where id = p.first_id + at.number - 1 limit 1) as l
    where p.batch_id = ${batchId} and at.place >= 0 order by at.place`.execute(db);
  return rows;
}

interface Content {
  batch: StoredBatch;
  subtrees: Subtree[];
  find: Find;
}

/** Every leaf of the batch is at its place, and every place has a leaf. */
async function checkPlaces(db: Db, leaves: PlacedLeaf[], { batch, subtrees, find }: Content): Promise<void> {
  let next = 0;
  for (const { vault_id: vault, first_place, leaves } of subtrees) {
    if (first_place !== next)
      find('subtree_place', { vault }, `vault ${vault} begins at position ${first_place}, not ${next}`);
    next = first_place + leaves.length / hashBytes;
  }
  if (next !== batch.size) find('batch_size', {}, `the vaults have ${next} leaves, not ${batch.size}`);

  const taken = new Set<number>();
  const unpacked = new Map<Subtree, number[]>();
  const idsOf = (subtree: Subtree) => {
    const ids = unpacked.get(subtree) ?? unpackIds(subtree.ids);
    unpacked.set(subtree, ids);
    return ids;
  };
  let at = 0;
  for (const { id: leaf, vault_id: vault, subject_id: subject, place, leaf: bytes } of leaves) {
    taken.add(place);
    while (at + 1 < subtrees.length && (subtrees[at + 1]?.first_place ?? 0) <= place) at += 1;
    const subtree = subtrees[at] as Subtree;
    const from = (place - subtree.first_place) * hashBytes;
    const stands = subtree.leaves.subarray(from, from + hashBytes).equals(bytes);
    const isNamed = idsOf(subtree)[place - subtree.first_place] === leaf;
    if (!stands || !isNamed || subtree.vault_id !== vault) {
      find(
        'leaf_not_in_batch',
        { leaf, subject, place },
        `the leaf of ${subject} is not at its position ${place}`,
      );
    }
  }
  if (taken.size < next) {
    const untaken = subtrees
      .flatMap((subtree) => idsOf(subtree).map((id, at) => ({ id, place: subtree.first_place + at })))
      .filter(({ place }) => !taken.has(place));
    // The check of the archive looks whether they are what stands at their places.
    const archived = await findArchivedLeaves(
      db,
      untaken.map(({ id }) => id),
    );
    const missing = Array.from({ length: next }, (_, place) => place).filter((place) => !taken.has(place));
    const elsewhere = new Set(untaken.filter(({ id }) => archived.has(id)).map(({ place }) => place));
    const lost = missing.filter((place) => !elsewhere.has(place));
    const [first] = lost;
    if (first !== undefined)
      find(
        'place_without_leaf',
        { place: first },
        `${lost.length} positions have no leaf, the first is ${first}`,
      );
  }
}

/** Roots and paths follow from the leaves. */
function checkTree({ batch, subtrees, find }: Content, keccak: Keccak): void {
  for (const { vault_id: vault, root, leaves } of subtrees) {
    const whole = leaves.length > 0 && leaves.length % hashBytes === 0;
    if (!whole || !root.equals(buildTree(leaves, keccak).root)) {
      find('subtree_root', { vault }, `the root of vault ${vault} does not match its leaves`);
    }
  }
  const top = buildTop(
    {
      roots: Buffer.concat(subtrees.map(({ root }) => root)),
      sealIds: Buffer.concat(subtrees.map(({ seal_id }) => seal_id)),
      headId: headId({ evidenceRoot: fromBytea(batch.evidence_root), logHead: zeroHash }, keccak),
    },
    keccak,
  );
  if (!batch.root.equals(top.root)) {
    find('batch_root', {}, 'the root does not match the roots and seals of its vaults and its head');
  }
  if (!batch.head_path.equals(top.headPath)) {
    find('head_path', {}, 'the path of its head does not lead to the root');
  }
  for (const [place, { vault_id: vault, upper_path }] of subtrees.entries()) {
    if (!upper_path.equals(top.upperPaths[place] ?? new Uint8Array())) {
      find('upper_path', { vault }, `the path of vault ${vault} does not lead from its root to the batch's`);
    }
  }
}

async function checkSeal(subtree: Subtree, batchId: number, find: Find): Promise<void> {
  const { vault_id: vault, address, sequence, before } = subtree;
  const signature = fromBytea(subtree.signature);
  const fields = {
    vault: address?.toLowerCase() ?? '',
    subtreeRoot: fromBytea(subtree.root),
    leaves: subtree.leaves.length / hashBytes,
    sequence,
    previousSeal: fromBytea(subtree.previous_seal),
  };
  const signer =
    address === null || signatureFault(signature) ? null : await recoverSigner(fields, signature);
  if (signer === null || signer !== fields.vault) {
    find(
      'seal',
      { vault },
      `the seal of vault ${vault} is not a signature of its address ${address ?? '(it has none)'}`,
    );
  }
  if (address !== null && fromBytea(subtree.seal_id) !== toHex(sealId(fields, signature))) {
    find('seal_id', { vault }, `the id of the seal of vault ${vault} does not match the seal`);
  }
  if (before?.sequence !== sequence && (before?.seal_id ?? zeroHash) !== fields.previousSeal) {
    find('previous_seal', { vault, sequence }, `vault ${vault} names another seal than the one before it`);
  }
  if (before && before.sequence === sequence) {
    find(
      'sequence_twice',
      { vault, sequence },
      `vault ${vault} has the seal number ${sequence}, which it also has in batch ${before.batch_id}`,
    );
  } else if (before && before.batch_id > batchId) {
    find(
      'sequence_order',
      { vault, sequence },
      `vault ${vault} has the seal number ${sequence}, and a smaller one in the later batch ${before.batch_id}`,
    );
  }
}
