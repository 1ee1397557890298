/**
 * Leaves that count as confirmed, in the database of a service without a chain: their proofs are valid except for seal
 * and anchor.
 */
import { buildTop } from '../../../src/anchoring/batching/batch.ts';
import { type Anchorable, firstLeaf, pendingLeaf } from '../../../src/anchoring/batching/pending.ts';
import { emptyHead, headId } from '../../../src/proof/head.ts';
import { plainKeccak } from '../../../src/proof/keccak.ts';
import { buildTree } from '../../../src/proof/merkle.ts';
import type { Service } from '../service/service.ts';

export type Thing = Pick<Anchorable, 'workspaceId' | 'subjectId' | 'vault'>;
export type NextLeaf = Pick<Anchorable, 'kind' | 'version' | 'digest' | 'claims'>;

interface Written {
  leaf: Buffer;
  columns: unknown[];
}

/** Confirms the existing leaves of the thing and the given next ones, whose digests are made alike, in order, in one batch. */
export async function confirmLeaves(
  service: Service,
  { workspaceId, subjectId, vault }: Thing,
  next: NextLeaf[],
): Promise<void> {
  const { rows } = await service.sql(
    `select leaf, canonicalization from anchor_leaves where workspace_id = $1 and subject_id = $2 order by id`,
    [workspaceId, subjectId],
  );
  const canonicalization = rows.at(-1)?.canonicalization ?? 'jcs';
  let previousLeaf: Buffer = rows.at(-1)?.leaf ?? firstLeaf;
  const added: Written[] = next.map((one) => {
    const { leaf, write } = pendingLeaf({
      ...one,
      workspaceId,
      subjectId,
      vault,
      previousLeaf,
      canonicalization,
    });
    previousLeaf = leaf;
    const row = write.row as Record<string, unknown>;
    return { leaf, columns: columns.map((name) => row[name]) };
  });
  const values = columns.map((_, place) => added.map((one) => one.columns[place]));
  await service.sql(
    `insert into anchor_leaves (workspace_id, subject_id, vault_id, ${columns.join(', ')})
     select $1, $2, $3, kind, version, digest, canonicalization, previous_leaf, claims, claims_hash, leaf
     from unnest($4::text[], $5::integer[], $6::bytea[], $7::text[], $8::bytea[], $9::text[], $10::bytea[], $11::bytea[])
       with ordinality as added (${columns.join(', ')}, place) order by place`,
    [workspaceId, subjectId, vault.id, ...values],
  );

  const leaves = Buffer.concat([...rows.map(({ leaf }) => leaf), ...added.map(({ leaf }) => leaf)]);
  const subtreeRoot = Buffer.from(buildTree(leaves, plainKeccak).root);
  const sealId = Buffer.alloc(32, 0x5e);
  const top = buildTop(
    { roots: subtreeRoot, sealIds: sealId, headId: headId(emptyHead, plainKeccak) },
    plainKeccak,
  );
  const account = Buffer.alloc(20, 0xac);
  const hash = Buffer.alloc(32, 0xaa);
  await service.sql(
    `insert into chain (chain_id, genesis_hash, embedded, registry, submitter) values (31337, $1, true, $2, $2)
     on conflict do nothing`,
    [hash, account],
  );
  await service.sql(
    `insert into sender_accounts (address, next_nonce) values ($1, 1)
     on conflict (address) do update set next_nonce = sender_accounts.next_nonce + 1`,
    [account],
  );
  await service.sql(
    `with sent as (
       insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit, status, mined_hash,
         block_number, block_hash, block_time)
       select address, next_nonce, 'anchor', address, '', 1, 'finalized', $1, 7, $1, 1800000000
       from sender_accounts where address = $2
       returning id
     ), batch as (
       insert into anchor_batches (root, size, outgoing_id, status, transaction_hash, block_number, block_hash,
         block_time, announced, confirmed_at, evidence_root, head_path)
       select $3, $4, id, 'finalized', $1, 7, $1, 1800000000, $4, now(), $10, $11 from sent
       returning id
     ), placed as (
       select id, row_number() over (order by id) - 1 as place from anchor_leaves
       where workspace_id = $5 and subject_id = $9
     ), subtree as (
       insert into anchor_subtrees (batch_id, workspace_id, vault_id, root, leaves, first_place, sequence, signature,
         upper_path, seal_id, previous_seal, ids)
       select id, $5, $6, $12, $7, 0,
         (select coalesce(max(sequence), 0) + 1 from anchor_subtrees where vault_id = $6), $8, $13, $14, $10,
         (select string_agg(int8send(placed.id), '' order by place) from placed) from batch
     )
     insert into anchor_places (first_id, batch_id, places)
     select placed.id, batch.id, array[placed.place] from placed, batch
     on conflict (first_id) do update set batch_id = excluded.batch_id, places = excluded.places`,
    [
      ...[hash, account, Buffer.from(top.root), rows.length + added.length, workspaceId, vault.id, leaves],
      ...[Buffer.alloc(65, 1), subjectId, Buffer.alloc(32), Buffer.from(top.headPath), subtreeRoot],
      ...[Buffer.from(top.upperPaths[0] ?? []), sealId],
    ],
  );
}

const columns = [
  ...['kind', 'version', 'digest', 'canonicalization'],
  ...['previous_leaf', 'claims', 'claims_hash', 'leaf'],
];
