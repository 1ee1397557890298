/** The engine's process: answers one request at a time, and ends with the service. */
import type { Common } from '@ethereumjs/common';
import type { Hex } from 'viem';
import { readAccount, readCode, readProof, readStorage } from './accounts.ts';
import { estimateGas, runCall } from './calls.ts';
import { loadCrypto } from './crypto.ts';
import { createDeadline, TookTooLong } from './deadline.ts';
import { buildBlock } from './execute.ts';
import { buildGenesis } from './genesis-block.ts';
import { createNodeCache, MissingNode } from './nodes.ts';
import type { EngineErrorKind, EngineMethod, EngineRequests, FromEngine, ToEngine } from './protocol.ts';
import { commonOf } from './rules.ts';
import { openState, type StateNeeds } from './state.ts';
import { checkTransaction, InvalidRequest } from './transactions.ts';

const cachedBytes = 8 * 1024 * 1024;

const crypto = await loadCrypto();
const cache = createNodeCache(cachedBytes);
/** What the engine waits for, by number. */
const needed = new Map<number, (value: never) => void>();
let nextNeed = 1;
let common: Common | null = null;
/** The request that is being answered. */
let current = 0;

function say(message: FromEngine): void {
  process.send?.(message);
}

function need<T>(wrap: (need: number) => FromEngine): Promise<T> {
  return new Promise((resolve) => {
    needed.set(nextNeed, resolve);
    say(wrap(nextNeed));
    nextNeed += 1;
  });
}

function needsOf(chainId: number, timeoutMs: number): StateNeeds {
  common ??= commonOf(chainId, crypto);
  return {
    common,
    cache,
    // Well before the service ends this process.
    deadline: createDeadline(timeoutMs / 3),
    readNode: (key) => need<Uint8Array | null>((number) => ({ kind: 'need-node', need: number, key })),
    readBlockHash: (number) => need<Hex | null>((id) => ({ kind: 'need-block-hash', need: id, number })),
  };
}

type Handlers = {
  [M in EngineMethod]: (
    given: EngineRequests[M]['arguments'],
    needs: StateNeeds,
  ) => Promise<EngineRequests[M]['answer']>;
};

const handlers: Handlers = {
  genesis: ({ genesis }, needs) => buildGenesis(genesis, needs),
  build: buildBlock,
  check: async ({ raw, stateRoot }, needs) =>
    checkTransaction(raw, await openState(stateRoot, needs), needs.common),
  call: runCall,
  estimate: estimateGas,
  account: async ({ stateRoot, address }, needs) => readAccount(address, await openState(stateRoot, needs)),
  code: async ({ stateRoot, address }, needs) => readCode(address, await openState(stateRoot, needs)),
  storage: async ({ stateRoot, address, slot }, needs) =>
    readStorage({ address, slot }, await openState(stateRoot, needs)),
  proof: async ({ stateRoot, address, slots }, needs) =>
    readProof({ address, slots }, await openState(stateRoot, needs)),
};

function kindOf(error: unknown): EngineErrorKind {
  if (error instanceof InvalidRequest || error instanceof TookTooLong) return 'invalid';
  return error instanceof MissingNode ? 'missing' : 'internal';
}

process.on('message', async (message: ToEngine) => {
  if (message.kind !== 'request') {
    const resolve = needed.get(message.need);
    needed.delete(message.need);
    resolve?.((message.kind === 'node' ? message.value : message.hash) as never);
    return;
  }
  const { id, chainId, timeoutMs, method, arguments: given } = message;
  current = id;
  try {
    const answer = await handlers[method](given as never, needsOf(chainId, timeoutMs));
    say({ kind: 'answer', id, answer });
  } catch (error) {
    say({ kind: 'failure', id, errorKind: kindOf(error), message: String((error as Error).message) });
  }
});
// The library writes storage inside a promise that nobody awaits: what goes wrong there ends the request that asked for it,
// and this process, which would wait for it for ever.
process.on('unhandledRejection', (reason) => {
  const message = reason instanceof Error ? reason.message : String(reason);
  process.send?.({ kind: 'failure', id: current, errorKind: kindOf(reason), message }, () => process.exit(1));
});
// The service is gone, however it ended.
process.on('disconnect', () => process.exit(0));
say({ kind: 'ready' });
