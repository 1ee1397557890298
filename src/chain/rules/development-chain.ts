/**
 * Tells a chain whose operator can set its clock, which proves no time to anybody. Nothing that a document says is
 * used, and in doubt it is one: a chain that is taken for a development chain wrongly costs a step of a verification,
 * the other mistake would pass off a made-up time as evidence.
 */

/** From where the embedded chain draws its id, `from` included and `to` not. */
export const embeddedChainIds = { from: 2 ** 30, to: 2 ** 31 };

/** As a node answers to eth_chainId and web3_clientVersion. */
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

/** Also a node that continues a copy of a public chain says by its name what it is. */
function isDevelopmentNode(clientVersion: unknown): boolean {
  if (typeof clientVersion !== 'string' || clientVersion === '') {
    throw new Error('the node does not say which program it is');
  }
  return /anvil|hardhat|ganache|testrpc/i.test(clientVersion);
}

const usualDevelopmentIds = new Set([1_337, 31_337]);

/** The chains in that range that are known to be public; a test holds the list against viem's. */
const publicChains = new Set([
  1_187_947_933, 1_273_227_453, 1_313_161_554, 1_313_161_555, 1_350_216_234, 1_444_673_419, 1_482_601_649,
  1_523_903_251, 1_564_830_818, 1_660_990_954, 1_666_600_000, 1_722_641_160, 1_802_203_764, 1_952_959_480,
  2_046_399_126, 2_139_927_552,
]);
