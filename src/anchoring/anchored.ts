/** What every anchored thing has: a leaf, which leads to its batch and the chain, and a status that follows from them. */
import { type RawBuilder, sql } from 'kysely';
import { type TSchema, Type } from 'typebox';
import { fromBytea } from '../db/bytea.ts';
import { type AnchorStatus, anchorStatuses } from '../proof/anchor-status.ts';
import type { Kind } from '../proof/kinds.ts';
import { dateTime, like, orNull, sample, text } from '../runtime/schemas.ts';
import { anchoredKinds } from './kinds.ts';
import { joinPlace } from './leaves/leaf-places.ts';

export interface AnchorState {
  status: AnchorStatus;
  /** Null until the batch is confirmed. */
  anchor: {
    chainId: number;
    transactionHash: `0x${string}`;
    blockNumber: number;
    /** The time of the block. */
    anchoredAt: Date;
  } | null;
}

/** SQL expressions that identify the leaf of a row. */
export interface LeafKey {
  workspace: string;
  kind: string;
  subject: string;
  version: string;
}

/** For a row of the kind's own table, or of a table that has the subject's id in another column. */
export function leafKey(kind: Kind, alias: string, columns: { subject?: string } = {}): LeafKey {
  const { rows } = anchoredKinds[kind];
  if (rows === null) throw new Error(`leaves of ${kind} are of no row`);
  const { subject, version } = { ...rows, ...columns };
  return {
    workspace: `${alias}.workspace_id`,
    kind: `'${kind}'`,
    subject: `${alias}.${subject}`,
    version: version === null ? '1' : `${alias}.${version}`,
  };
}

/** A condition in SQL: leaf `l` belongs to the row. */
export function isLeaf({ workspace, kind, subject, version }: LeafKey): string {
  return `l.workspace_id = ${workspace} and l.subject_id = ${subject} and l.kind = ${kind} and l.version = ${version}`;
}

/** Joins leaf `l` with its batch `b` and the chain `c`; a pending leaf has no batch. */
export const joinBatch = `${joinPlace}
  left join anchor_batches b on b.id = placed.batch_id
  left join chain c on c.singleton`;

/** Joins each row with its leaf `l`, and that as above. */
export function joinAnchor(key: LeafKey): string {
  return `
  left join anchor_leaves l on ${isLeaf(key)} ${joinBatch}`;
}

/** Columns of a select with these joins. */
export const anchorColumns = 'b.status, c.chain_id, b.transaction_hash, b.block_number, b.block_time';

/** All null while the leaf is pending. */
export interface AnchorColumns {
  status: string | null;
  chain_id: number | null;
  transaction_hash: Buffer | null;
  block_number: number | null;
  block_time: number | null;
}

/** A batch that was set aside counts as batched until an operator has dealt with it. */
export function statusOf(batchStatus: string | null): AnchorStatus {
  if (batchStatus === null) return 'pending';
  const status = anchorStatuses.find((status) => status === batchStatus);
  return status ?? 'batched';
}

/** The batch statuses that correspond to this status of a leaf; a pending leaf has no batch. */
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

/** A condition on leaf `l` and its batch `b`, which is null while the leaf is pending. */
export function hasStatus(status: AnchorStatus): RawBuilder<unknown> {
  return status === 'pending' ? sql`b.id is null` : sql`b.status = any(${batchStatuses(status)})`;
}

/** The JSON form in responses and dossiers. */
export function anchorToJson({ status, anchor }: AnchorState) {
  return { status, anchor: anchor && { ...anchor, anchoredAt: anchor.anchoredAt.toISOString() } };
}

/** The schema of `status` and `anchor` in responses. */
export const anchorFields = {
  status: like(Type.Unsafe<AnchorStatus>(Type.String({ enum: [...anchorStatuses] })), 'finalized'),
  anchor: orNull(
    Type.Object(
      {
        chainId: Type.Integer({ examples: [sample.chainId] }),
        transactionHash: text(sample.transactionHash),
        blockNumber: Type.Integer({ examples: [sample.blockNumber] }),
        anchoredAt: like(dateTime, sample.anchoredAt),
      },
      { description: 'Null until it is confirmed' },
    ),
  ),
};

/** The schema with the example of a thing that was just accepted. */
export function notAnchoredYet<T extends TSchema>(schema: T, rest: object = {}): T {
  return like(schema, { ...rest, status: 'pending', anchor: null });
}
