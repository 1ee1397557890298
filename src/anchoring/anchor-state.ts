/** How far things are anchored, as the API shows it. */
import { sql } from 'kysely';
import { fromBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';

export const anchorStatuses = ['pending', 'batched', 'submitted', 'confirmed', 'finalized'] as const;
export type AnchorStatus = (typeof anchorStatuses)[number];

export interface AnchorState {
  status: AnchorStatus;
  /** Null until it is confirmed. */
  anchor: {
    chainId: number;
    transactionHash: `0x${string}`;
    blockNumber: number;
    /** The time of the block. */
    anchoredAt: Date;
  } | null;
}

/** Of the leaf's batch and of the chain; all null while it is pending. */
export interface AnchorColumns {
  status: string | null;
  chain_id: number | null;
  transaction_hash: Buffer | null;
  block_number: number | null;
  block_time: number | null;
}

/** A batch that was set aside counts as batched: it stays so until an operator has seen to it. */
export function statusOf(batchStatus: string | null): AnchorStatus {
  if (batchStatus === null) return 'pending';
  const status = anchorStatuses.find((status) => status === batchStatus);
  return status ?? 'batched';
}

export function anchorStateOf(row: AnchorColumns): AnchorState {
  const { status, chain_id, transaction_hash, block_number, block_time } = row;
  const anchored =
    chain_id !== null && transaction_hash !== null && block_number !== null && block_time !== null;
  return {
    status: statusOf(status),
    anchor: anchored
      ? {
          chainId: chain_id,
          transactionHash: fromBytea(transaction_hash),
          blockNumber: block_number,
          anchoredAt: new Date(block_time * 1000),
        }
      : null,
  };
}

/** The states of versions of things of one kind, in their order; pending where there is no leaf. */
export async function anchorsOf(
  db: Db,
  {
    workspaceId,
    kind,
    things,
  }: { workspaceId: string; kind: string; things: { id: string; version: number }[] },
): Promise<AnchorState[]> {
  const { rows } = await sql<AnchorColumns>`
    select b.status, c.chain_id, b.transaction_hash, b.block_number, b.block_time
    from unnest(${things.map(({ id }) => id)}::text[], ${things.map(({ version }) => version)}::integer[])
      with ordinality as wanted (id, version, place)
    left join lateral (
      select batch_id from anchor_leaves
      where workspace_id = ${workspaceId} and subject_id = wanted.id and kind = ${kind}
        and version = wanted.version limit 1
    ) as l on true
    left join anchor_batches b on b.id = l.batch_id
    left join chain c on c.singleton
    order by wanted.place`.execute(db);
  return rows.map(anchorStateOf);
}
