/** How far things are anchored, as the API shows it. */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { fromBytea } from '../db/bytea.ts';
import { type AnchorStatus, anchorStatuses } from '../proof/anchor-status.ts';
import { dateTime, named, orNull } from '../runtime/schemas.ts';

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

/** The states of a batch that give its leaves this one; there is none for what is pending. */
export function batchStatuses(status: AnchorStatus): string[] {
  if (status === 'pending') return [];
  return status === 'batched' ? ['batched', 'set_aside'] : [status];
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

/** A condition on leaf `l` with its batch `b`, which is missing while it is pending. */
export function hasStatus(status: AnchorStatus): RawBuilder<unknown> {
  return status === 'pending' ? sql`l.batch_id is null` : sql`b.status = any(${batchStatuses(status)})`;
}

/** As answers and dossiers have it. */
export function anchorToJson({ status, anchor }: AnchorState) {
  return { status, anchor: anchor && { ...anchor, anchoredAt: anchor.anchoredAt.toISOString() } };
}

/** The schema of status and anchor in answers. */
export const anchorFields = {
  status: Type.Unsafe<AnchorStatus>(Type.String({ enum: [...anchorStatuses] })),
  anchor: orNull(
    Type.Object(
      {
        chainId: Type.Integer(),
        transactionHash: Type.String(),
        blockNumber: Type.Integer(),
        anchoredAt: dateTime,
      },
      { description: 'Null until it is confirmed' },
    ),
  ),
};

export const ProofSchema = named(
  { title: 'Proof', description: 'A proof that anyone can verify without this service' },
  Type.Object({ format: Type.String() }, { additionalProperties: true }),
);
