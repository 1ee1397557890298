/** The address of AnchorRegistry on every chain, which follows from its code by CREATE2; a test derives it again. */
import type { Hex } from 'viem';

export const usualRegistry: Hex = '0xcfaee48d743f42264aaf3521fc464606cfafe23a';
/** Keccak-256 of its code, for another address. */
export const registryCode: Hex = '0x306c55ab61d7e86e32417b2c6fa63432f43e36a870a6cdf8c63b691291b51de0';
