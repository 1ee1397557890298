/** What the checks of all anchored things share: each row has a leaf with the row's digest and vault. */
import { type RawBuilder, sql } from 'kysely';
import type { Kind } from '../proof/kinds.ts';
import { isLeaf, type LeafKey, leafKey } from './anchored.ts';
import { isArchived } from './archive/archived-rows.ts';
import { type AnchoredKind, anchoredKinds } from './kinds.ts';

/** Columns of a select with `joinLeaf`. */
export interface LeafColumns {
  leaf_digest: Buffer | null;
  leaf_vault: string | null;
}

export const leafColumns = sql.raw('leaf.digest as leaf_digest, leaf.vault_id as leaf_vault');

/** Joins each row with its leaf, as `leaf`. */
export function joinLeaf(kind: Kind, alias: string): RawBuilder<unknown> {
  return sql`
      left join lateral (
        select l.* from anchor_leaves l where ${sql.raw(isLeaf(leafKey(kind, alias)))} limit 1
      ) as leaf on true`;
}

/** Calls `find` for each fault in the leaf of a row. */
export function judgeLeaf(
  kind: Kind,
  { leaf_digest, leaf_vault }: LeafColumns,
  row: { digest: Buffer; vaultId: string },
  find: (rule: string, what: string) => void,
): void {
  if (leaf_digest === null || leaf_vault === null) {
    find(`${kind}_without_leaf`, 'has no leaf: it will never be anchored');
  } else if (!leaf_digest.equals(row.digest) || leaf_vault !== row.vaultId) {
    find(`${kind}_leaf_differs`, 'has a leaf with a different hash or vault');
  }
}

/** A kind of anchored thing and the event that announces its confirmation. */
export interface Announced {
  /** The name of a thing in messages and rules: leaf_without_THING, THING_unannounced. */
  thing: string;
  /** The type of the event, and the member of its data with the thing's id. Null: the kind has no event. */
  event: { type: string; idMember: string } | null;
  /** Whether leaf `l` is of this kind. */
  isOne: RawBuilder<unknown>;
  /** Whether the row that leaf `l` belongs to is stored. */
  isStored: RawBuilder<unknown>;
  /** A select of the ids of the leaves that `told` (workspace_id, subject_id and the event's data) may mean. */
  leaves: RawBuilder<unknown>;
}

/** All kinds except transfers, which files and assets announce themselves. */
export function announcedKinds(): Announced[] {
  return (Object.entries(anchoredKinds) as [Kind, AnchoredKind][]).flatMap(([kind, { rows, confirmed }]) => {
    if (rows === null || kind === 'transfer') return [];
    const told: LeafKey = {
      workspace: 'told.workspace_id',
      kind: `'${kind}'`,
      subject: 'told.subject_id',
      version: rows.version === null ? '1' : "(told.data ->> 'version')::integer",
    };
    return {
      thing: kind,
      event: confirmed && { type: confirmed.type, idMember: confirmed.subject },
      isOne: sql.raw(`l.kind = '${kind}'`),
      isStored: sql.raw(`exists (select 1 from ${rows.table} t where ${isLeaf(leafKey(kind, 't'))})`),
      // An archived record has its leaves in a file: 0 stands for any of them.
      leaves: sql.raw(
        `(select l.id from anchor_leaves l where ${isLeaf(told)} limit 1)${
          kind === 'record'
            ? ` union all select 0 where ${isArchived('told.workspace_id', 'told.subject_id')}`
            : ''
        }`,
      ),
    };
  });
}
