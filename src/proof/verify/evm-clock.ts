/** The clock of a block: whether the chain that the verifier trusts anchored the root, and when. */
import type { Hex } from 'viem';
import { isNotNow } from '../../chain/rules/not-now.ts';
import { anchoredIn, readInclusion } from '../evm/inclusion.ts';
import { usualRegistry } from '../evm/usual-registry.ts';
import { createListIndex } from '../list-index.ts';
import type { AnchorTransaction, ChainReader } from './chain-reader.ts';
import { allOf, type ClockGiven, type ClockResult, type Rooted } from './clock.ts';
import type { EvmAnchor } from './proof.ts';
import { fail, isoTime, pass, type StepResult, skip } from './steps.ts';
import { type Trust, trustedChain } from './trust.ts';

export const evmSteps = ['registry', 'chain', 'finality'] as const;

export async function judgeEvm(anchor: EvmAnchor, rooted: Rooted, given: ClockGiven): Promise<ClockResult> {
  const { until, trust } = given;
  if (anchor.blockTime * 1000 > until) {
    return allOf(
      evmSteps,
      skip(`The block is of ${isoTime(anchor.blockTime * 1000)}, later than the time of judgement.`),
    );
  }
  const registry = await checkRegistry(anchor, given);
  const chain =
    registry.status === 'pass'
      ? await checkChain(anchor, rooted, given)
      : skip('The registry was not confirmed.');
  const finality =
    chain.status === 'pass'
      ? await checkFinality(anchor, given)
      : skip('The anchor was not found on the chain.');
  const results = { registry, chain, finality };
  const steps = evmSteps.map((name) => ({ name, ...results[name] }));
  const known = trustedChain(anchor.chainId, trust);
  const open = steps.find(({ status }) => status !== 'pass');
  if (open) return { steps, voucher: null, why: open.message };
  if (!known) {
    const why = `Chain ${anchor.chainId} is not on the list of known chains: its operator may set its clock.`;
    return { steps, voucher: null, why };
  }
  if (!known.isTrusted) {
    return { steps, voucher: null, why: `${known.name} is a test network: its clock is no evidence.` };
  }
  const by = `block ${anchor.blockNumber} of ${known.name}`;
  const isShipped = known.isShipped && (trust.isShipped || !isTrustedBlock(anchor, trust));
  return { steps, voucher: { time: anchor.blockTime * 1000, by, isShipped }, why: '' };
}

async function checkRegistry(anchor: EvmAnchor, given: ClockGiven): Promise<StepResult> {
  const { registry, chain, trust } = given;
  const { contract } = anchor;
  if (!registry) return skip('No registry was given.');
  const address = registry.address.toLowerCase() as Hex;
  if (contract !== address) {
    return fail(`The proof names the contract ${contract}, but the registry is ${address}.`);
  }
  if (address === usualRegistry)
    return pass(`${address} is the registry: the address follows from its code.`);
  if (!chain) return skip(`No node was given to ask for the code at ${address}.`);
  return asked(async () => {
    const other = await whyAnotherChain(anchor, { chain, trust });
    if (other !== null) return skip(other);
    const codeHash = await chain.codeHash(address);
    if (codeHash === registry.codeHash.toLowerCase()) return pass(`${address} holds the registry's code.`);
    if (codeHash === null) return fail(`There is no contract at ${address} on this chain.`);
    return fail(`The contract at ${address} is not the registry: its code hash is ${codeHash}.`);
  });
}

async function checkChain(anchor: EvmAnchor, rooted: Rooted, given: ClockGiven): Promise<StepResult> {
  const { chainId, blockNumber, blockHash } = anchor;
  const contradiction = contradictionOf(anchor, rooted);
  if (contradiction !== null) return fail(contradiction);
  const named = blocksOf(given.trust.blocks, [chainId, blockNumber].join());
  if (named.length > 0 && !named.some(({ hash }) => hash === blockHash)) {
    return fail(
      `The trusted hash of block ${blockNumber} of chain ${chainId} is ${named[0]?.hash}, not ${blockHash}.`,
    );
  }
  if (named.length > 0 && anchor.inclusion) {
    return pass(`Block ${blockNumber} of chain ${chainId}, whose hash is trusted, anchored the root.`);
  }
  const { chain } = given;
  if (!chain) {
    return skip(
      anchor.inclusion
        ? `Header and receipt fit, but nobody was asked whether block ${blockNumber} of chain ${chainId} has the hash ${blockHash}.`
        : 'No chain node was given.',
    );
  }
  return asked(() => askChain(anchor, rooted, { chain, trust: given.trust }));
}

/** What the document itself shows to be wrong; null if nothing does. */
function contradictionOf(anchor: EvmAnchor, { root, size }: Rooted): string | null {
  const { inclusion, contract, submitter, blockNumber, blockHash, blockTime } = anchor;
  if (inclusion === null) return null;
  const read = readInclusion(inclusion);
  if ('fault' in read) return `The inclusion is wrong: ${read.fault}.`;
  if (read.blockHash !== blockHash) return `The header has the hash ${read.blockHash}, not ${blockHash}.`;
  if (read.blockNumber !== blockNumber)
    return `The header is of block ${read.blockNumber}, not ${blockNumber}.`;
  if (read.blockTime !== blockTime) {
    return `anchors.blockTime is ${isoTime(blockTime * 1000)}, but the header has ${isoTime(read.blockTime * 1000)}.`;
  }
  if (!read.succeeded) return 'The transaction was reverted.';
  if (anchoredIn(read, { registry: contract, submitter, root, size })) return null;
  return 'The transaction of the receipt did not anchor this root.';
}

async function askChain(
  anchor: EvmAnchor,
  rooted: Rooted,
  { chain, trust }: { chain: ChainReader; trust: Trust },
): Promise<StepResult> {
  const { chainId, transactionHash, blockNumber, blockHash, blockTime } = anchor;
  const other = await whyAnotherChain(anchor, { chain, trust });
  if (other !== null) return skip(other);
  const block = await chain.block(blockNumber);
  if (block === null) return skip(`The node has not reached block ${blockNumber} yet.`);
  if (block.hash !== blockHash)
    return fail(`Block ${blockNumber} of the chain is not (or no longer) ${blockHash}.`);
  if (block.time !== blockTime) {
    return fail(
      `anchors.blockTime is ${isoTime(blockTime * 1000)}, but the block has ${isoTime(block.time * 1000)}.`,
    );
  }
  const place = anchor.inclusion?.index ?? block.transactions.indexOf(transactionHash);
  if (block.transactions[place] !== transactionHash) {
    return fail(
      anchor.inclusion
        ? `The transaction at place ${place} of the block is not ${transactionHash}.`
        : `The block does not have the transaction ${transactionHash}.`,
    );
  }
  if (anchor.inclusion === null) {
    const transaction = await chain.transaction(transactionHash);
    // The block has it: another node behind the same address does not know it yet, or any more.
    if (transaction === null) return skip(`The node does not have the transaction ${transactionHash}.`);
    const fault = transactionFault(transaction, anchor, rooted);
    if (fault !== null) return fail(fault);
  }
  return pass(`Block ${blockNumber} of chain ${chainId} anchored the root.`);
}

/** Why what the node says is not about the chain of the anchor; null if it is. */
async function whyAnotherChain(
  { chainId }: EvmAnchor,
  { chain, trust }: { chain: ChainReader; trust: Trust },
): Promise<string | null> {
  const asked = await chain.chainId();
  if (asked !== chainId) {
    return `The node belongs to chain ${asked}, but this anchor is on chain ${chainId}. Use a node of that chain.`;
  }
  const known = trustedChain(chainId, trust);
  if (known && !known.genesisHashes.includes(await chain.genesisHash())) {
    return `The node's chain has the id of ${known.name}, but another first block: it is a different chain.`;
  }
  if (known?.isShipped && (await chain.isDevelopmentNode())) {
    return `The node is one for development, which can imitate ${known.name}.`;
  }
  return null;
}

/** For an anchor without its inclusion: what the node says about the transaction. */
function transactionFault(
  transaction: AnchorTransaction,
  { transactionHash, contract, submitter, blockNumber, blockHash }: EvmAnchor,
  { root, size }: Rooted,
): string | null {
  if (!transaction.succeeded) return `The transaction ${transactionHash} was reverted.`;
  if (transaction.blockNumber !== blockNumber || transaction.blockHash !== blockHash) {
    return `The transaction is in block ${transaction.blockNumber}, ${transaction.blockHash}, not in the block that the proof names.`;
  }
  const isLogged = transaction.anchored.some(
    (log) =>
      log.registry === contract && log.submitter === submitter && log.root === root && log.size === size,
  );
  return isLogged ? null : `The transaction ${transactionHash} did not anchor this root.`;
}

async function checkFinality(anchor: EvmAnchor, { chain, trust }: ClockGiven): Promise<StepResult> {
  const { chainId, blockNumber } = anchor;
  if (isTrustedBlock(anchor, trust)) return pass(`Block ${blockNumber} is trusted.`);
  const known = trustedChain(chainId, trust);
  if (!known) return skip(`When a block of chain ${chainId} is final is not known.`);
  if (!chain) return skip('No chain node was given.');
  return asked(async () => {
    const finalized = await chain.finalBlock(known.finality);
    if (blockNumber <= finalized) return pass(`Block ${blockNumber} is final.`);
    return skip(
      `Block ${blockNumber} is not final yet: the chain is final up to ${finalized}. Check again later.`,
    );
  });
}

const blocksOf = createListIndex(({ chainId, number }: Trust['blocks'][number]) => [chainId, number].join());
const blocksByHash = createListIndex(({ hash }: Trust['blocks'][number]) => hash);

export function isTrustedBlock({ chainId, blockHash }: EvmAnchor, { blocks }: Trust): boolean {
  return blocksByHash(blocks, blockHash).some((block) => block.chainId === chainId);
}

/** A chain that does not answer has not contradicted the proof. */
async function asked(check: () => Promise<StepResult>): Promise<StepResult> {
  try {
    return await check();
  } catch (error) {
    const { message } = error as Error;
    if (!isNotNow(error)) return skip(`The chain could not be queried: ${message}`);
    const again = `The chain is not available right now, try again in a moment: ${message}`;
    return { ...skip(again), notNow: true };
  }
}
