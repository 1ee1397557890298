/**
 * Turns a selection into a sealed batch: opens the keys, has the thread build and sign, and leaves out vaults that cannot
 * seal.
 */
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { fromBytea, toBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { Keyring, OpenedKeys } from '../../keys/keyring.ts';
import { zeroHash } from '../../proof/hex.ts';
import type { LoopLog } from '../../runtime/loop.ts';
import { type EvidenceItem, evidenceLeaves } from '../evidence/head-evidence.ts';
import type { BatchThread } from './batch-thread.ts';
import type { NewBatch } from './batches.store.ts';
import { type Groups, groupByVault, type SelectedVault, type Selection } from './pending-selection.ts';
import { nextSequence } from './seal-epoch.ts';

export interface SealingDeps {
  db: Db;
  keyring: Pick<Keyring, 'signingKeys'>;
  thread: Pick<BatchThread, 'build'>;
  log: Pick<LoopLog, 'error'>;
}

export interface Sealing {
  /** Null when no vault of the selection can seal. */
  seal(selection: Selection, evidence: EvidenceItem[]): Promise<Omit<NewBatch, 'outgoingId'> | null>;
  /** A batch without leaves, which no vault seals. */
  headAlone(evidence: EvidenceItem[]): Promise<Omit<NewBatch, 'outgoingId'> | null>;
  /** Ids of vaults that failed to seal recently: their leaves must not fill the selections of other vaults. */
  shunned(): string[];
}

interface SealingVault extends SelectedVault {
  /** Lower case. */
  address: string;
  sequence: bigint;
  previousSeal: Hex;
}

/** The result of one attempt: the batch, or the vaults to leave out of the next attempt. */
type Outcome = { batch: Omit<NewBatch, 'outgoingId'> } | { faults: Map<string, string> };

/** Vaults per statement; other work gets its turn between statements. */
const vaultsAtOnce = 500;

/** How long a vault that cannot seal is left out, and how often its fault is logged. */
const shunnedMs = 60_000;

export function createSealing({ db, keyring, thread, log }: SealingDeps): Sealing {
  const shunnedUntil = new Map<string, number>();

  async function attempt(groups: Groups, evidence: EvidenceItem[]): Promise<Outcome> {
    const { vaults, faults } = await findVaults(
      db,
      groups.vaults.map(({ vault }) => vault),
    );
    if (faults.size > 0) return { faults };
    const opened = await openKeys(vaults);
    if (opened.faults.size > 0) {
      opened.keys.fill(0);
      return { faults: byVault(vaults, opened.faults) };
    }
    const built = await thread.build({
      vaults: vaults.map(({ address, sequence, previousSeal }, place) => ({
        address,
        sequence,
        previousSeal,
        leaves: groups.vaults[place]?.leaves ?? 0,
      })),
      // A copy, because the thread takes ownership of the buffer.
      leaves: new Uint8Array(groups.leaves),
      privateKeys: opened.keys,
      evidence: evidenceLeaves(evidence),
    });
    if (!('root' in built)) {
      const unfit = built.unfit.map((place): [number, Error] => [
        place,
        new Error('its key belongs to another address'),
      ]);
      return { faults: byVault(vaults, new Map(unfit)) };
    }
    const { root, roots, signatures, sealIds, upperPaths, upperLengths, evidenceRoot, headPath } = built;
    let leavesAt = 0;
    let pathAt = 0;
    const subtrees = vaults.map(({ workspaceId, id, sequence, previousSeal }, place) => {
      const leaves = 32 * (groups.vaults[place]?.leaves ?? 0);
      const path = 32 * (upperLengths[place] ?? 0);
      leavesAt += leaves;
      pathAt += path;
      return {
        workspaceId,
        vaultId: id,
        sequence,
        previousSeal: toBytea(previousSeal),
        sealId: view(sealIds, 32 * place, 32),
        root: view(roots, 32 * place, 32),
        leaves: view(groups.leaves, leavesAt - leaves, leaves),
        signature: view(signatures, 65 * place, 65),
        upperPath: view(upperPaths, pathAt - path, path),
      };
    });
    return {
      batch: {
        root: view(root, 0, 32),
        ids: groups.ids,
        subtrees,
        evidence,
        evidenceRoot: view(evidenceRoot, 0, 32),
        headPath: view(headPath, 0, headPath.length),
      },
    };
  }

  async function openKeys(vaults: SealingVault[]): Promise<OpenedKeys> {
    const all: OpenedKeys = { keys: new Uint8Array(32 * vaults.length), faults: new Map() };
    for (let at = 0; at < vaults.length; at += vaultsAtOnce) {
      const { keys, faults } = await keyring.signingKeys(vaults.slice(at, at + vaultsAtOnce));
      all.keys.set(keys, 32 * at);
      keys.fill(0);
      for (const [place, fault] of faults) all.faults.set(at + place, fault);
    }
    return all;
  }

  return {
    async seal(selection, evidence) {
      const without = new Set<number>();
      for (;;) {
        const groups = await groupByVault(selection, without);
        if (groups.ids.length === 0) return null;
        const outcome = await attempt(groups, evidence);
        if ('batch' in outcome) return outcome.batch;
        for (const [id, reason] of outcome.faults) {
          log.error({ vault: id, reason }, 'vault cannot seal; its leaves stay pending');
          shunnedUntil.set(id, performance.now() + shunnedMs);
          without.add(selection.vaults.findIndex((vault) => vault.id === id));
        }
      }
    },
    async headAlone(evidence) {
      const outcome = await attempt({ vaults: [], leaves: Buffer.alloc(0), ids: [] }, evidence);
      return 'batch' in outcome ? outcome.batch : null;
    },
    shunned() {
      for (const [id, until] of shunnedUntil) if (until < performance.now()) shunnedUntil.delete(id);
      return [...shunnedUntil.keys()];
    },
  };
}

async function findVaults(
  db: Db,
  wanted: SelectedVault[],
): Promise<{ vaults: SealingVault[]; faults: Map<string, string> }> {
  const rows: VaultRow[] = [];
  for (let at = 0; at < wanted.length; at += vaultsAtOnce) {
    rows.push(...(await readVaults(db, wanted.slice(at, at + vaultsAtOnce))));
  }
  const faults = new Map<string, string>();
  const addresses = new Set<string>();
  const vaults = wanted.map((vault, place) => {
    const address = rows[place]?.address?.toLowerCase() ?? '';
    if (address === '') faults.set(vault.id, 'there is no such vault');
    // A batch may contain each address only once.
    else if (addresses.has(address)) faults.set(vault.id, 'another vault has its address');
    addresses.add(address);
    const { epoch = 0, start = 0, last = null, last_id = null } = rows[place] ?? {};
    return {
      ...{ ...vault, address, sequence: nextSequence({ epoch, start }, last) },
      previousSeal: last_id === null ? zeroHash : fromBytea(last_id),
    };
  });
  return { vaults, faults };
}

interface VaultRow {
  address: string | null;
  epoch: number;
  start: number;
  /** Number and id of the vault's last seal. */
  last: string | null;
  last_id: Buffer | null;
}

/** Only the leader writes sequence numbers, and the schema refuses duplicates. */
async function readVaults(db: Db, wanted: SelectedVault[]): Promise<VaultRow[]> {
  const { rows } = await sql<VaultRow>`
    select v.address, (select epoch from seal_epoch) as epoch, (select start from seal_epoch) as start,
      s.sequence as last, s.seal_id as last_id
    from unnest(${wanted.map(({ workspaceId }) => workspaceId)}::text[], ${wanted.map(({ id }) => id)}::text[])
      with ordinality as wanted (workspace_id, id, place)
    left join lateral (
      select address from vaults where workspace_id = wanted.workspace_id and id = wanted.id limit 1
    ) as v on true
    left join lateral (
      select sequence, seal_id from anchor_subtrees where vault_id = wanted.id order by sequence desc limit 1
    ) as s on true
    order by wanted.place`.execute(db);
  return rows;
}

function byVault(vaults: SelectedVault[], faults: Map<number, Error>): Map<string, string> {
  return new Map([...faults].map(([place, { message }]) => [vaults[place]?.id ?? '', message]));
}

function view(bytes: Uint8Array, at: number, length: number): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, length);
}
