/** The document `holdfast/history@1`: all proofs of one thing in order, and a verifier of what they show together. */
import type { Hex } from 'viem';
import { parseJsonText } from '../../runtime/json-text.ts';
import type { Content } from '../content.ts';
import { toHex, zeroHash } from '../hex.ts';
import { eachOf, exactly, objectOf } from '../json-shape.ts';
import { leafHash, type Subject } from '../leaf.ts';
import { sealId } from '../seal.ts';
import { checkSubject, type Proof, parseProof } from './proof.ts';
import { fail, pass, type StepResult, skip, type Verification } from './steps.ts';
import { type VerifyOptions, verifyProof } from './verify.ts';

export const historyFormat = 'holdfast/history@1';

export interface History {
  format: typeof historyFormat;
  subject: Subject;
  /** From the first leaf on; each leaf names the one before it as its previousLeaf. */
  proofs: Proof[];
}

export interface HistoryOptions extends Pick<VerifyOptions, 'chain' | 'registry' | 'trust' | 'at'> {
  /** The content of each proof, where available. */
  contents?: readonly (Content | undefined)[];
}

export interface HistoryVerification {
  /** Each proof on its own. */
  proofs: Verification[];
  /** Whether they form one chain, and every leaf is sealed by the vault that owned the thing at that time. */
  chain: StepResult;
  verdict: Verification['verdict'];
}

/** A kind that transfers a thing: its claims name the receiving vault as `to`. */
export const transferKind = 'transfer';
/** Also states that its vault seals nothing any more. */
export const revokeKind = 'revoke';

/** Takes the document as JSON text, or parsed. */
export async function verifyHistory(
  document: unknown,
  { contents, ...given }: HistoryOptions = {},
): Promise<HistoryVerification> {
  const read = readHistory(document);
  if (typeof read === 'string') return { proofs: [], chain: fail(read), verdict: 'fail' };
  const proofs: Verification[] = [];
  for (const [place, proof] of read.proofs.entries()) {
    proofs.push(await verifyProof(proof, { ...given, content: contents?.[place] }));
  }
  const linked = checkChain(read);
  const verdicts = proofs.map(({ verdict }) => verdict);
  const failed = linked.status === 'fail' || verdicts.includes('fail');
  const skipped = linked.status === 'skipped' || verdicts.includes('incomplete');
  return { proofs, chain: linked, verdict: failed ? 'fail' : skipped ? 'incomplete' : 'pass' };
}

/** Returns the document, or why it is invalid. */
function readHistory(document: unknown): History | string {
  let value = document;
  try {
    if (typeof document === 'string') value = parseJsonText(document);
  } catch (error) {
    return `The document is not usable JSON: ${(error as Error).message}`;
  }
  const [fault] = checkForm(value, '');
  if (fault) return `${fault.path || 'The document'} ${fault.message}.`;
  const history = value as History;
  for (const [place, proof] of history.proofs.entries()) {
    const [fault] = parseProof(proof).faults;
    if (fault) return `proofs[${place}].${fault.path} ${fault.message}.`;
  }
  return history;
}

const any = () => [];
const checkForm = objectOf({
  format: exactly(historyFormat),
  subject: checkSubject,
  proofs: eachOf(any, { min: 1, max: 100_000 }),
});

function checkChain({ subject, proofs }: History): StepResult {
  let previous: Hex = zeroHash;
  /** Null after a transfer whose receiver is unknown because its claims were erased. */
  let owner: Hex | null = proofs[0]?.leaf.values[6] ?? null;
  let unknownOwners = 0;
  const versions = new Map<string, bigint>();
  /** Ids of seals by vault and number. */
  const seals = new Map<string, Hex>();
  const lastSeals = new Map<Hex, { sequence: string; id: Hex }>();
  const revoked = new Set<Hex>();
  for (const [place, proof] of proofs.entries()) {
    const { kind, leaf, claims, seal } = proof;
    const wrong = (message: string) => fail(`proofs[${place}] ${message}`);
    const [, , , , version, previousLeaf, vault] = leaf.values;
    if (proof.subject.workspaceId !== subject.workspaceId || proof.subject.id !== subject.id) {
      return wrong('has a different subject.');
    }
    if (previousLeaf !== previous) return wrong('does not follow the previous one.');
    if (BigInt(version) <= (versions.get(kind) ?? 0n)) return wrong('does not have a higher version.');
    if (revoked.has(vault)) return wrong(`is sealed by ${vault}, which was revoked.`);
    if (owner === null) unknownOwners += 1;
    else if (vault !== owner) return wrong(`is sealed by ${vault}, but ${owner} owned it.`);
    const sealNumber = `${vault} ${seal.sequence}`;
    const id = toHex(sealId(seal, seal.signature));
    if ((seals.get(sealNumber) ?? id) !== id) {
      return wrong(`has a second seal under number ${seal.sequence} of ${vault}.`);
    }
    seals.set(sealNumber, id);
    const last = lastSeals.get(vault);
    if (last && BigInt(seal.sequence) < BigInt(last.sequence)) {
      return wrong(`is sealed under number ${seal.sequence} of ${vault}, after ${last.sequence}.`);
    }
    if (last && BigInt(seal.sequence) === BigInt(last.sequence) + 1n && seal.previousSeal !== last.id) {
      return wrong(`is sealed under number ${seal.sequence} of ${vault}, but does not name the seal before.`);
    }
    lastSeals.set(vault, { sequence: seal.sequence, id });
    versions.set(kind, BigInt(version));
    previous = toHex(leafHash(leaf.values));
    if (kind === revokeKind) revoked.add(vault);
    if (kind === transferKind || kind === revokeKind) {
      const taker = claims === null ? null : takerOf(claims.to);
      if (taker === undefined) return wrong('does not name the new owner in claims.to.');
      owner = taker;
    } else {
      owner = vault;
    }
  }
  if (unknownOwners > 0) return skip('The claims were erased, so the new owner is not known.');
  return pass(`${proofs.length} proofs follow each other without a gap.`);
}

function takerOf(to: unknown): Hex | undefined {
  return typeof to === 'string' && /^0x[0-9a-fA-F]{40}$/.test(to) ? (to.toLowerCase() as Hex) : undefined;
}
