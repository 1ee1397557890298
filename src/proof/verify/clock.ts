/** What every clock is asked, and what it answers. */
import type { Hex } from 'viem';
import type { ChainReader, Registry } from './chain-reader.ts';
import type { Step, StepName, StepResult, Voucher } from './steps.ts';
import type { Trust } from './trust.ts';

/** The root that a clock is to vouch for. */
export interface Rooted {
  root: Hex;
  size: number;
}

export interface ClockGiven {
  trust: Trust;
  /** The time of judgement in milliseconds since 1970, at which certificates must be valid. */
  at: number;
  /** What is later counts as absent: the time of judgement if one was given, and otherwise nothing is. */
  until: number;
  /** Without it nobody is asked for the blocks of a chain. */
  chain?: ChainReader | undefined;
  registry?: Registry | undefined;
}

export interface ClockResult {
  steps: (Pick<Step, 'name'> & StepResult)[];
  /** Null if it does not vouch; then `why` has the reason, for a sentence of its own. */
  voucher: Voucher | null;
  why: string;
}

/** The same result for all of these steps. */
export function allOf(names: readonly StepName[], result: StepResult): ClockResult {
  return { steps: names.map((name) => ({ name, ...result })), voucher: null, why: result.message };
}
