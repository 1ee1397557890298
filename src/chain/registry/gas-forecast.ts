/** How many anchors an account can pay for at current fees. */
import type { Address, PublicClient } from 'viem';
import { offeredFees } from './registry-deployment.ts';

/** Measured: 46,409; a test ensures at most 46,500. */
const gasPerAnchor = 46_500n;

export interface GasForecast {
  balanceWei: string;
  anchorsLeft: number;
}

export async function forecastGas(client: PublicClient, address: Address): Promise<GasForecast> {
  const [balance, fees] = await Promise.all([client.getBalance({ address }), offeredFees(client)]);
  // The current cost, not the doubled offer that allows for rising fees.
  const perGasWei =
    fees.type === 'legacy' ? fees.gasPrice : (fees.maxFeePerGas + fees.maxPriorityFeePerGas) / 2n;
  const anchorsLeft =
    perGasWei === 0n ? Number.MAX_SAFE_INTEGER : Number(balance / (gasPerAnchor * perGasWei));
  return { balanceWei: String(balance), anchorsLeft: Math.min(anchorsLeft, Number.MAX_SAFE_INTEGER) };
}
