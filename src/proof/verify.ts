/** The verifier: checks a proof step by step, and trusts nothing in the document about where to look. */
import type { Hex } from 'viem';
import { parseJsonText } from '../runtime/json-text.ts';
import { CanonicalJsonError } from './canonical.ts';
import type { ChainReader, Registry } from './chain-reader.ts';
import { type Content, contentDigest } from './content.ts';
import { fromHex, toHex } from './hex.ts';
import type { Fault } from './json-shape.ts';
import { plainKeccak } from './keccak.ts';
import { claimsHash, hashOfText, leafDomain, leafDomainHash, leafHash, subjectHash } from './leaf.ts';
import { foldPath } from './merkle.ts';
import { type ParsedProof, type Proof, parseProof } from './proof.ts';
import { recoverSigner, signatureFault } from './seal.ts';
import { conclude, fail, pass, type StepName, type StepResult, skip, type Verification } from './steps.ts';
import { checkAnchors } from './verify-anchors.ts';

export interface VerifyOptions {
  /** The file's bytes, or a record's data as JSON text; without it `digest` is skipped. */
  content?: Content | undefined;
  /** The salt of an HMAC, if its owner keeps it out of the document. */
  salt?: Hex | undefined;
  /** Without it, or without a registry, all steps on the chain are skipped. */
  chain?: ChainReader | undefined;
  registry?: Registry | undefined;
}

/** Takes the document as JSON text, or parsed. Text allows one more check: a name that occurs twice is refused. */
export async function verifyProof(document: unknown, options: VerifyOptions = {}): Promise<Verification> {
  const { proof, faults } = read(document);
  if (proof === null) return conclude(malformed(faults));
  const leaf = checkLeaf(proof);
  const path = leaf.status === 'pass' ? checkPath(proof) : skip('There is no leaf to start from.');
  return conclude({
    digest: await checkDigest(proof, options),
    claims: checkClaims(proof),
    leaf,
    path,
    seal: await checkSeal(proof),
    ...(await checkAnchors(proof, { ...options, rooted: path.status === 'pass' })),
  });
}

async function checkDigest({ content, leaf }: Proof, options: VerifyOptions): Promise<StepResult> {
  if (content.digest !== leaf.values[2]) return fail('content.digest is not the digest in the leaf.');
  if (options.content === undefined) return skip('No content was given to compare with the digest.');
  const salt = content.canonicalization === 'raw' ? null : (content.salt ?? options.salt ?? null);
  if (content.salt !== null && options.salt !== undefined && options.salt !== content.salt) {
    return fail('content.salt is not the salt that was given.');
  }
  if (content.canonicalization !== 'raw' && salt === null) {
    return skip('The document does not contain the salt, and none was given.');
  }
  try {
    const digest = await contentDigest({ ...content, salt }, options.content);
    if (digest === content.digest) return pass(`The content has the digest ${digest}.`);
    return fail(`The content has the digest ${digest}, but the proof is for ${content.digest}.`);
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    return fail(`The content is not the JSON of a record: ${error.message}`);
  }
}

function checkClaims({ claims, leaf }: Proof): StepResult {
  if (claims === null) return skip('The claims were erased.');
  try {
    if (claimsHash(claims) === leaf.values[7]) return pass('The claims match the hash in the leaf.');
    return fail('The claims do not match the hash in the leaf.');
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    return fail(error.message);
  }
}

function checkLeaf({ kind, subject, leaf: { values } }: Proof): StepResult {
  if (values[0] !== leafDomainHash) return fail(`The leaf's domain is not ${leafDomain}.`);
  if (values[1] !== hashOfText(kind)) return fail(`The leaf's kind is not ${kind}.`);
  if (values[3] !== subjectHash(subject)) {
    return fail(`The leaf's subject is not ${subject.workspaceId}/${subject.id}.`);
  }
  return pass(`The leaf is ${toHex(leafHash(values))}.`);
}

function checkPath({ leaf, merkle, seal }: Proof): StepResult {
  const { depth, subtreeRoot } = seal;
  if (depth > merkle.proof.length) {
    return fail(`seal.depth is ${depth}, but the path has only ${merkle.proof.length} elements.`);
  }
  const pathOf = (hashes: Hex[]) => fromHex(`0x${hashes.map((hash) => hash.slice(2)).join('')}`);
  const lower = foldPath(leafHash(leaf.values), pathOf(merkle.proof.slice(0, depth)), plainKeccak);
  if (toHex(lower) !== subtreeRoot)
    return fail(`The leaf leads to ${toHex(lower)}, not to the subtree root.`);
  const root = foldPath(lower, pathOf(merkle.proof.slice(depth)), plainKeccak);
  if (toHex(root) !== merkle.root) return fail(`The subtree leads to ${toHex(root)}, not to the root.`);
  return pass(`The leaf is under the root ${merkle.root}.`);
}

async function checkSeal({ leaf, seal }: Proof): Promise<StepResult> {
  if (seal.vault !== leaf.values[6])
    return fail(`The seal is from ${seal.vault}, but the leaf is from another vault.`);
  const fault = signatureFault(seal.signature);
  if (fault !== null) return fail(`The signature is refused: ${fault}.`);
  const signer = await recoverSigner(seal, seal.signature);
  if (signer !== seal.vault) return fail(`The signer is ${signer ?? 'nobody'}, not ${seal.vault}.`);
  const size = seal.leaves === 1 ? '1 leaf' : `${seal.leaves} leaves`;
  return pass(`${seal.vault} signed the subtree with ${size} as its seal number ${seal.sequence}.`);
}

function read(document: unknown): ParsedProof {
  if (typeof document !== 'string') return parseProof(document);
  try {
    return parseProof(parseJsonText(document));
  } catch (error) {
    return {
      proof: null,
      faults: [{ path: '', message: `is not usable JSON: ${(error as Error).message.replace(/\.$/, '')}` }],
    };
  }
}

/** A malformed field fails the step that would have used it; nothing else can be checked. */
function malformed(faults: Fault[]): Record<StepName, StepResult> {
  const resultOf = (step: StepName): StepResult => {
    const mine = faults.filter(({ path }) => stepOf(path) === step);
    if (mine.length === 0) return skip('The document is malformed.');
    return fail(mine.map(({ path, message }) => `${path || 'The document'} ${message}.`).join(' '));
  };
  return {
    digest: resultOf('digest'),
    claims: resultOf('claims'),
    leaf: resultOf('leaf'),
    path: resultOf('path'),
    seal: resultOf('seal'),
    registry: resultOf('registry'),
    chain: resultOf('chain'),
    time: resultOf('time'),
    finality: resultOf('finality'),
  };
}

/** Format, kind, subject and unknown fields count towards the leaf step, because they determine the leaf. */
function stepOf(path: string): StepName {
  if (path === 'seal.depth') return 'path';
  if (/^anchors\[\d+\]\.contract$/.test(path)) return 'registry';
  if (/^anchors\[\d+\]\.blockTime$/.test(path)) return 'time';
  const [, part = ''] = /^(\w+)/.exec(path) ?? [];
  return partSteps[part] ?? 'leaf';
}

const partSteps: Record<string, StepName> = {
  content: 'digest',
  claims: 'claims',
  merkle: 'path',
  seal: 'seal',
  anchors: 'chain',
};
