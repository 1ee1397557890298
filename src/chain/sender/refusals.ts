/** Interprets a node's answer to a raw transaction. Only this file knows the wordings of the various clients. */
import { type RpcFault, rpcFaultOf } from '../rpc/json-rpc.ts';

/**
 * - `taken`: the node accepted it
 * - `known`: the node already had it
 * - `nonce_used`: some transaction with this nonce is in a block
 * - `underpriced`: the node requires a higher fee
 * - `no_funds`: the account cannot pay for it
 * - `more_gas`: its gas limit is below the current cost of its bytes; on a rollup that cost changes by the minute
 * - `never`: no node will ever accept these bytes
 * - `later`: refused for now, or for an unknown reason
 */
export type Verdict =
  | 'taken'
  | 'known'
  | 'nonce_used'
  | 'underpriced'
  | 'no_funds'
  | 'more_gas'
  | 'never'
  | 'later';

export interface Refusal {
  verdict: Exclude<Verdict, 'taken'>;
  /** In the node's words. */
  reason: string;
}

/**
 * The first match counts, so narrow patterns come before wide ones ("replacement … underpriced" is about more than the
 * fee, "future transaction tries to replace" is not about the fee at all).
 */
const wordings: [Refusal['verdict'], RegExp[]][] = [
  [
    'later',
    [
      // geth: a nonce behind a gap must not evict pending transactions.
      /future transaction tries to replace/i,
      // Nonce gaps: geth, Besu, Nethermind. The missing transactions will be sent again first.
      /nonce too high|nonce gap|NonceGap|nonce is too distant|NonceTooFar/i,
      /lower nonce exists/i,
      // Full pools and limits per account: geth, reth, Erigon, Nethermind.
      /pool is full|account limit exceeded|exceeds the limit of pending|AccountLimit|in-flight transaction limit/i,
      /already reserved/i,
      // A node's own limit on the total cost of a transaction (--rpc.txfeecap).
      /exceeds the configured cap|fee cap exceeded/i,
    ],
  ],
  [
    'known',
    [
      // geth, reth, Erigon; Nethermind; Besu; anvil; OpenEthereum.
      /already known|AlreadyKnown|\bknown transaction/i,
      /already imported|AlreadyImported|already in (the )?(mem)?pool|existing tx with same hash/i,
      /same hash was already imported|already exists/i,
    ],
  ],
  [
    'nonce_used',
    [/nonce too low|nonce is too low|OldNonce|nonce has already been used|invalid transaction nonce/i],
  ],
  [
    'no_funds',
    [
      // "insufficient funds for gas * price + value" of geth, reth, Erigon and anvil; Nethermind; Besu.
      /insufficient funds|InsufficientFunds|insufficient balance/i,
      /upfront cost exceeds account balance|does ?n[o']t have enough funds/i,
    ],
  ],
  [
    'underpriced',
    [
      /underpriced|could not replace existing|ReplacementNotAllowed|OwnNonceAlreadyUsed/i,
      /insufficient gas price to replace|replacement (fee|transaction)/i,
      // Below the base fee: geth, reth and anvil; Besu; Erigon, Nethermind.
      /(fee cap|max fee per gas|maxFeePerGas|gas price)[^:]*(less than|below|lower than)/i,
      /fee too low|FeeTooLow|gas price too low|tip too low|MaxFeePerGas/i,
    ],
  ],
  [
    'more_gas',
    [
      // Less gas than its bytes cost: geth, reth, anvil and Arbitrum; Besu; since Prague also the EIP-7623 floor.
      /intrinsic gas|floor data gas|gas floor|gas limit (is )?too low/i,
    ],
  ],
  [
    'never',
    [
      // More gas than a block has, or than EIP-7825 allows.
      /(exceeds|above|greater than|higher than)( the)?( current)? block gas limit|GasLimitExceeded/i,
      /gas limit (is )?too high|max(imum)? (transaction|tx) gas limit|gas uint64 overflow/i,
      /oversized data|max initcode size|init ?code (size )?(too large|exceed)|rlp too long|MaxTxSizeExceeded/i,
      /negative value|Int256Overflow/i,
    ],
  ],
];

/** Null if no node gave a verdict on the transaction: unreachable, truncated, rate-limited, or not an RPC fault at all. */
export function readRefusal(error: unknown): Refusal | null {
  const fault = rpcFaultOf(error);
  // Some clients report a refusal with a code that means something else elsewhere: Besu has -32001 for a low nonce and
  // -32005 for too much gas. So the wording of a node's error decides, and the kind only if no wording matches.
  if (fault?.code === undefined) return null;
  const reason = wordsOf(fault);
  const found = wordings.find(([, patterns]) => patterns.some((pattern) => pattern.test(reason)));
  if (found) return { verdict: found[0], reason };
  return fault.kind === 'refused' ? { verdict: 'later', reason } : null;
}

/** Strips the call and host at the start of the fault's message, and the code at its end. */
function wordsOf({ message, code }: RpcFault): string {
  return message.replace(/^\S+ at \S+: /, '').replace(` (${code})`, '');
}
