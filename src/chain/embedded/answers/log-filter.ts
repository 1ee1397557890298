/** Reads the filter that eth_getLogs is given, and applies it to a log. */
import type { Hex } from 'viem';
import type { StoredLog } from '../engine/protocol.ts';
import { invalid } from './faults.ts';
import { type BlockName, readBlockNumber } from './named-blocks.ts';
import { isAbsent, readAddress, readFields, readHash, readList } from './parameters.ts';

const mostEntries = 1_000;
const mostTopics = 4;

export interface LogFilter {
  blocks: { hash: Hex } | { from: BlockName; to: BlockName };
  /** Null: any address. */
  addresses: Set<Hex> | null;
  /** One of these at each place; null: anything. A log needs as many topics as there are places. */
  topics: (Set<Hex> | null)[];
}

export function readLogFilter(value: unknown): LogFilter {
  const fields = readFields(value, 'the filter');
  return {
    blocks: readBlocks(fields),
    addresses: readAddresses(fields.get('address')),
    topics: readTopics(fields.get('topics')),
  };
}

function readBlocks(fields: Map<string, unknown>): LogFilter['blocks'] {
  const [hash, from, to] = ['blockHash', 'fromBlock', 'toBlock'].map((name) => fields.get(name));
  if (isAbsent(hash)) {
    return { from: readBlockNumber(from, 'fromBlock'), to: readBlockNumber(to, 'toBlock') };
  }
  if (!isAbsent(from) || !isAbsent(to)) {
    throw invalid('a filter has either blockHash, or fromBlock and toBlock');
  }
  return { hash: readHash(hash, 'blockHash') };
}

function readAddresses(value: unknown): LogFilter['addresses'] {
  if (isAbsent(value)) return null;
  const all = Array.isArray(value) ? readList(value, 'address', mostEntries) : [value];
  return all.length === 0 ? null : new Set(all.map((one) => readAddress(one, 'address')));
}

function readTopics(value: unknown): LogFilter['topics'] {
  if (isAbsent(value)) return [];
  const places = readList(value, 'topics', mostTopics);
  return places.map((place) => {
    if (isAbsent(place)) return null;
    const choices = Array.isArray(place) ? readList(place, 'topics', mostEntries) : [place];
    // An empty list, and null in a list, stand for anything.
    if (choices.length === 0 || choices.some(isAbsent)) return null;
    return new Set(choices.map((one) => readHash(one, 'a topic')));
  });
}

export function matches({ address, topics }: StoredLog, filter: LogFilter): boolean {
  if (filter.addresses && !filter.addresses.has(address)) return false;
  if (filter.topics.length > topics.length) return false;
  return filter.topics.every((choices, place) => !choices || choices.has(topics[place] ?? '0x'));
}
