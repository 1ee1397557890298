/** Verifies the proofs of an archive, as they were given out then and as they are given out now. */
import assert from 'node:assert/strict';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { readTrustAnchors } from '../../src/proof/rfc3161/certificates.ts';
import type { Proof } from '../../src/proof/verify/proof.ts';
import { shippedTrust, type Trust } from '../../src/proof/verify/trust.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import type { Service } from '../support/service/service.ts';
import type { Summary } from './summary.ts';

export interface VerifyContext {
  call: Service['call'];
  trust?: Trust;
  at?: number;
}

/** The authority of then, as long as its certificates were valid. */
export function trustOf({ timestampRoot, createdAt }: Summary): Pick<VerifyContext, 'trust' | 'at'> {
  if (timestampRoot === undefined) return {};
  const tsaRoots = readTrustAnchors(timestampRoot);
  return {
    trust: { ...shippedTrust, isShipped: false, tsaRoots },
    at: Date.parse(createdAt) + 60 * 60 * 1000,
  };
}

export async function assertVerifies(
  { of, content }: Summary['proofs'][number],
  proof: Proof,
  // Blocks of the embedded chain that follow each other fast are ahead of the clock.
  { call, trust, at = Date.now() + 60 * 60 * 1000 }: VerifyContext,
): Promise<void> {
  const { steps } = await verifyProof(JSON.stringify(proof), {
    ...{
      chain: relayReader({ call }),
      registry: { address: registryAddress, codeHash: registryCodeHash },
      at,
    },
    ...(trust && { trust }),
    ...(content !== null && { content: Buffer.from(content) }),
  });
  const anchors = [proof, ...proof.renewals].flatMap(({ anchors }) => anchors.map(({ type }) => type));
  const stamped = anchors.includes('rfc3161');
  const expected: Record<string, string> = {
    digest: 'pass',
    ...(['signoff', 'passkey'].includes(proof.kind) && content !== null && { signature: 'pass' }),
    claims: proof.claims === null ? 'skipped' : 'pass',
    leaf: 'pass',
    path: 'pass',
    seal: 'pass',
    registry: 'pass',
    chain: 'pass',
    // The chain of an installation is known to nobody else: not when its blocks are final, and not whether its clock is right.
    finality: 'skipped',
    ...(stamped && { token: 'pass' }),
    // Nobody here trusts the block of a test.
    ...(anchors.includes('opentimestamps') && { block: 'skipped' }),
    ...(proof.renewals.length > 0 && { renewal: 'pass' }),
    time: stamped ? 'pass' : 'skipped',
  };
  const names = new Set<string>(steps.map(({ name }) => name));
  assert.deepEqual([...names].sort(), Object.keys(expected).sort(), of);
  for (const { name, status, message } of steps) assert.equal(status, expected[name], `${of}: ${message}`);
}
