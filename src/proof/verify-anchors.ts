/** The verifier's steps on the chain: is the root in the registry, since when, and can that still change. */
import type { Hex } from 'viem';
import { isNotNow } from '../chain/rules/not-now.ts';
import type { BlockHeader, ChainReader, Registry, StoredAnchor } from './chain-reader.ts';
import { type EvmAnchor, isEvmAnchor, type Proof } from './proof.ts';
import { fail, pass, type StepResult, skip } from './steps.ts';

export interface AnchorOptions {
  chain?: ChainReader | undefined;
  registry?: Registry | undefined;
  /** Whether the path leads to the root; if not, an anchor of the root proves nothing about the content. */
  rooted: boolean;
}

export interface AnchorResults {
  registry: StepResult;
  chain: StepResult;
  time: StepResult;
  finality: StepResult;
}

export async function checkAnchors(
  proof: Proof,
  { chain, registry, rooted }: AnchorOptions,
): Promise<AnchorResults> {
  const anchors = proof.anchors.filter(isEvmAnchor);
  if (chain === undefined || registry === undefined) return unasked(anchors, { chain, registry });

  const address = registry.address.toLowerCase() as Hex;
  const results = allSkipped('The registry could not be verified.');
  results.registry = await asked(async () => {
    const here = await onThisChain(chain, anchors);
    if (here.length === 0 && anchors.length > 0) return elsewhere(anchors, address, await chain.chainId());
    const other = here.find(({ contract }) => contract !== address);
    if (other) return fail(`The proof names the contract ${other.contract}, but the registry is ${address}.`);
    const codeHash = await askUntil(chain, here, () => chain.codeHash(address));
    if (codeHash === null) return fail(`There is no contract at ${address} on this chain.`);
    if (codeHash !== registry.codeHash.toLowerCase()) {
      return fail(`The contract at ${address} is not the registry: its code hash is ${codeHash}.`);
    }
    return pass(`${address} holds the registry's code.`);
  });
  if (results.registry.status === 'skipped') return { ...notAsked(), registry: results.registry };
  if (results.registry.status === 'fail') return results;
  if (!rooted) return { ...allSkipped('The path does not lead to the root.'), registry: results.registry };

  const found: FoundAnchor[] = [];
  results.chain = await asked(async () => {
    const here = await onThisChain(chain, anchors);
    if (here.length === 0) {
      return fail(`The proof has no anchor on chain ${await chain.chainId()}, which was queried.`);
    }
    for (const anchor of here) {
      const result = await findAnchor(proof, anchor, { chain, address });
      if (typeof result === 'string') return fail(result);
      found.push(result);
    }
    const unseen = proof.anchors.length - here.length;
    const rest = unseen > 0 ? ` ${unseen} more on other chains were not checked.` : '';
    return pass(`${here.map(describe).join(', ')} anchored the root.${rest}`);
  });
  if (results.chain.status !== 'pass') {
    const { registry, chain } = results;
    const rest = chain.status === 'fail' ? allSkipped('The anchor was not found on the chain.') : notAsked();
    return { ...rest, registry, chain };
  }
  results.time = await asked(async () => checkTime(found, await chain.isEmbedded()));
  results.finality = await asked(async () => checkFinality(found, await chain.finality()));
  return results;
}

interface FoundAnchor {
  anchor: EvmAnchor;
  stored: StoredAnchor;
  block: BlockHeader;
}

/** The anchor according to the chain, or what disagrees. Every field that the document repeats must match. */
async function findAnchor(
  { merkle: { root, size } }: Proof,
  anchor: EvmAnchor,
  { chain, address }: { chain: ChainReader; address: Hex },
): Promise<FoundAnchor | string> {
  const { submitter, transactionHash, blockNumber, blockHash } = anchor;
  const key = { registry: address, submitter, root };
  const stored = await askUntil(chain, [anchor], () => chain.storedAnchor(key));
  if (stored === null) return `The registry has no anchor of ${root} by ${submitter}.`;
  if (stored.size !== size) return `merkle.size is ${size}, but the registry has ${stored.size}.`;

  const transaction = await chain.transaction(transactionHash, blockNumber);
  if (transaction === null) return `The chain has no transaction ${transactionHash}.`;
  if (!transaction.succeeded) return `The transaction ${transactionHash} was reverted.`;
  if (transaction.blockNumber !== blockNumber || transaction.blockHash !== blockHash) {
    return `The transaction is in block ${transaction.blockNumber}, ${transaction.blockHash}, not in the block that the proof names.`;
  }
  const logged = transaction.anchored.some(
    (log) =>
      log.registry === address && log.submitter === submitter && log.root === root && log.size === size,
  );
  if (!logged) return `The transaction ${transactionHash} did not anchor this root.`;

  const block = await chain.block(blockNumber);
  if (block?.hash !== blockHash)
    return `Block ${blockNumber} of the chain is not (or no longer) ${blockHash}.`;
  return { anchor, stored, block };
}

function checkTime(found: FoundAnchor[], embedded: boolean): StepResult {
  for (const { anchor, stored, block } of found) {
    if (stored.time !== block.time) {
      return fail(`The registry says ${isoTime(stored.time)}, but the block says ${isoTime(block.time)}.`);
    }
    if (anchor.blockTime !== block.time) {
      return fail(
        `anchors.blockTime is ${isoTime(anchor.blockTime)}, but the block has ${isoTime(block.time)}.`,
      );
    }
  }
  const earliest = Math.min(...found.map(({ block }) => block.time));
  if (embedded)
    return skip(`The embedded chain says ${isoTime(earliest)}, but its operator can set the clock.`);
  return pass(`It existed on ${isoTime(earliest)}.`);
}

function checkFinality(
  found: FoundAnchor[],
  { head, finalized }: { head: number; finalized: number },
): StepResult {
  const newest = Math.max(...found.map(({ anchor }) => anchor.blockNumber));
  if (newest <= finalized) return pass(`Block ${newest} is final; the head is ${head}.`);
  return skip(`Block ${newest} is not final yet: the chain is final up to ${finalized}. Check again later.`);
}

/** What can be checked without the chain: whether any anchor names the right contract. */
function unasked(anchors: EvmAnchor[], { chain, registry }: Omit<AnchorOptions, 'rooted'>): AnchorResults {
  const results = allSkipped(chain === undefined ? 'No chain node was given.' : 'No registry was given.');
  const address = registry?.address.toLowerCase();
  if (address !== undefined) results.registry = namesNone(anchors, address) ?? results.registry;
  return results;
}

/** A node of another chain cannot contradict the proof: it was merely the wrong node to ask. */
function elsewhere(anchors: EvmAnchor[], address: string, asked: number): StepResult {
  const chains = [...new Set(anchors.map(({ chainId }) => chainId))].join(' or ');
  return (
    namesNone(anchors, address) ??
    skip(
      `The node belongs to chain ${asked}, but the proof is anchored on chain ${chains}. Use a node of that chain.`,
    )
  );
}

function namesNone(anchors: EvmAnchor[], address: string): StepResult | null {
  const named = anchors.some(({ contract }) => contract === address);
  return named ? null : fail(`The proof names no anchor in the registry ${address}.`);
}

/** Uses the chain id that the chain reports, never the one in the document. */
async function onThisChain(chain: ChainReader, anchors: EvmAnchor[]): Promise<EvmAnchor[]> {
  const id = await chain.chainId();
  return anchors.filter(({ chainId }) => chainId === id);
}

/**
 * Returns null only as of a head that has the blocks of these anchors. Throws while the chain node is behind: what it lacks,
 * the chain may have. No answer is as of an older head than reported before, so the answer after reading the head counts.
 */
async function askUntil<Answer>(
  chain: ChainReader,
  anchors: EvmAnchor[],
  ask: () => Promise<Answer | null>,
): Promise<Answer | null> {
  const early = await ask();
  if (early !== null) return early;
  const { head } = await chain.finality();
  const later = anchors.find(({ blockNumber }) => blockNumber > head);
  if (later) throw new Error(`the node is at block ${head}, but the anchor is in block ${later.blockNumber}`);
  return ask();
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

/** Used after a step that gives the reason. */
function notAsked(): AnchorResults {
  return allSkipped('The chain was not queried for it.');
}

function allSkipped(message: string): AnchorResults {
  return { registry: skip(message), chain: skip(message), time: skip(message), finality: skip(message) };
}

function describe({ transactionHash, blockNumber, chainId }: EvmAnchor): string {
  return `Transaction ${transactionHash} in block ${blockNumber} of chain ${chainId}`;
}

/** Beyond the range of dates, returns the seconds themselves. */
function isoTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? `second ${seconds}` : date.toISOString().replace('.000', '');
}
