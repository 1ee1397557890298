/**
 * Recognizes chains whose operator can set the clock, so that their times prove nothing. It uses nothing from the
 * document, and in doubt it says yes: a false positive costs one step of a verification, a false negative would pass
 * off an invented time as evidence.
 */

/** The range of ids of embedded chains: `from` inclusive, `to` exclusive. */
export const embeddedChainIds = { from: 2 ** 30, to: 2 ** 31 };

/** Takes a node's answers to eth_chainId and web3_clientVersion. */
export function isDevelopmentChain({
  chainId,
  clientVersion,
}: {
  chainId: number;
  clientVersion: unknown;
}): boolean {
  const drawn = chainId >= embeddedChainIds.from && chainId < embeddedChainIds.to;
  if (drawn && !publicChains.has(chainId)) return true;
  return usualDevelopmentIds.has(chainId) || isDevelopmentNode(clientVersion);
}

/** The client name also reveals a development node that forked a public chain. */
function isDevelopmentNode(clientVersion: unknown): boolean {
  if (typeof clientVersion !== 'string' || clientVersion === '') {
    throw new Error('the node does not say which program it is');
  }
  return /anvil|hardhat|ganache|testrpc/i.test(clientVersion);
}

const usualDevelopmentIds = new Set([1_337, 31_337]);

/** The known public chains in that range; a test compares the list with viem's. */
const publicChains = new Set([
  1_187_947_933, 1_273_227_453, 1_313_161_554, 1_313_161_555, 1_350_216_234, 1_444_673_419, 1_482_601_649,
  1_523_903_251, 1_564_830_818, 1_660_990_954, 1_666_600_000, 1_722_641_160, 1_802_203_764, 1_952_959_480,
  2_046_399_126, 2_139_927_552,
]);
