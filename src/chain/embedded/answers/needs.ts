/** What the answers are made from, and what a handler of one method is given. */
import type { Hex } from 'viem';
import type { Engine } from '../engine/engine.ts';
import type { Results } from '../results/results.store.ts';

/** What the answers need of the pool. Declared here, because the room of the pool imports this one. */
export interface AnswersPool {
  add(raw: Hex, options?: { own?: boolean }): Promise<Hex>;
  find(hash: Hex): { hash: Hex; raw: Hex; from: Hex } | null;
  /** The nonce after the consecutive ones that the pool has, given the account's. */
  nextNonce(address: Hex, accountNonce: number): number;
}

export interface AnswersNeeds {
  chainId: number;
  clientVersion: string;
  results: Results;
  engine: Engine;
  pool: AnswersPool;
}

/** One call. Its parameters are whatever JSON was sent. */
export interface Asked {
  needs: AnswersNeeds;
  params: readonly unknown[];
  /** A request of the service itself, which goes before those of others. */
  own: boolean;
}

/** Throws RpcFault, EngineFailure, or whatever the database throws. */
export type Handler = (asked: Asked) => unknown;

export interface Method {
  /** More parameters than this are refused. */
  most: number;
  handle: Handler;
}

export type Methods = Record<string, Method>;
