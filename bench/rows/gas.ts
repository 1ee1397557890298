/** `gas`: what anchoring costs per record on a real chain, by the receipts: a thousand under one transaction, and one. */
import {
  type AnchoringService,
  createRecords,
  findChain,
  startAnchoringService,
  waitForConfirmation,
} from '../anchoring.ts';
import { holdfastDatabase } from '../postgres.ts';
import type { Row } from '../row.ts';

const batchSize = 1_000;
const gasToReach = 50;

export const gas: Row = {
  name: 'gas',
  what: `anchoring ${batchSize.toLocaleString('en')} records by one transaction, against one for each`,
  async measure(fixture) {
    const anchoring = await startAnchoringService(fixture);
    const alone = await anchor(anchoring, 1);
    const batched = await anchor(anchoring, batchSize);
    await anchoring.stop();
    const figure = (gas: number) => ({ value: gas, unit: 'gas' as const, p99Ms: null });
    return {
      comparisons: [
        {
          figure: 'per record',
          peer: figure(alone.gas),
          holdfast: figure(batched.gas / batchSize),
          ratio: null,
          toReach: `≤ ${gasToReach} gas`,
          reached: batched.gas / batchSize <= gasToReach,
        },
      ],
      details: { alone, batched },
    };
  },
};

/** Throws unless so many records were anchored together, and by one transaction that succeeded. */
async function anchor(anchoring: AnchoringService, count: number): Promise<{ hash: string; gas: number }> {
  const [id] = await createRecords(anchoring, count);
  const { transactionHash: hash } = await waitForConfirmation(anchoring, id ?? '');
  const [batch] = await anchoring.postgres.query<{ size: number }>(
    holdfastDatabase,
    "select size from anchor_batches where transaction_hash = decode(substr($1, 3), 'hex')",
    [hash],
  );
  if (batch?.size !== count) throw new Error(`${batch?.size} records were anchored together, not ${count}`);
  const url = await findChain(anchoring);
  if (url === null) throw new Error('the embedded chain does not answer');
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionReceipt', params: [hash] }),
  });
  const { result } = (await answer.json()) as { result: { status: string; gasUsed: string } | null };
  if (result?.status !== '0x1') throw new Error(`transaction ${hash} did not succeed`);
  return { hash, gas: Number(result.gasUsed) };
}
