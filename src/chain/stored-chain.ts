/** The one chain of this installation, stored when a node first leads, so that it is never silently exchanged. */
import type { Address, Hex } from 'viem';
import { fromBytea, toBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import type { Term } from '../db/leadership.ts';
import { checksummed } from '../runtime/address.ts';
import { OperatorError } from '../runtime/errors.ts';

export interface StoredChain {
  chainId: number;
  genesisHash: Hex;
  embedded: boolean;
  registry: Address;
  submitter: Address;
}

/** Null before the first lead. */
export async function findStoredChain(db: Db): Promise<StoredChain | null> {
  const row = await db
    .selectFrom('chain')
    .select(['chain_id', 'genesis_hash', 'embedded', 'registry', 'submitter'])
    .executeTakeFirst();
  if (!row) return null;
  return {
    chainId: row.chain_id,
    genesisHash: fromBytea(row.genesis_hash),
    embedded: row.embedded,
    registry: checksummed(fromBytea(row.registry)),
    submitter: checksummed(fromBytea(row.submitter)),
  };
}

/** Inserts the row when a node first leads; afterwards requires that the chain is the stored one. */
export async function requireStored(term: Term, chain: StoredChain): Promise<void> {
  const stored = await term.commit(async (db) => {
    await db
      .insertInto('chain')
      .values({
        chain_id: chain.chainId,
        genesis_hash: toBytea(chain.genesisHash),
        embedded: chain.embedded,
        registry: toBytea(chain.registry),
        submitter: toBytea(chain.submitter),
      })
      .onConflict((conflict) => conflict.column('singleton').doNothing())
      .execute();
    return findStoredChain(db);
  });
  if (stored) requireSame(stored, chain);
}

/** Compares what is known of the configured chain with the stored one; throws before anything is written. */
export function requireSame(stored: StoredChain, chain: Partial<StoredChain>): void {
  const differences = [
    stored.embedded !== (chain.embedded ?? stored.embedded) &&
      (stored.embedded ? 'embedded' : 'not embedded'),
    stored.chainId !== (chain.chainId ?? stored.chainId) && `chain id ${stored.chainId}`,
    isOther(stored.genesisHash, chain.genesisHash) && `genesis ${stored.genesisHash}`,
    isOther(stored.registry, chain.registry) && `registry ${stored.registry}`,
    isOther(stored.submitter, chain.submitter) && `submitter ${stored.submitter}`,
  ].filter((difference) => difference !== false);
  if (differences.length === 0) return;
  throw new OperatorError(
    `This database belongs to a different chain than the settings (it has: ${differences.join(', ')}). ` +
      'Everything anchored so far is on that chain. Nothing was changed: set HOLDFAST_CHAIN_RPC_URLS and ' +
      'HOLDFAST_REGISTRY_ADDRESS as before, or use an empty database for the other chain.',
  );
}

function isOther(stored: string, given: string | undefined): boolean {
  return given !== undefined && given.toLowerCase() !== stored.toLowerCase();
}
