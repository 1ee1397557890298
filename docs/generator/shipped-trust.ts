/** The shipped trust as JSON, for verifiers in other languages. */
import { knownChains } from '../../src/proof/evm/known-chains.ts';
import { toHex } from '../../src/proof/hex.ts';
import { shippedRoots } from '../../src/proof/rfc3161/shipped-roots.ts';

export function shippedTrustFile(): string {
  const chains = knownChains.map(({ test, ...chain }) => ({ ...chain, testNetwork: test }));
  const timestampRoots = shippedRoots.map(({ subject, spki, notBefore, notAfter, ...root }) => ({
    ...root,
    notBefore: seconds(notBefore),
    notAfter: seconds(notAfter),
    subject: toHex(subject),
    publicKey: toHex(spki),
  }));
  return `${JSON.stringify({ chains, timestampRoots }, null, 2)}\n`;
}

function seconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z');
}
