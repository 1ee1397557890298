/** The peer of a list: the same statements straight through `pg`, from a process of its own, and nothing else. */
import type { Connection } from '../src/db/embedded/embedded-postgres.ts';
import { startChild } from './child.ts';

export interface Selects {
  connection: Connection;
  statements: Statement[];
  /** Statements at once. */
  inFlight: number;
  seconds: number;
}

export interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

export interface SelectsResult {
  perSecond: number;
  p99Ms: number;
  rows: number;
  /** Statements. */
  done: number;
}

export interface SelectPeer {
  pid: number;
  run(selects: Selects): Promise<SelectsResult>;
  stop(): Promise<void>;
}

export async function startSelectPeer(): Promise<SelectPeer> {
  const child = startChild<Selects, SelectsResult>(new URL('./select-peer.process.ts', import.meta.url));
  return {
    pid: child.pid,
    run: (selects) => child.ask(selects, selects.seconds * 1000 + 20_000),
    stop: child.stop,
  };
}
