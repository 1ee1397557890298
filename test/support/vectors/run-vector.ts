/** Gives a vector to the verifier, and says what came out in the vector's own form. */
import { createAnchorReader } from '../../../src/chain/registry/anchor-reader.ts';
import { registryCodeHash } from '../../../src/chain/registry/registry.ts';
import { usualRegistry } from '../../../src/proof/evm/usual-registry.ts';
import { type HistoryVerification, verifyHistory } from '../../../src/proof/verify/history.ts';
import { isoTime, type Verification } from '../../../src/proof/verify/steps.ts';
import { readTrust, type Trust } from '../../../src/proof/verify/trust.ts';
import { type VerifyOptions, verifyProof } from '../../../src/proof/verify/verify.ts';
import { parseJsonText } from '../../../src/runtime/json-text.ts';
import { replay } from './recorded-node.ts';
import type { Expected, Unusable, Vector } from './vector.ts';

/** Of a history, `steps` are those of all proofs, and `history` has what came out of each. */
export interface Ran extends Verification {
  history?: HistoryVerification;
  /** Nothing was judged. */
  unusable?: Unusable['unusable'];
}

export async function runVector(vector: Vector, verifiers = { verifyProof, verifyHistory }): Promise<Ran> {
  const trust = trustOf(vector);
  if (trust instanceof Error) {
    return { verdict: 'incomplete', summary: trust.message, vouchers: [], steps: [], unusable: 'trust' };
  }
  const [document, options] = [documentOf(vector), optionsOf(vector, trust)];
  if (!('chain' in vector.expected)) return verifiers.verifyProof(document, options);
  const { content, salt, passkeys, ...given } = options;
  if ([content, salt, passkeys].some((one) => one !== undefined))
    throw new Error('a history is judged without content');
  const history = await verifiers.verifyHistory(document, given);
  const { verdict, chain, proofs } = history;
  return {
    ...{ verdict, summary: chain.message, vouchers: [], history },
    steps: proofs.flatMap(({ steps }) => steps),
  };
}

/** As text: only text shows what occurs twice, or how a number is written. */
function documentOf({ proof, document }: Vector): string {
  return document ?? JSON.stringify(proof);
}

export function contentOf({ content }: Pick<Vector, 'content'>): Uint8Array | undefined {
  if (content === null) return undefined;
  return 'utf8' in content
    ? new TextEncoder().encode(content.utf8)
    : new Uint8Array(Buffer.from(content.base64, 'base64'));
}

/** Undefined if none is given; an Error if the one that is given cannot be used. */
function trustOf({ trust, trustDocument }: Vector): Trust | undefined | Error {
  try {
    if (trustDocument !== undefined) return readTrust(parseJsonText(trustDocument));
    return trust === null ? undefined : readTrust(trust);
  } catch (error) {
    return error as Error;
  }
}

function optionsOf(vector: Vector, trust: Trust | undefined): VerifyOptions {
  const { salt, passkeys, registry, at, rpc } = vector;
  return {
    content: contentOf(vector),
    ...{ salt, passkeys },
    registry: { address: registry ?? usualRegistry, codeHash: registryCodeHash },
    ...(trust ? { trust } : {}),
    ...(at === null ? {} : { at: Date.parse(at) }),
    ...(rpc ? { chain: createAnchorReader(replay(rpc)) } : {}),
  };
}

export function foundBy({ history, unusable, ...proof }: Ran): Vector['expected'] {
  if (unusable) return { unusable };
  if (!history) return foundByProof(proof);
  const { verdict, chain, proofs } = history;
  return { verdict, chain: chain.status, proofs: proofs.map(foundByProof) };
}

function foundByProof({ verdict, vouchers: [earliest], steps }: Verification): Expected {
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
