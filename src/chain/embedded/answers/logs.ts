/** eth_getLogs: reads the blocks of the range one after the other, within bounds. */
import { keccak256 } from 'viem';
import type { Results, StoredBlock } from '../results/results.store.ts';
import { blocksInPages } from './block-pages.ts';
import { failed, invalid } from './faults.ts';
import { logJson } from './formats/receipt-json.ts';
import { type LogFilter, matches, readLogFilter } from './log-filter.ts';
import { findBlock, headOf, numberOf } from './named-blocks.ts';
import type { Asked, Methods } from './needs.ts';

const mostBlocks = 10_000;
const mostLogs = 10_000;
const mostBytes = 8_000_000;
/** The JSON of a log without its topics and data. */
const usualLogBytes = 500;

export const logMethods: Methods = { eth_getLogs: { most: 1, handle: getLogs } };

async function getLogs({ needs, params }: Asked): Promise<object[]> {
  const filter = readLogFilter(params[0]);
  const found: object[] = [];
  let bytes = 0;
  for await (const block of blocksOf(filter, needs.results)) {
    for (const { json, size } of logsOf(block, filter)) {
      found.push(json);
      bytes += size;
      if (found.length > mostLogs || bytes > mostBytes) {
        throw invalid(
          `more than ${mostLogs} logs or ${mostBytes} bytes: use a smaller range of blocks, or a narrower filter`,
        );
      }
    }
  }
  return found;
}

async function* blocksOf({ blocks }: LogFilter, results: Results): AsyncGenerator<StoredBlock> {
  if ('hash' in blocks) {
    const block = await findBlock(blocks, results);
    if (!block) throw failed('unknown block');
    yield block;
    return;
  }
  const head = await headOf(results);
  const [from, to] = [blocks.from, blocks.to].map((name) => ('hash' in name ? 0 : numberOf(name, head)));
  if (from === undefined || to === undefined || from > to) throw invalid('fromBlock is after toBlock');
  const range = { from, to: Math.min(to, head.number) };
  if (range.to - range.from >= mostBlocks) throw invalid(`a range has at most ${mostBlocks} blocks`);
  yield* blocksInPages(range, results);
}

function* logsOf(block: StoredBlock, filter: LogFilter): Generator<{ json: object; size: number }> {
  let logIndex = 0;
  for (const [index, { logs }] of block.receipts.entries()) {
    const first = logIndex;
    logIndex += logs.length;
    const matching = [...logs.entries()].filter(([, log]) => matches(log, filter));
    if (matching.length === 0) continue;
    const transactionHash = keccak256(block.transactions[index] ?? '0x');
    for (const [place, log] of matching) {
      const json = logJson(log, { block, index, transactionHash, logIndex: first + place });
      yield { json, size: usualLogBytes + log.topics.length * 69 + log.data.length };
    }
  }
}
