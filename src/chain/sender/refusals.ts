/** What a node's answer to a raw transaction means. The wordings of all clients are sorted here, once, and nowhere else. */
import { type RpcFault, rpcFaultOf } from '../rpc/json-rpc.ts';

/**
 * - `taken`: the node has it
 * - `known`: it had it already
 * - `nonce_used`: some transaction with this nonce is in a block
 * - `underpriced`: it wants a higher fee than this
 * - `no_funds`: the account cannot pay for it
 * - `more_gas`: its gas limit is below what its bytes cost today; a rollup's price for them changes by the minute
 * - `never`: no node will ever take these bytes
 * - `later`: refused for now, or for a reason that nobody foresaw
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
 * The first that matches counts, so what is narrow stands before what is wide ("replacement … underpriced" says more
 * than a fee, "future transaction tries to replace" is no question of the fee at all).
 */
const wordings: [Refusal['verdict'], RegExp[]][] = [
  [
    'later',
    [
      // geth: a nonce behind a gap must not push out what is pending.
      /future transaction tries to replace/i,
      // Nonce gaps, by geth, Besu, Nethermind. What lies before will be sent again first.
      /nonce too high|nonce gap|NonceGap|nonce is too distant|NonceTooFar/i,
      /lower nonce exists/i,
      // Full pools and limits of one account in them: geth, reth, Erigon, Nethermind.
      /pool is full|account limit exceeded|exceeds the limit of pending|AccountLimit|in-flight transaction limit/i,
      /already reserved/i,
      // A node's own policy on what a transaction may cost in all (--rpc.txfeecap).
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
      // Less gas than its bytes cost: geth, reth, anvil and Arbitrum; Besu; since Prague also the floor of EIP-7623.
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

/** Null where no node gave an opinion on the transaction: unreachable, cut short, limited, or no fault of a node at all. */
export function readRefusal(error: unknown): Refusal | null {
  const fault = rpcFaultOf(error);
  // Some clients put a refusal under a code that means something else elsewhere: Besu has -32001 for a low nonce and
  // -32005 for too much gas. So the words count for every error that a node told, and the kind only where they say nothing.
  if (fault?.code === undefined) return null;
  const reason = wordsOf(fault);
  const found = wordings.find(([, patterns]) => patterns.some((pattern) => pattern.test(reason)));
  if (found) return { verdict: found[0], reason };
  return fault.kind === 'refused' ? { verdict: 'later', reason } : null;
}

/** The fault's message begins with call and host, and ends with the code. */
function wordsOf({ message, code }: RpcFault): string {
  return message.replace(/^\S+ at \S+: /, '').replace(` (${code})`, '');
}
