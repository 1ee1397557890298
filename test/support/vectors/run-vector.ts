/** Gives a vector to the verifier, and says what came out in the vector's own form. */
import { createAnchorReader } from '../../../src/chain/registry/anchor-reader.ts';
import { registryCodeHash } from '../../../src/chain/registry/registry.ts';
import { usualRegistry } from '../../../src/proof/evm/usual-registry.ts';
import { isoTime, type Verification } from '../../../src/proof/verify/steps.ts';
import { readTrust } from '../../../src/proof/verify/trust.ts';
import { type VerifyOptions, verifyProof } from '../../../src/proof/verify/verify.ts';
import { replay } from './recorded-node.ts';
import type { Expected, Vector } from './vector.ts';

export function runVector(vector: Vector): Promise<Verification> {
  return verifyProof(documentOf(vector), optionsOf(vector));
}

/** As text: only text shows what occurs twice, or how a number is written. */
export function documentOf({ proof, document }: Vector): string {
  return document ?? JSON.stringify(proof);
}

export function contentOf({ content }: Pick<Vector, 'content'>): Uint8Array | undefined {
  if (content === null) return undefined;
  return 'utf8' in content
    ? new TextEncoder().encode(content.utf8)
    : new Uint8Array(Buffer.from(content.base64, 'base64'));
}

export function optionsOf(vector: Vector): VerifyOptions {
  const { salt, registry, trust, at, rpc } = vector;
  return {
    content: contentOf(vector),
    salt,
    registry: { address: registry ?? usualRegistry, codeHash: registryCodeHash },
    ...(trust ? { trust: readTrust(trust) } : {}),
    at: Date.parse(at),
    ...(rpc ? { chain: createAnchorReader(replay(rpc)) } : {}),
  };
}

export function foundBy({ verdict, vouchers: [earliest], steps }: Verification): Expected {
  return {
    verdict,
    time: earliest ? isoTime(earliest.time) : null,
    steps: steps.map(({ name, renewal, anchor, status }) => ({
      name,
      ...(renewal === undefined ? {} : { renewal }),
      ...(anchor === undefined ? {} : { anchor }),
      status,
    })),
  };
}
