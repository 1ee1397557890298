/**
 * Executes the journal's blocks that have no results yet: those of a chain that was begun with anvil, those of a backup
 * without results, or all of them after damage. Every block must get the hash that the journal has, but for those of anvil
 * whose state had more in it than Ethereum's rules allow.
 */
import { OperatorError } from '../../runtime/errors.ts';
import type { LoopLog } from '../../runtime/loop.ts';
import { headerHash } from './check/header.ts';
import { type Engine, EngineFailure, isMissingNode } from './engine/engine.ts';
import { type BlockResult, type ParentBlock, parentOf } from './engine/protocol.ts';
import type { Commit, Journal, JournalBlock, RecordedBlocks } from './journal.ts';
import { UndecodableReceipt } from './results/receipt-bytes.ts';
import { deleteResults, insertResults, type Results } from './results/results.store.ts';

export interface CatchUpNeeds {
  journal: Journal;
  results: Results;
  engine: Engine;
  /** Nodes of blocks that are executed but not committed. */
  ahead: Map<string, Uint8Array>;
  commit: Commit;
  signal: AbortSignal;
  genesis: string;
  madeBy: string | null;
  /** `from` is set when the first such block is found. */
  recorded: RecordedBlocks;
  log: LoopLog;
}

/** What a new chain is said to be made by, and what it calls itself. Another number would mean other rules. */
export const engineName = 'holdfast/1';
const pageSize = 50;
const tellEvery = 1_000;
/** A block that anvil made may have used 30 million gas in the costliest way. */
const blockTimeoutMs = 600_000;

/** Returns the head. If a state turns out to be damaged, all of it is made again. */
export async function catchUp(needs: CatchUpNeeds): Promise<ParentBlock> {
  try {
    await requireSound(needs);
    const head = await execute(needs);
    // Reads from the root, which shows whether the state is there at all.
    await needs.engine.ask('account', { stateRoot: head.stateRoot, address: `0x${'00'.repeat(20)}` });
    return head;
  } catch (error) {
    if (!(error instanceof Damage) && !isMissingNode(error)) throw error;
    await discardResults((error as Error).message, needs);
    return execute(needs);
  }
}

/** All of them: nobody knows what else is damaged. To be followed by catching up. */
export async function discardResults(reason: string, { ahead, commit, log }: CatchUpNeeds): Promise<void> {
  log.error({ reason }, 'the results of the embedded chain are damaged: making them again from the journal');
  ahead.clear();
  await commit(deleteResults);
}

class Damage extends Error {
  override name = 'Damage';
}

/** The newest results must belong to the journal's block, or the next block would be built on another state. */
async function requireSound({ results, recorded }: CatchUpNeeds): Promise<void> {
  const head = await results.head().catch((error) => {
    throw error instanceof UndecodableReceipt ? new Damage(error.message) : error;
  });
  if (head && !isRecorded(head, recorded) && headerHash(head, head.receipts) !== head.hash) {
    throw new Damage(`the results of block ${head.number} do not give its hash`);
  }
}

async function execute(needs: CatchUpNeeds): Promise<ParentBlock> {
  const { journal, results, engine, log, madeBy } = needs;
  const executedHead = await results.head();
  const first = executedHead ? null : await begin(needs);
  let head = (executedHead ?? first) as ParentBlock;
  const last = await journal.head();
  const missing = (last?.number ?? 0) - head.number;
  if (missing <= 0) {
    if (first) await needs.commit((db) => insertResults(first, db));
    needs.ahead.clear();
    return head;
  }
  const began = performance.now();
  log.info(
    { blocks: missing, from: head.number + 1, madeBy },
    `executing the blocks of the embedded chain that have no results yet${madeBy?.startsWith('anvil') ? `: it was made by ${madeBy} and goes on with the built-in engine, with the same hashes` : ''}`,
  );
  // The header of block 0 says nothing of its state, so it is committed only with the blocks that show it to be right.
  let executed: BlockResult[] = first ? [first] : [];
  for (;;) {
    const page = await journal.after(head.number, pageSize);
    for (const block of page) {
      needs.signal.throwIfAborted();
      const template = {
        parent: parentOf(head),
        timestampSeconds: block.timestampSeconds,
        transactions: block.transactions,
        exact: true,
      };
      const built = await engine
        .ask('build', template, { first: true, timeoutMs: blockTimeoutMs })
        .catch((error) => {
          throw mismatchOf(error, block, needs);
        });
      const result = settle(built.block, block, needs);
      head = result;
      executed.push(result);
      show(result, needs);
      if (block.number % tellEvery === 0) log.info({ block: block.number, of: last?.number }, 'executed');
    }
    await needs.commit(async (db) => {
      for (const block of executed) await insertResults(block, db);
      await db.updateTable('embedded_chain').set({ recorded_from: needs.recorded.from }).execute();
    });
    executed = [];
    needs.ahead.clear();
    if (page.length < pageSize) break;
  }
  const durationMs = Math.round(performance.now() - began);
  log.info({ blocks: missing, durationMs }, 'executed all blocks of the embedded chain');
  return head;
}

/** Block 0: stored with its results on the very first start, required to be equal on any other. */
async function begin(needs: CatchUpNeeds): Promise<BlockResult> {
  const { journal, engine, genesis } = needs;
  const block = await engine.ask('genesis', { genesis }, { first: true });
  const stored = await journal.block(0);
  if (stored) requireEqual(block, stored, needs);
  else await journal.begin({ ...block, transactions: [] }, engineName, block);
  show(block, needs);
  return block;
}

/** Lets the engine read what is not committed yet. */
function show({ changes }: BlockResult, { ahead }: CatchUpNeeds): void {
  for (const [key, value] of changes.added) ahead.set(Buffer.from(key).toString('hex'), value);
}

/** The block as the chain has it: with its own hash, or with the recorded one where anvil's state was another. */
function settle(made: BlockResult, stored: JournalBlock, needs: CatchUpNeeds): BlockResult {
  const { recorded, log, madeBy } = needs;
  if (made.hash !== stored.hash && recorded.from === null && stored.number <= recorded.until) {
    recorded.from = stored.number;
    log.info(
      { from: recorded.from, until: recorded.until, madeBy },
      'the state of these blocks had empty accounts or slots in it, which Ethereum leaves out: they keep the hashes that ' +
        'the journal recorded, and the blocks after them have the state of the built-in engine',
    );
  }
  if (isRecorded(stored, recorded)) return { ...made, hash: stored.hash };
  requireEqual(made, stored, needs);
  return made;
}

function isRecorded({ number }: { number: number }, { from, until }: RecordedBlocks): boolean {
  return from !== null && from <= number && number <= until;
}

function requireEqual(made: BlockResult, stored: JournalBlock, needs: CatchUpNeeds): void {
  if (made.hash !== stored.hash) {
    throw cannotGoOn(
      `block ${stored.number} should have the hash ${stored.hash}, but has ${made.hash}`,
      needs,
    );
  }
}

/** Only the engine's own verdict on the block counts, not its loss or a lack of nodes. */
function mismatchOf(error: unknown, { number }: JournalBlock, needs: CatchUpNeeds): unknown {
  if (!(error instanceof EngineFailure)) return error;
  if (error.kind !== 'invalid' && error.kind !== 'internal') return error;
  return cannotGoOn(`block ${number} cannot be executed: ${error.message}`, needs);
}

function cannotGoOn(reason: string, { madeBy }: CatchUpNeeds): OperatorError {
  return new OperatorError(
    `The embedded chain cannot go on: ${reason}. It was created by ${madeBy ?? 'an unknown program'}. ` +
      'Either the tables embedded_chain and embedded_chain_blocks were changed, or that program had rules that this ' +
      'version does not have. Nothing was changed: restore what was there before.',
  );
}
