/** The rules for one block and its results. */
import type { Finding } from '../../../runtime/check.ts';
import { nextBaseFee } from '../engine/header-fields.ts';
import type { StoredReceipt } from '../engine/protocol.ts';
import { journalChanged, makeAgain } from './advice.ts';
import { type ExecutedBlock, readReceipts, storedHash } from './executed-block.ts';
import { receiptsRootOf, transactionsRootOf } from './header.ts';
import { recoverSender } from './sender.ts';

/** Without `parent`, if there is none or it has no results, what follows from it is not checked. */
export async function judgeBlock(
  block: ExecutedBlock,
  parent: ExecutedBlock | undefined,
): Promise<Finding[]> {
  const { number } = block;
  const receipts = readReceipts(block);
  const hash = storedHash(block, receipts);
  const hasItsHash = block.isRecorded || hash === block.hash;
  const findings: Finding[] = [];
  const find = (rule: string, message: string, advice = makeAgain) =>
    findings.push({ rule, ids: { block: number }, message, advice });

  if ((await transactionsRootOf(block.transactions)) !== block.transactionsRoot) {
    find(
      'transactions_root',
      `The transactions of block ${number} do not have the root that is stored for them.`,
      hasItsHash ? journalChanged : makeAgain,
    );
  }
  findings.push(...(await judgeReceipts(block, receipts)));
  const expected = parent && nextBaseFee(parent);
  // If it is the parent that is wrong, that is told there.
  const isParentsFault = () =>
    hasItsHash && parent !== undefined && !parent.isRecorded && storedHash(parent) !== parent.hash;
  if (expected !== undefined && block.baseFeeWei !== expected && !isParentsFault()) {
    find(
      'base_fee',
      `Block ${number} should have the base fee ${expected}, but ${block.baseFeeWei} is stored.`,
    );
  }
  if (findings.length === 0 && !hasItsHash) {
    find(
      'block_hash',
      `Block ${number} has the hash ${block.hash} in the journal, but ${hash} follows from what is stored about it.`,
    );
  }
  findings.push(...(await judgeSenders(block, receipts)));
  return findings;
}

async function judgeReceipts(block: ExecutedBlock, receipts: (StoredReceipt | null)[]): Promise<Finding[]> {
  const { number, transactions, gasUsed } = block;
  const find = (rule: string, message: string): Finding[] => [
    { rule, ids: { block: number }, message, advice: makeAgain },
  ];
  if (receipts.length !== transactions.length) {
    return find(
      'receipts_count',
      `Block ${number} has ${transactions.length} transactions, but ${receipts.length} receipts.`,
    );
  }
  const decoded = receipts.filter((receipt) => receipt !== null);
  if (decoded.length < receipts.length) {
    return find(
      'receipt_undecodable',
      `The receipt at place ${receipts.indexOf(null)} of block ${number} cannot be decoded.`,
    );
  }
  if ((await receiptsRootOf(decoded, transactions)) !== block.receiptsRoot) {
    return find(
      'receipts_root',
      `The receipts of block ${number} do not have the root that is stored for them.`,
    );
  }
  const sum = decoded.reduce((gas, receipt) => gas + receipt.gasUsed, 0);
  if (sum === gasUsed) return [];
  return find(
    'gas_used',
    `Block ${number} used ${sum} gas according to its receipts, but ${gasUsed} is stored.`,
  );
}

async function judgeSenders(
  { number, transactions }: ExecutedBlock,
  receipts: (StoredReceipt | null)[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [index, raw] of transactions.entries()) {
    const stored = receipts[index];
    const sender = stored && (await recoverSender(raw));
    if (!stored || sender === null || sender === stored.from) continue;
    findings.push({
      rule: 'receipt_sender',
      ids: { block: number, place: index },
      message: `The transaction at place ${index} of block ${number} was signed by ${sender}, but its receipt has ${stored.from}.`,
      advice: makeAgain,
    });
  }
  return findings;
}
