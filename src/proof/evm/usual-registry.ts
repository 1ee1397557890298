/** The address of AnchorRegistry on every chain, which follows from its code by CREATE2; a test derives it again. */
import type { Hex } from 'viem';

export const usualRegistry: Hex = '0xcfaee48d743f42264aaf3521fc464606cfafe23a';
