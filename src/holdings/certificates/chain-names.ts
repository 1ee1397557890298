/** Common names of chains for documents: a lawyer cannot tell a chain by its number. */

/** Null for an unknown chain; its id still identifies it. */
export function chainName(chainId: number): string | null {
  return names.get(chainId) ?? null;
}

const names = new Map([
  [1, 'Ethereum'],
  [10, 'OP Mainnet'],
  [56, 'BNB Smart Chain'],
  [100, 'Gnosis Chain'],
  [137, 'Polygon PoS'],
  [324, 'ZKsync Era'],
  [8_453, 'Base'],
  [42_161, 'Arbitrum One'],
  [42_220, 'Celo'],
  [43_114, 'Avalanche C-Chain'],
  [59_144, 'Linea'],
  [534_352, 'Scroll'],
  [10_200, 'Chiado (a test network of Gnosis Chain)'],
  [17_000, 'Holesky (a test network of Ethereum)'],
  [80_002, 'Amoy (a test network of Polygon)'],
  [84_532, 'Base Sepolia (a test network)'],
  [421_614, 'Arbitrum Sepolia (a test network)'],
  [560_048, 'Hoodi (a test network of Ethereum)'],
  [11_155_111, 'Sepolia (a test network of Ethereum)'],
  [11_155_420, 'OP Sepolia (a test network)'],
]);
