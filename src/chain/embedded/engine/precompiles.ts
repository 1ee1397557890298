/** The precompiled contracts: each call of one is a moment to look at the deadline, and two are replaced. */

import type { Common } from '@ethereumjs/common';
import { type CustomPrecompile, EVMError, getActivePrecompiles, type PrecompileInput } from '@ethereumjs/evm';
import { createAddressFromString } from '@ethereumjs/util';
import type { Deadline } from './deadline.ts';

/** EIP-7823, which is later than Prague. Without it, a long exponent takes minutes for little gas. */
const longestModexpNumber = 1_024n;

const modexp = `${'00'.repeat(19)}05`;
/** The point evaluation of EIP-4844 needs a trusted setup of 800 KB; this chain has no blobs. */
const pointEvaluation = `${'00'.repeat(19)}0a`;

export function customPrecompiles(common: Common, deadline: Deadline): CustomPrecompile[] {
  return [...getActivePrecompiles(common)].map(([address, run]) => ({
    address: createAddressFromString(`0x${address}`),
    function(input) {
      deadline.check();
      const fails = address === pointEvaluation || (address === modexp && hasLongNumber(input));
      return fails ? failure(input) : run(input);
    },
  }));
}

function hasLongNumber({ data }: PrecompileInput): boolean {
  return [0, 32, 64].some((at) => {
    const length = Buffer.alloc(32);
    length.set(data.subarray(at, at + 32));
    return BigInt(`0x${length.toString('hex')}`) > longestModexpNumber;
  });
}

function failure({ gasLimit }: PrecompileInput) {
  return {
    executionGasUsed: gasLimit,
    exceptionError: new EVMError(EVMError.errorMessages.OUT_OF_GAS),
    returnValue: new Uint8Array(),
  };
}
