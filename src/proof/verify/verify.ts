/** The verifier: checks a proof step by step, and trusts nothing in the document about where to look. */
import type { Hex } from 'viem';
import { parseJsonText } from '../../runtime/json-text.ts';
import { CanonicalJsonError } from '../canonical.ts';
import { type Content, contentDigest, wholeOf } from '../content.ts';
import { fromHex, toHex } from '../hex.ts';
import type { Fault } from '../json-shape.ts';
import { plainKeccak } from '../keccak.ts';
import { claimsHash, kindHash, leafDomain, leafDomainHash, leafHash, subjectHash } from '../leaf.ts';
import { foldPath } from '../merkle.ts';
import { recoverSigner, sealId, signatureFault } from '../seal.ts';
import { checkSignature, isSignedKind, readSignedText } from '../signoff/signature-step.ts';
import type { SignoffDocument } from '../signoff/signoff-document.ts';
import type { ClockGiven } from './clock.ts';
import { judgeClocks } from './clocks.ts';
import { checkPasskey } from './passkey-step.ts';
import { type ParsedProof, type Proof, parseProof } from './proof.ts';
import {
  documentSteps,
  fail,
  pass,
  passkeyStep,
  type Step,
  type StepName,
  type StepResult,
  signatureStep,
  skip,
  type Verification,
  verdictOf,
} from './steps.ts';
import { summaryOf } from './summary.ts';
import { shippedTrust } from './trust.ts';

export interface VerifyOptions extends Partial<Omit<ClockGiven, 'until'>> {
  /** The file's bytes, or a record's data as JSON text; without it the verdict is about the digest. */
  content?: Content | undefined;
  /** The salt of an HMAC, if its owner keeps it out of the document. */
  salt?: Hex | undefined;
  /** What was anchored of the passkeys of workers, as JSON Lines: for a sign-off, with its content. */
  passkeys?: string | undefined;
}

/** Takes the document as JSON text, or parsed. Text allows one more check: a name that occurs twice is refused. */
export async function verifyProof(document: unknown, options: VerifyOptions = {}): Promise<Verification> {
  const { trust = shippedTrust, at = Date.now(), chain, registry } = options;
  const { proof, faults } = read(document);
  if (proof === null) return conclude(malformed(faults), []);
  const leaf = checkLeaf(proof);
  const path = leaf.status === 'pass' ? checkPath(proof) : skip('There is no leaf to start from.');
  const given = await readSigned(proof, options);
  const digest = await checkDigest(proof, given);
  const results: Record<string, StepResult> = {
    digest,
    ...(given.signed && (await checkSigned(proof, given.signed, { ...options, digest }))),
    claims: checkClaims(proof),
    leaf,
    path,
    seal: checkSeal(proof),
  };
  // A block may be some seconds ahead of this clock: later than now is not absent.
  const until = options.at ?? Number.POSITIVE_INFINITY;
  const clocks = await judgeClocks(proof, path.status === 'pass', { trust, at, until, chain, registry });
  const steps = Object.entries(results).map(([name, result]) => ({ name: name as StepName, ...result }));
  return conclude([...steps, ...clocks.steps, { name: 'time', ...clocks.time }], clocks.vouchers, {
    proof,
    hasContent: options.content !== undefined,
    at,
  });
}

function conclude(
  steps: Step[],
  vouchers: Verification['vouchers'],
  about?: Parameters<typeof summaryOf>[1],
): Verification {
  const verdict = verdictOf(steps);
  return { verdict, summary: summaryOf({ verdict, steps, vouchers }, about), vouchers, steps };
}

async function checkDigest({ content, leaf }: Proof, options: VerifyOptions): Promise<StepResult> {
  if (content.digest !== leaf.values[2]) return fail('content.digest is not the digest in the leaf.');
  if (options.content === undefined) {
    return pass(`The leaf has the digest ${content.digest}. No content was given to compare with it.`);
  }
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

/** The content of a sign-off is read twice: for its digest, and for its signature. Any other may be larger than memory. */
async function readSigned(
  { kind, content }: Proof,
  options: VerifyOptions,
): Promise<VerifyOptions & { signed?: Uint8Array }> {
  if (!isSignedKind(kind) || content.canonicalization !== 'jcs' || options.content === undefined)
    return options;
  const signed = await wholeOf(options.content);
  return { ...options, content: signed, signed };
}

/** Whose signature it is, and for a sign-off, whether the worker had that passkey. */
async function checkSigned(
  { kind, subject, claims, leaf }: Proof,
  content: Uint8Array,
  { digest, passkeys, ...options }: VerifyOptions & { digest: StepResult },
): Promise<Record<string, StepResult>> {
  const [, , , , version, , vault] = leaf.values;
  const signature =
    digest.status === 'pass'
      ? await checkSignature({ kind, subject, claims, version, vault }, content)
      : skip('The content is not the one that the proof is about.');
  if (kind !== 'signoff' || passkeys === undefined) return { [signatureStep]: signature };
  const verify = (proof: Proof, content: Uint8Array) =>
    verifyProof(proof, { ...options, content, salt: undefined });
  const passkey =
    signature.status === 'pass'
      ? await checkPasskey(readSignedText(content) as SignoffDocument, passkeys, verify)
      : skip('Without the signature of a worker, there is nobody whose passkey it could be.');
  return { [signatureStep]: signature, [passkeyStep]: passkey };
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

function checkLeaf({ kind, subject, content, leaf: { values } }: Proof): StepResult {
  if (values[0] !== leafDomainHash) return fail(`The leaf's domain is not ${leafDomain}.`);
  const { canonicalization } = content;
  if (values[1] !== kindHash({ kind, canonicalization })) {
    return fail(`The leaf's kind is not ${kind} with the canonicalization ${canonicalization}.`);
  }
  if (isSignedKind(kind) && canonicalization !== 'jcs') {
    return fail(
      `The canonicalization of the kind ${kind} is jcs, not ${canonicalization}: no other is signed.`,
    );
  }
  if (values[3] !== subjectHash(subject)) {
    return fail(`The leaf's subject is not ${subject.workspaceId}/${subject.id}.`);
  }
  return pass(`The leaf is ${toHex(leafHash(values))}.`);
}

function checkPath({ leaf, merkle, seal }: Proof): StepResult {
  const { depth, subtreeRoot, leaves } = seal;
  if (depth >= merkle.proof.length) {
    return fail(`seal.depth is ${depth}, but the path has only ${merkle.proof.length} elements.`);
  }
  if (!fitsTree(depth, leaves)) return fail(`No leaf of a tree of ${leaves} has the depth ${depth}.`);
  const pathOf = (hashes: Hex[]) => fromHex(`0x${hashes.map((hash) => hash.slice(2)).join('')}`);
  const lower = foldPath(leafHash(leaf.values), pathOf(merkle.proof.slice(0, depth)), plainKeccak);
  if (toHex(lower) !== subtreeRoot)
    return fail(`The leaf leads to ${toHex(lower)}, not to the subtree root.`);
  const root = foldPath(lower, pathOf(merkle.proof.slice(depth)), plainKeccak);
  if (toHex(root) !== merkle.root) return fail(`The subtree leads to ${toHex(root)}, not to the root.`);
  return pass(`The leaf is under the root ${merkle.root}.`);
}

/** A complete binary tree has its leaves on one level, or on two. */
function fitsTree(depth: number, leaves: number): boolean {
  return 2 ** depth < 2 * leaves && leaves < 2 ** (depth + 1);
}

function checkSeal({ leaf, merkle, seal }: Proof): StepResult {
  if (seal.vault !== leaf.values[6])
    return fail(`The seal is from ${seal.vault}, but the leaf is from another vault.`);
  const fault = signatureFault(seal.signature);
  if (fault !== null) return fail(`The signature is refused: ${fault}.`);
  const signer = recoverSigner(seal, seal.signature);
  if (signer !== seal.vault) return fail(`The signer is ${signer ?? 'nobody'}, not ${seal.vault}.`);
  if (merkle.proof[seal.depth] !== toHex(sealId(seal, seal.signature))) {
    return fail('The root does not contain this seal: another one was anchored, or none.');
  }
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
function malformed(faults: Fault[]): Step[] {
  const named = new Set<StepName>([...documentSteps, ...faults.map(({ path }) => stepOf(path))]);
  return [...named].map((name) => {
    const mine = faults.filter(({ path }) => stepOf(path) === name);
    if (mine.length === 0) return { name, ...skip('The document is malformed.') };
    return {
      name,
      ...fail(mine.map(({ path, message }) => `${path || 'The document'} ${message}.`).join(' ')),
    };
  });
}

/** Format, kind, subject and unknown fields count towards the leaf step, because they determine the leaf. */
function stepOf(path: string): StepName {
  if (path === 'seal.depth') return 'path';
  const [part = ''] = /^\w+/.exec(path) ?? [];
  return partSteps.get(part) ?? 'leaf';
}

const partSteps = new Map<string, StepName>([
  ['content', 'digest'],
  ['claims', 'claims'],
  ['merkle', 'path'],
  ['seal', 'seal'],
  ['anchors', 'time'],
  ['renewals', 'time'],
]);
