/** Checks that every vault, and every worker whose key the service holds, has a sealed key that matches its address. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { isDatabaseAway } from '../db/faults.ts';
import { rowsPass } from '../db/rows-pass.ts';
import { writtenIds } from '../db/written-since.ts';
import type { Check, Finding, Pass } from '../runtime/check.ts';
import type { Keyring } from './keyring.ts';

export interface SigningKeysCheckDeps {
  db: Db;
  /** Throws if the master key is unavailable: the keys cannot be checked then. */
  keyring(): Promise<Pick<Keyring, 'signer'>>;
}

interface Owner {
  workspace_id: string;
  id: string;
  address: string;
  sealed: boolean;
}

export function signingKeysCheck({ db, keyring }: SigningKeysCheckDeps): Check {
  const passOver = (table: 'vaults' | 'workers'): Pass =>
    rowsPass<Owner>({
      db,
      what: `keys of ${table}`,
      table,
      written: [writtenIds(db, table, table === 'vaults' ? 'vlt' : 'wrk')],
      key: [
        { column: 'o.workspace_id', member: 'workspace_id' },
        { column: 'o.id', member: 'id' },
      ],
      pageRows: 200,
      read: ({ where, end }) => sql<Owner>`
        select o.workspace_id, o.id, o.address, exists (
          select 1 from secrets s where s.workspace_id = o.workspace_id and s.purpose = 'signing-key' and s.id = o.id
        ) as sealed
        from ${sql.table(table)} o
        where ${where} ${table === 'workers' ? sql`and o.key_holder = 'service'` : sql``} ${end}`,
      async judge(owners) {
        const findings: Finding[] = owners.filter(({ sealed }) => !sealed).map(missing);
        const sealed = owners.filter(({ sealed }) => sealed);
        if (sealed.length === 0) return findings;
        const { signer } = await keyring();
        for (const owner of sealed) findings.push(...(await unusable(owner, signer)));
        return findings;
      },
    });
  return { name: 'keys', passes: [passOver('vaults'), passOver('workers')] };
}

function missing({ workspace_id: workspace, id, address }: Owner): Finding {
  return {
    rule: 'key_missing',
    ids: { workspace, id, address },
    message: `${id} (${address}) has no private key in the database.`,
    advice: 'It can no longer sign: restore its row in the table secrets from a backup.',
  };
}

async function unusable(
  { workspace_id: workspaceId, id, address }: Owner,
  signer: Keyring['signer'],
): Promise<Finding[]> {
  try {
    await signer({ workspaceId, id, address });
    return [];
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    return [
      {
        rule: 'key_unusable',
        ids: { workspace: workspaceId, id, address },
        message: `The private key of ${id} cannot be opened, or does not match its address ${address}: ${(error as Error).message}.`,
        advice: 'Its row in the table secrets, or its address, was changed: restore it from a backup.',
      },
    ];
  }
}
