/** What the package offers: the verifier of proofs and histories, and a chain to ask. Uses no API of Node.js. */
import { createAnchorReader } from '../../../../src/chain/registry/anchor-reader.ts';
import { askAgain } from '../../../../src/chain/rules/not-now.ts';
import { registryCode, usualRegistry } from '../../../../src/proof/evm/usual-registry.ts';
import { verifyHistory as checkHistory } from '../../../../src/proof/verify/history.ts';
import { readTrust as parseTrust, shippedTrust } from '../../../../src/proof/verify/trust.ts';
import { verifyProof as checkProof } from '../../../../src/proof/verify/verify.ts';
import { createRpcCall } from './rpc-call.ts';

export type Hex = `0x${string}`;

/** What must be checked fails or passes; what could not be checked is skipped, and skipped is never pass. */
export type Verdict = 'pass' | 'fail' | 'incomplete';

export interface Step {
  /** digest, claims, leaf, path, seal, time; and for each anchor registry, chain, finality, token, block. */
  name: string;
  status: 'pass' | 'fail' | 'skipped';
  message: string;
  /** The anchor that it is about, by its place in the document. */
  anchor?: number;
  renewal?: number;
  /** Skipped only because the chain could not be reached: worth a retry. */
  notNow?: true;
}

export interface Verification {
  verdict: Verdict;
  /** The verdict in one sentence. */
  summary: string;
  /** The trusted clocks that say when it existed, earliest first; `time` in milliseconds since 1970. */
  vouchers: { time: number; by: string; isShipped: boolean }[];
  steps: Step[];
}

export interface HistoryVerification {
  verdict: Verdict;
  /** Each proof on its own. */
  proofs: Verification[];
  /** Whether they form one chain of custody. */
  chain: { status: 'pass' | 'fail' | 'skipped'; message: string };
}

/** Whom to trust, beside the public chains that are known; as in a trust file (`holdfast/trust@1`). */
export interface Trust {
  chains?: { chainId: number; genesisHash: Hex; finality: 'finalized' | number }[];
  blocks?: { chainId: number; number: number; hash: Hex }[];
  /** Certificates of timestamp authorities, in PEM. */
  tsaRoots?: string[];
  tsaPolicies?: string[];
  /** Lists of revoked certificates, in PEM: they count whatever a proof contains. */
  crls?: string[];
  /** SHA-256 of certificates of timestamp authorities that do not count. */
  revoked?: Hex[];
  bitcoin?: { height: number; hash: Hex }[];
}

/** A node of the chain that has the anchors. */
export interface Chain {
  chainId(): Promise<number>;
  genesisHash(): Promise<Hex>;
}

export interface Options {
  /** A node to ask, from `chainAt`. Without it only what needs no node is checked. */
  chain?: Chain;
  /** Instead of the roots of timestamp authorities that ship with the verifier. */
  trust?: Trust;
  /** The time of judgement in milliseconds since 1970; by default now. */
  at?: number;
  /** A registry at another address. */
  registry?: Hex;
}

export interface ProofOptions extends Options {
  /** The bytes of a file, whole or in pieces; or the data of a record as an object or as JSON text. */
  content?: Uint8Array | AsyncIterable<Uint8Array> | string | object;
  /** A salt that its owner keeps out of the document. */
  salt?: Hex;
}

type Given = NonNullable<Parameters<typeof checkProof>[1]>;

/** Takes the proof as JSON text, which allows one more check (a name that occurs twice), or parsed. */
export async function verifyProof(proof: unknown, options: ProofOptions = {}): Promise<Verification> {
  const { content, salt } = options;
  return checkProof(proof, { ...given(options), content: bytesOf(content), salt });
}

/** Takes a `holdfast/history@1`, such as that of a file with `format: 'proof'`. */
export async function verifyHistory(history: unknown, options: Options = {}): Promise<HistoryVerification> {
  return checkHistory(history, given(options));
}

/** Asks this node over JSON-RPC; the relay of a service is its path /verify/rpc. */
export function chainAt(url: string | URL): Chain {
  return createAnchorReader(askAgain(createRpcCall(url), { mostAgain: 3, longestPauseMs: 2_000 }));
}

/**
 * Trusts the clock of the chain that this node serves, whichever it is. For development: the operator of an embedded
 * chain can set its clock, and a node can serve any chain.
 */
export async function trustNode(chain: Chain): Promise<Trust> {
  const [chainId, genesisHash] = await Promise.all([chain.chainId(), chain.genesisHash()]);
  return { chains: [{ chainId, genesisHash, finality: 0 }] };
}

/** Checks a trust file, as text or parsed; throws an Error that says what is wrong with it. */
export function readTrust(file: unknown): Trust {
  const document: unknown = typeof file === 'string' ? JSON.parse(file) : file;
  parseTrust(document);
  const { format: _, ...trust } = document as Trust & { format: string };
  return trust;
}

function given({ chain, trust, at, registry = usualRegistry }: Options): Given {
  return {
    chain: chain as ReturnType<typeof createAnchorReader> | undefined,
    trust: trust === undefined ? shippedTrust : parseTrust({ format: 'holdfast/trust@1', ...trust }),
    registry: { address: registry.toLowerCase() as Hex, codeHash: registryCode },
    ...(at !== undefined && { at }),
  };
}

function bytesOf(content: ProofOptions['content']): Given['content'] {
  if (content === undefined || content instanceof Uint8Array) return content;
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (Symbol.asyncIterator in content) return content as AsyncIterable<Uint8Array>;
  return new TextEncoder().encode(JSON.stringify(content));
}
