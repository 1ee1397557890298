/** Executes transactions into a block. */
import { type Block, createBlock, genTransactionsTrieRoot } from '@ethereumjs/block';
import type { Common } from '@ethereumjs/common';
import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import type { TypedTransaction } from '@ethereumjs/tx';
import { bytesToHex, createAddressFromString, hexToBytes, setLengthLeft, toBytes } from '@ethereumjs/util';
import { Bloom, encodeReceipt, type RunTxResult, runTx } from '@ethereumjs/vm';
import type { Hex } from 'viem';
import { blockGasLimit, emptyRoot, nextBaseFee } from './header-fields.ts';
import { MissingNode } from './nodes.ts';
import type { BlockResult, BlockTemplate, BuiltBlock, ParentBlock, StoredReceipt } from './protocol.ts';
import { type HeaderParts, headerOf, historyAddress, historyBlocks } from './rules.ts';
import { openState, openVm, type State, type StateNeeds } from './state.ts';
import { accountOf, costsOf, decodeTransaction } from './transactions.ts';

/** A block with costly transactions ends early; the rest goes into the next one. */
const longestBuildMs = 2_000;
/** A transaction that takes longer, which takes precompiled contracts or thousands of slots, is dropped. */
const longestTransactionMs = 5_000;

interface Executed {
  transaction: TypedTransaction;
  result: RunTxResult;
}

interface Attempt {
  state: State;
  executed: Executed[];
  dropped: BuiltBlock['dropped'];
  /** The engine failed in the middle of this one, which may have left changes in the state. */
  broken: { hash: Hex; reason: string } | null;
}

/** Every transaction that does not fit the state is left out, unless the block is to be exact. */
export async function buildBlock(template: BlockTemplate, needs: StateNeeds): Promise<BuiltBlock> {
  const { parent, timestampSeconds, exact } = template;
  const parts = {
    parentHash: parent.hash,
    number: parent.number + 1,
    timestampSeconds,
    baseFeeWei: nextBaseFee(parent),
  };
  let candidates = template.transactions.map((raw) => decodeTransaction(raw, needs.common));
  const broken: BuiltBlock['dropped'] = [];
  for (;;) {
    const attempt = await tryBlock(candidates, { parent, parts, exact }, needs);
    if (attempt.broken === null) {
      const block = await seal(parts, attempt, needs);
      return { block, dropped: [...broken, ...attempt.dropped] };
    }
    if (exact) throw new Error(`transaction ${attempt.broken.hash} fails: ${attempt.broken.reason}`);
    const { hash } = attempt.broken;
    broken.push(attempt.broken);
    candidates = candidates.filter((transaction) => bytesToHex(transaction.hash()) !== hash);
  }
}

async function tryBlock(
  candidates: TypedTransaction[],
  { parent, parts, exact }: { parent: ParentBlock; parts: HeaderParts; exact: boolean },
  needs: StateNeeds,
): Promise<Attempt> {
  const state = await openState(parent.stateRoot, needs);
  const vm = await openVm(state, needs);
  const executed: Executed[] = [];
  const dropped: BuiltBlock['dropped'] = [];
  let gasUsed = 0n;
  const began = performance.now();
  needs.deadline.set(Number.POSITIVE_INFINITY);
  await vm.evm.journal.checkpoint();
  await storeParentHash(state, parent);
  for (const transaction of candidates) {
    const hash = bytesToHex(transaction.hash());
    const unfit = await whyUnfit(transaction, { state, gasUsed, baseFeeWei: parts.baseFeeWei });
    if (unfit && exact) throw new Error(`transaction ${hash} does not fit: ${unfit.reason}`);
    if (unfit?.forGood) dropped.push({ hash, reason: unfit.reason });
    if (unfit) continue;
    try {
      needs.deadline.set(exact ? Number.POSITIVE_INFINITY : longestTransactionMs);
      const result = await runTx(vm, {
        tx: transaction,
        block: blockOf({ ...parts, gasUsed: Number(gasUsed) }, needs),
        blockGasUsed: gasUsed,
      });
      executed.push({ transaction, result });
      gasUsed += result.totalGasSpent;
    } catch (error) {
      if (error instanceof MissingNode) throw error;
      return { state, executed, dropped, broken: { hash, reason: (error as Error).message } };
    }
    if (!exact && performance.now() - began > longestBuildMs) break;
  }
  needs.deadline.set(Number.POSITIVE_INFINITY);
  await vm.evm.journal.commit();
  return { state, executed, dropped, broken: null };
}

/** Checks what execution would check, without side effects. `forGood`: it will not fit a later state either. */
async function whyUnfit(
  transaction: TypedTransaction,
  { state, gasUsed, baseFeeWei }: { state: State; gasUsed: bigint; baseFeeWei: bigint },
): Promise<{ reason: string; forGood: boolean } | null> {
  const account = await accountOf(state, transaction.getSenderAddress());
  const { maxFeeWei, costWei } = costsOf(transaction);
  if (transaction.nonce < account.nonce) return { reason: 'nonce too low', forGood: true };
  if (transaction.nonce > account.nonce) return { reason: 'nonce too high', forGood: false };
  if (transaction.gasLimit > BigInt(blockGasLimit) - gasUsed) {
    return { reason: 'the block is full', forGood: false };
  }
  if (maxFeeWei < baseFeeWei) return { reason: 'max fee per gas less than block base fee', forGood: false };
  if (account.balance < costWei) {
    return { reason: 'insufficient funds for gas * price + value', forGood: false };
  }
  return null;
}

async function storeParentHash({ manager }: State, { number, hash }: ParentBlock): Promise<void> {
  const slot = setLengthLeft(toBytes(BigInt(number % historyBlocks)), 32);
  await manager.putStorage(createAddressFromString(historyAddress), slot, hexToBytes(hash));
}

async function seal(
  parts: HeaderParts,
  { state, executed }: Attempt,
  { common }: StateNeeds,
): Promise<BlockResult> {
  const bloom = new Bloom(undefined, common);
  for (const { result } of executed) bloom.or(result.bloom);
  const gasUsed = executed.reduce((sum, { result }) => sum + result.totalGasSpent, 0n);
  const root = await state.manager.getStateRoot();
  const whole = {
    ...parts,
    gasUsed: Number(gasUsed),
    stateRoot: bytesToHex(root),
    transactionsRoot: await transactionsRootOf(executed, common),
    receiptsRoot: await receiptsRootOf(executed, common),
    logsBloom: bloom.bitvector,
  };
  const { logsBloom: _, ...kept } = whole;
  return {
    ...kept,
    hash: bytesToHex(headerOf(whole, common).hash()),
    transactions: executed.map(({ transaction, result }) => ({
      hash: bytesToHex(transaction.hash()),
      raw: bytesToHex(transaction.serialize()),
      receipt: receiptOf(transaction, result),
    })),
    changes: state.nodes.changes(root),
  };
}

function receiptOf(transaction: TypedTransaction, { receipt, totalGasSpent }: RunTxResult): StoredReceipt {
  return {
    from: transaction.getSenderAddress().toString(),
    succeeded: (receipt as { status: number }).status === 1,
    gasUsed: Number(totalGasSpent),
    logs: receipt.logs.map(([address, topics, data]) => ({
      address: bytesToHex(address),
      topics: topics.map((topic) => bytesToHex(topic)),
      data: bytesToHex(data),
    })),
  };
}

async function transactionsRootOf(executed: Executed[], common: Common): Promise<Hex> {
  if (executed.length === 0) return emptyRoot;
  const trie = await createMPT({ common });
  return bytesToHex(
    await genTransactionsTrieRoot(
      executed.map(({ transaction }) => transaction),
      trie,
    ),
  );
}

async function receiptsRootOf(executed: Executed[], common: Common): Promise<Hex> {
  if (executed.length === 0) return emptyRoot;
  const trie = await createMPT({ common });
  for (const [index, { transaction, result }] of executed.entries()) {
    await trie.put(RLP.encode(index), encodeReceipt(result.receipt, transaction.type));
  }
  return bytesToHex(trie.root());
}

function blockOf(parts: HeaderParts, { common }: StateNeeds): Block {
  return createBlock({ header: headerOf(parts, common) }, { common, freeze: false });
}
