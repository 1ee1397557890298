/** The genesis of a new embedded chain: its own chain id, and its initial accounts. */
import { randomInt } from 'node:crypto';
import { type Hex, numberToHex } from 'viem';
import type { ChainBirth } from './journal.ts';

/** Accounts by address. Code without a balance is for predeployed contracts. */
export type Alloc = Record<Hex, { balanceWei?: bigint; code?: Hex; nonce?: number }>;

/** The range of ids of embedded chains: `from` inclusive, `to` exclusive. */
export const embeddedChainIds = { from: 2 ** 30, to: 2 ** 31 };

/** The public chains in that range, whose transactions could be replayed; a test compares the list with viem's. */
export const publicChains: ReadonlySet<number> = new Set([
  1_187_947_933, 1_273_227_453, 1_313_161_554, 1_313_161_555, 1_350_216_234, 1_444_673_419, 1_482_601_649,
  1_523_903_251, 1_564_830_818, 1_660_990_954, 1_666_600_000, 1_722_641_160, 1_802_203_764, 1_952_959_480,
  2_046_399_126, 2_139_927_552,
]);

/**
 * Random per installation, drawn once and stored. A well-known id such as 31337 would let a transaction that was
 * signed for one development chain be replayed on another (EIP-155), and would let proofs of two installations look
 * like proofs of one chain. 31 bits, because some wallets and tools keep chain ids in 32 bits; from 2^30 on, where few
 * chains are registered.
 */
function drawChainId(): number {
  for (;;) {
    const chainId = randomInt(embeddedChainIds.from, embeddedChainIds.to);
    if (!publicChains.has(chainId)) return chainId;
  }
}

export function newChain(alloc: Alloc, now: Date): ChainBirth {
  const chainId = drawChainId();
  const zeroHash = numberToHex(0, { size: 32 });
  const genesis = {
    config: { chainId },
    nonce: '0x0',
    timestamp: numberToHex(Math.floor(now.getTime() / 1000)),
    extraData: '0x',
    gasLimit: numberToHex(30_000_000),
    difficulty: '0x0',
    mixHash: zeroHash,
    coinbase: numberToHex(0, { size: 20 }),
    alloc: Object.fromEntries(
      Object.entries(alloc).map(([address, { balanceWei = 0n, code, nonce }]) => [
        address,
        {
          balance: numberToHex(balanceWei),
          ...(nonce !== undefined && { nonce: numberToHex(nonce) }),
          ...(code !== undefined && { code }),
        },
      ]),
    ),
  };
  return { chainId, genesis: JSON.stringify(genesis) };
}
