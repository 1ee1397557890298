/** Finds the block, or the state after it, that a parameter names. */
import type { Hex } from 'viem';
import { keptStates, type Results, type StoredBlock } from '../results/results.store.ts';
import { failed, invalid, notReady } from './faults.ts';
import { isAbsent, readFields, readHash, readQuantity } from './parameters.ts';

export type BlockName = { number: number } | { hash: Hex } | { tag: Tag };

const tags = ['latest', 'pending', 'safe', 'finalized', 'earliest'] as const;
type Tag = (typeof tags)[number];

/** A block this far below the head is final: the embedded chain has one writer, and never takes a block back. */
const finalDepth = 2;

/** A tag or a number; absent means the newest block. */
export function readBlockNumber(value: unknown, name = 'the block'): BlockName {
  if (isAbsent(value)) return { tag: 'latest' };
  const tag = tags.find((one) => one === value);
  if (tag !== undefined) return { tag };
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]+$/.test(value)) {
    throw invalid(`${name} must be a number as hex text, or one of ${tags.join(', ')}`);
  }
  return { number: readQuantity(value, name) };
}

/** Also a hash, by itself or as in EIP-1898. */
export function readBlockName(value: unknown, name = 'the block'): BlockName {
  if (typeof value === 'string' && value.length === 66) return { hash: readHash(value, name) };
  if (typeof value !== 'object' || value === null) return readBlockNumber(value, name);
  const fields = readFields(value, name);
  const [hash, number] = [fields.get('blockHash'), fields.get('blockNumber')];
  if (isAbsent(hash) === isAbsent(number)) throw invalid(`${name} needs either blockHash or blockNumber`);
  return isAbsent(hash) ? readBlockNumber(number, name) : { hash: readHash(hash, name) };
}

/** Throws while there is none, which is so only until block 0 was executed. */
export async function headOf(results: Results): Promise<StoredBlock> {
  const head = await results.head();
  if (!head) throw notReady('the embedded chain has no block yet');
  return head;
}

/** The number, which the chain may not have reached yet. */
export function numberOf(name: { number: number } | { tag: Tag }, head: StoredBlock): number {
  if ('number' in name) return name.number;
  if (name.tag === 'earliest') return 0;
  const isFinal = name.tag === 'safe' || name.tag === 'finalized';
  return isFinal ? Math.max(head.number - finalDepth, 0) : head.number;
}

export async function findBlock(name: BlockName, results: Results): Promise<StoredBlock | null> {
  if ('hash' in name) return await results.blockByHash(name.hash);
  if ('number' in name) return await results.block(name.number);
  const head = await headOf(results);
  const number = numberOf(name, head);
  return number === head.number ? head : await results.block(number);
}

/** The block whose state is read. */
export async function findState(value: unknown, results: Results): Promise<StoredBlock> {
  const found = await findBlock(readBlockName(value), results);
  if (!found) throw failed('header not found');
  const head = await headOf(results);
  if (found.number <= head.number - keptStates) {
    throw failed(`only the states of the last ${keptStates} blocks are kept, the last one is ${head.number}`);
  }
  return found;
}
