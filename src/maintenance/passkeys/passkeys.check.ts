/**
 * Checks what was anchored about the passkeys of workers: hashes, leaves, that each statement follows the one before, and that
 * the passkeys in use are those that statements registered.
 */
import { sql } from 'kysely';
import { joinLeaf, judgeLeaf, type LeafColumns, leafColumns } from '../../anchoring/anchored.check.ts';
import { isLeaf, leafKey } from '../../anchoring/anchored.ts';
import { firstLeaf } from '../../anchoring/batching/pending.ts';
import { writtenLeaves } from '../../anchoring/leaves/written-leaves.check.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { writtenIds } from '../../db/written-since.ts';
import { recordDigest } from '../../proof/content.ts';
import {
  isPasskeyFormat,
  type PasskeyDocument,
  type PasskeyRegistration,
  registrationFormat,
  revocationFormat,
  statementFault,
} from '../../proof/signoff/passkey-document.ts';
import type { Check, Finding, Pass } from '../../runtime/check.ts';

export function passkeysCheck(db: Db): Check {
  return { name: 'passkeys', passes: [statementsPass(db), passkeysPass(db)] };
}

interface StatementRow extends LeafColumns {
  workspace_id: string;
  worker_id: string;
  number: number;
  vault_id: string;
  document: string;
  salt: Buffer;
  hash: Buffer;
  has_previous: boolean;
  leaf_previous: Buffer | null;
  previous_leaf: Buffer | null;
  vault_address: string | null;
  /** The hashes of the earlier statements in hex, by their number. */
  earlier: Record<string, string> | null;
}

function statementsPass(db: Db): Pass {
  return rowsPass<StatementRow>({
    db,
    what: 'statements about passkeys',
    table: 'passkey_statements',
    written: [writtenLeaves(db, ['passkey'])],
    key: [
      { column: 's.workspace_id', member: 'workspace_id' },
      { column: 's.worker_id', member: 'worker_id' },
      { column: 's.number', member: 'number' },
    ],
    read: ({ where, end }) => sql<StatementRow>`
      select s.workspace_id, s.worker_id, s.number, s.vault_id, s.document, s.salt, s.hash,
             p.number is not null as has_previous, leaf.previous_leaf as leaf_previous, l.leaf as previous_leaf,
             v.address as vault_address, r.earlier, ${leafColumns}
      from passkey_statements s
      left join lateral (
        select p.workspace_id, p.worker_id, p.number from passkey_statements p
        where p.workspace_id = s.workspace_id and p.worker_id = s.worker_id and p.number = s.number - 1 limit 1
      ) as p on true
      left join lateral (
        select v.address from vaults v where v.workspace_id = s.workspace_id and v.id = s.vault_id limit 1
      ) as v on true
      left join lateral (
        select json_object_agg(r.number, encode(r.hash, 'hex')) as earlier from passkey_statements r
        where r.workspace_id = s.workspace_id and r.worker_id = s.worker_id and r.number < s.number
      ) as r on true
      left join anchor_leaves l on ${sql.raw(isLeaf(leafKey('passkey', 'p')))} ${joinLeaf('passkey', 's')}
      where ${where} ${end}`,
    async judge(rows) {
      const findings: Finding[] = [];
      for (const row of rows) findings.push(...(await judgeStatement(row)));
      return findings;
    },
  });
}

const restore = 'The row was changed in the database: restore it from a backup.';

async function judgeStatement(row: StatementRow): Promise<Finding[]> {
  const { workspace_id: workspace, worker_id: worker, number } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, worker, number: String(number) },
      message: `The statement ${number} about passkeys of ${worker} ${what}.`,
      advice: restore,
    });
  if (digestOf(row.salt, row.document) !== fromBytea(row.hash)) {
    find('passkey_statement_changed', 'has a document that does not match its hash');
  } else {
    const said = JSON.parse(row.document) as PasskeyDocument;
    if (said.workspaceId !== workspace || said.workerId !== worker || said.number !== number) {
      find('passkey_statement_misplaced', 'is about another worker, or has another number');
    }
    const fault = await signatureFault(said, row);
    if (fault !== null) find('passkey_statement_invalid', `does not verify: ${fault}`);
  }
  judgeLeaf('passkey', row, { digest: row.hash, vaultId: row.vault_id }, find);
  if (number > 1 && !row.has_previous) {
    find('passkey_statement_gap', `follows number ${number - 1}, which does not exist`);
    return findings;
  }
  const previous = number === 1 ? firstLeaf : row.previous_leaf;
  if (row.leaf_previous !== null && previous !== null && !row.leaf_previous.equals(previous)) {
    find('passkey_statement_unchained', 'follows another statement than the one before');
  }
  return findings;
}

/** Whether an earlier registration was revoked by then is what the dossier's check judges, which reads all of them. */
async function signatureFault(
  said: PasskeyDocument,
  { vault_address, earlier }: StatementRow,
): Promise<string | null> {
  if (!isPasskeyFormat(said)) return 'its format is not known';
  if (said.vault !== vault_address?.toLowerCase()) return 'it names another vault than the one that seals it';
  const fault = await statementFault(said);
  if (fault !== null || said.format !== registrationFormat) return fault;
  const { signedWith } = said as PasskeyRegistration;
  if (signedWith.method !== 'passkey') return null;
  const { number, hash } = signedWith.registration;
  const isRegistered = earlier !== null && `0x${earlier[number]}` === hash;
  return isRegistered ? null : 'it is signed by a passkey that no earlier statement registered';
}

interface PasskeyRow {
  workspace_id: string;
  id: string;
  state: 'unconfirmed' | 'active' | 'refused' | 'revoked';
  credential_id: Buffer;
  public_key: Buffer;
  rp_id: string;
  hash: Buffer | null;
  registered_hash: Buffer | null;
  registration: string | null;
  is_revoked: boolean;
}

function passkeysPass(db: Db): Pass {
  return rowsPass<PasskeyRow>({
    db,
    what: 'passkeys',
    table: 'worker_passkeys',
    written: [writtenIds(db, 'worker_passkeys', 'psk')],
    key: [
      { column: 'k.workspace_id', member: 'workspace_id' },
      { column: 'k.id', member: 'id' },
    ],
    read: ({ where, end }) => sql<PasskeyRow>`
      select k.workspace_id, k.id, k.state, k.credential_id, k.public_key, k.rp_id, k.hash,
             s.hash as registered_hash, s.document as registration,
             exists (
               select 1 from passkey_statements r
               where r.workspace_id = k.workspace_id and r.worker_id = k.worker_id and r.passkey_id = k.id
                 and position(${`"format":"${revocationFormat}"`}::text in r.document) > 0
             ) as is_revoked
      from worker_passkeys k
      left join lateral (
        select s.hash, s.document from passkey_statements s
        where s.workspace_id = k.workspace_id and s.worker_id = k.worker_id and s.number = k.number limit 1
      ) as s on true
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgePasskey),
  });
}

function judgePasskey(row: PasskeyRow): Finding[] {
  const { workspace_id: workspace, id: passkey, state } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, passkey },
      message: `The passkey ${passkey} ${what}.`,
      advice: restore,
    });
  if (row.is_revoked !== (state === 'revoked')) {
    find('passkey_state', `is ${state}, and the statements about it say something else`);
  }
  if (state !== 'active' && state !== 'revoked') return findings;
  if (row.hash === null || row.registered_hash === null || !row.registered_hash.equals(row.hash)) {
    find('passkey_unregistered', `is ${state}, and no statement registered it`);
  } else if (!isOf(row)) {
    find('passkey_changed', 'is not the one that its statement registered');
  }
  return findings;
}

/** A changed document is reported with its statement. */
function isOf({ registration, credential_id, public_key, rp_id }: PasskeyRow): boolean {
  const said = parsed(registration ?? 'null');
  return (
    said?.format === registrationFormat &&
    said.credentialId === fromBytea(credential_id) &&
    said.publicKey === fromBytea(public_key) &&
    said.rpId === rp_id
  );
}

/** Null for text that is not JSON. */
function digestOf(salt: Buffer, document: string): string | null {
  try {
    return recordDigest(salt, JSON.parse(document));
  } catch {
    return null;
  }
}

function parsed(document: string): PasskeyDocument | null {
  try {
    return JSON.parse(document) as PasskeyDocument | null;
  } catch {
    return null;
  }
}
