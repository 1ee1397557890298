/** The node itself; see block-node.ts. Answers are made beforehand, so that sending them is all it does. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BlockNode, BlockPlan } from './block-node.ts';
import { answerQuestions } from './child.ts';

type Hex = `0x${string}`;

const chainId = 1_999;

answerQuestions<BlockPlan, Omit<BlockNode, 'pid' | 'stop'>>(async (plan) => {
  const blocks = Array.from({ length: plan.blocks }, (_, number) => Buffer.from(blockText(plan, number)));
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += part));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: [string] };
      const result = method === 'eth_chainId' ? Buffer.from(`"${hex(chainId)}"`) : blocks[Number(params[0])];
      response.setHeader('content-type', 'application/json');
      response.write(`{"jsonrpc":"2.0","id":${id},"result":`);
      response.write(result ?? 'null');
      response.end('}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const last = plan.blocks - 1;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    chainId,
    genesisHash: hashOf('block', 0),
    head: { number: last, hash: hashOf('block', last) },
  };
});

/** With the members that nodes give, so that reading it costs what it costs elsewhere. */
function blockText({ transactionsPerBlock, vaults, every }: BlockPlan, number: number): string {
  const hash = hashOf('block', number);
  const transactions = Array.from({ length: transactionsPerBlock }, (_, index) => {
    const place = number * transactionsPerBlock + index;
    const vault = place % every === 0 ? vaults[(place / every) % vaults.length] : undefined;
    return {
      type: '0x2',
      chainId: hex(chainId),
      nonce: hex(place),
      gas: '0x5208',
      maxFeePerGas: '0x77359400',
      maxPriorityFeePerGas: '0x3b9aca00',
      to: vault?.toLowerCase() ?? hashOf('to', place % 5_000).slice(0, 42),
      value: hex(place * 1_000),
      accessList: [],
      input: `0x${hashOf('input', place).slice(2).repeat(3)}`,
      r: hashOf('r', place),
      s: hashOf('s', place),
      yParity: '0x0',
      v: '0x0',
      hash: hashOf('transaction', place),
      blockHash: hash,
      blockNumber: hex(number),
      transactionIndex: hex(index),
      from: hashOf('from', place % 3_000).slice(0, 42),
      gasPrice: '0x77359400',
    };
  });
  return JSON.stringify({
    number: hex(number),
    hash,
    parentHash: number === 0 ? `0x${'00'.repeat(32)}` : hashOf('block', number - 1),
    timestamp: hex(1_700_000_000 + 12 * number),
    logsBloom: `0x${'00'.repeat(256)}`,
    transactions,
  });
}

function hashOf(kind: string, number: number): Hex {
  return `0x${createHash('sha256').update(`${kind} ${number}`).digest('hex')}`;
}

function hex(number: number): Hex {
  return `0x${number.toString(16)}`;
}
