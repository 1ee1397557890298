/**
 * What can be said of Bitcoin's chain without asking anybody, so that neither a calendar nor whoever gives headers can name
 * just any block. Only the hash of a block is a proof; these bounds keep nonsense from being stored.
 */

/** Of December 2017. A block for a batch of this service is younger. */
const leastHeight = 500_000;
/** The first block, and how long one takes on average. */
const startedAt = Date.UTC(2009, 0, 3);
const blockMs = 600_000;
/** The chain has been faster than planned by up to some 5 %, because miners became more. */
const ahead = 1.1;

/** Whether a block of this height can exist at that time, in milliseconds since 1970. */
export function isPlausibleHeight(height: number, at: number): boolean {
  return height >= leastHeight && height <= ((at - startedAt) / blockMs) * ahead;
}

/** Of difficulty 1: a hash is to be smaller. */
const easiest = 0xffffn << 208n;
/** The difficulty of block 500,000 was 1.87 million million, and none after it was lower; one in 2026 has some 100 times that. */
const leastDifficulty = 10n ** 12n;
/** No block from block 500,000 on has a larger target. */
export const largestTarget = easiest / leastDifficulty;
