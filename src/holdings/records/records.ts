/** Records: a vault's JSON data in versions, each hashed with a salt and anchored. */
import type { Pool } from 'pg';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Archive } from '../../anchoring/archive/archive.ts';
import { findArchivedBefore } from '../../anchoring/archive/archived-rows.ts';
import type { ProofRequest } from '../../anchoring/proofs.ts';
import type { Db } from '../../db/database.ts';
import { type CommitTogether, type PackedRows, packRows, type Write } from '../../db/writes.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import type { Caller } from '../../runtime/caller.ts';
import { explainRefusedSeal, vaultDeactivated } from '../vaults/refused-seal.ts';
import type { OwningVault } from '../vaults/vaults.store.ts';
import type { Vaults } from '../vaults/vaults.ts';
import { firstVersion, recordContent } from './record-content.ts';
import { listRecords, type RecordPage, type RecordQuery } from './record-list.ts';
import { createVersionAdder, noRecord, noRecordVersion } from './record-versions.ts';
import {
  findCreated,
  findRecord,
  findVersions,
  type RecordVersion,
  type WholeRecord,
} from './records.store.ts';

export interface Records {
  /** `canonicalData`: the RFC 8785 form of the data, if it is known already. `also`: rows to commit with the record. */
  create(
    caller: Caller,
    input: NewRecord & InVault & { canonicalData?: string | undefined },
    also: (record: RecordVersion) => Write[],
  ): Promise<RecordVersion>;
  /** Creates all of them or none. */
  createBatch(caller: Caller, input: NewBatch, also: (records: RecordVersion[]) => Write[]): Promise<void>;
  /** The first versions with these ids as `create` returned and `createBatch` passed them. */
  created(workspaceId: string, ids: string[]): Promise<RecordVersion[]>;
  addVersion(
    caller: Caller,
    input: { id: string; data: unknown },
    also: (record: RecordVersion) => Write[],
  ): Promise<RecordVersion>;
  list(workspaceId: string, query: Omit<RecordQuery, 'vaultId'> & Partial<InVault>): Promise<RecordPage>;
  /** Records from before this time may be in no list; null: all are. */
  archivedBefore(workspaceId: string): Promise<Date | null>;
  /** Default: the newest version. */
  get(workspaceId: string, id: string, version?: number): Promise<WholeRecord>;
  /** Newest first. */
  versions(
    workspaceId: string,
    id: string,
    page: { before: number | undefined; limit: number },
  ): Promise<RecordVersion[]>;
  proof(workspaceId: string, id: string, version?: number): Promise<Proof>;
}

export interface NewRecord {
  data: unknown;
  /** Empty or absent: none. */
  externalId?: string;
}

export interface InVault {
  vaultAddress: string;
}

type NewBatch = { records: NewRecord[] } & InVault;

interface Made {
  writes: Write[];
  packed?: PackedRows;
}

export interface RecordsDeps {
  db: Db;
  pool: Pool;
  commit: CommitTogether;
  vaults: Pick<Vaults, 'get' | 'getOwner' | 'forgetOwner'>;
  archive: Archive;
  /** Throws when the version is not confirmed yet. */
  makeProof(of: ProofRequest): Promise<Proof>;
}

export function createRecords({ db, pool, commit, vaults, archive, makeProof }: RecordsDeps): Records {
  const addVersion = createVersionAdder(db, archive);

  async function activeVault(workspaceId: string, address: string): Promise<OwningVault> {
    const vault = await vaults.getOwner(workspaceId, address);
    if (vault.status !== 'active') throw vaultDeactivated(vault.address);
    return vault;
  }

  /** A refusal shows that what is known of the vault is out of date. */
  async function commitIn({ address }: OwningVault, workspaceId: string, made: Made): Promise<void> {
    try {
      await commit(made.writes, made.packed);
    } catch (error) {
      vaults.forgetOwner(workspaceId, address);
      explainRefusedSeal(error);
    }
  }

  /** Apart from the commit, so that only what is sent is kept while that waits. */
  async function newBatch(
    caller: Caller,
    { vaultAddress, records }: NewBatch,
    also: (records: RecordVersion[]) => Write[],
  ): Promise<Made & { vault: OwningVault }> {
    const { workspaceId } = caller;
    const contents = records.map(({ data }, place) => recordContent(data, `records[${place}].data`));
    const vault = await activeVault(workspaceId, vaultAddress);
    const made = contents.map((content, place) =>
      firstVersion({ workspaceId, vault, externalId: records[place]?.externalId ?? '', content }),
    );
    const versions = made.map(({ record }) => record);
    // The ids of a batch are made in sequence, so the first and the last identify all of them.
    const details = { count: made.length, first: versions.at(0)?.id, last: versions.at(-1)?.id };
    const entry = auditWrite(caller, { action: 'record.create_batch', targetId: vault.id, details });
    const rows = made.map(({ write }) => write.row);
    return { vault, writes: [entry, ...also(versions)], packed: packRows('anchor_leaves', rows) };
  }

  async function get(workspaceId: string, id: string, version?: number): Promise<WholeRecord> {
    const found = await findRecord({ pool, archive }, { workspaceId, id }, version);
    if (found) return found;
    if (version === undefined) throw noRecord(id);
    throw noRecordVersion(id, version);
  }

  return {
    async create(caller, { vaultAddress, data, canonicalData, externalId = '' }, also) {
      const { workspaceId } = caller;
      const content = recordContent(data, 'data', canonicalData);
      const vault = await activeVault(workspaceId, vaultAddress);
      const { record, write } = firstVersion({ workspaceId, vault, externalId, content });
      const entry = { action: 'record.create', targetId: record.id, details: { vaultId: vault.id } } as const;
      await commitIn(vault, workspaceId, { writes: [write, auditWrite(caller, entry), ...also(record)] });
      return record;
    },

    async createBatch(caller, batch, also) {
      const { vault, ...made } = await newBatch(caller, batch, also);
      await commitIn(vault, caller.workspaceId, made);
    },

    async created(workspaceId, ids) {
      const found = await findCreated(pool, { workspaceId, ids });
      if (found.length === ids.length) return found;
      await db.transaction().execute((db) => archive.bringBack(db, workspaceId, ids));
      return findCreated(pool, { workspaceId, ids });
    },

    addVersion: (caller, { id, data }, also) =>
      addVersion({ caller, id, content: recordContent(data, 'data'), also }),

    async list(workspaceId, { vaultAddress, ...query }) {
      const vault = vaultAddress === undefined ? null : await vaults.get(workspaceId, vaultAddress);
      return listRecords(db, workspaceId, { ...query, vaultId: vault?.id });
    },

    archivedBefore: (workspaceId) => findArchivedBefore(db, workspaceId),

    get,

    async versions(workspaceId, id, page) {
      const found = await findVersions({ pool, archive }, { workspaceId, id }, page);
      if (found.length === 0 && page.before === undefined) throw noRecord(id);
      return found;
    },

    async proof(workspaceId, id, version) {
      const { record, content } = await get(workspaceId, id, version);
      return makeProof({
        workspaceId,
        kind: 'record',
        subjectId: id,
        version: record.version,
        content: {
          algorithm: 'sha-256',
          digest: record.dataHash,
          canonicalization: 'jcs',
          salt: content && `0x${content.salt.toString('hex')}`,
        },
      });
    },
  };
}
