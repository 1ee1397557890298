/** The form of the vectors of test/vectors: a proof or a history, what a verifier is given beside it, and what it has to find. */
import type { Hex } from 'viem';
import type { Anchor, Proof } from '../../../src/proof/verify/proof.ts';
import type { StepName, Verification } from '../../../src/proof/verify/steps.ts';

export interface Vector {
  about: string;
  /** In any spelling of JSON; or `document`, where the spelling matters. */
  proof?: unknown;
  document?: string;
  content: null | { utf8: string } | { base64: string };
  salt?: Hex;
  /** The text of the statements about passkeys that are given with a sign-off. */
  passkeys?: string;
  /** Named by the person who verifies; otherwise it is the usual one. */
  registry?: Hex;
  trust: TrustFile | null;
  /** Where the spelling of the trust file matters; then `trust` is null. */
  trustDocument?: string;
  /** Null: no time is given, so that no block is too late. */
  at: string | null;
  /** The answers of a node by method and parameters; it gives no other. */
  rpc: Record<string, unknown> | null;
  expected: Expected | ExpectedHistory | Unusable;
}

export interface NamedVector extends Vector {
  name: string;
}

export interface TrustFile {
  format: 'holdfast/trust@1';
  chains?: { chainId: number; genesisHash: Hex; finality: 'finalized' | number }[];
  blocks?: { chainId: number; number: number; hash: Hex }[];
  tsaRoots?: string[];
  tsaPolicies?: string[];
  crls?: string[];
  revoked?: Hex[];
  bitcoin?: { height: number; hash: Hex }[];
}

export interface Expected {
  verdict: Verification['verdict'];
  /** Of the clock that vouches for the earliest time. */
  time: string | null;
  steps: ExpectedStep[];
}

/** Of a history: no proof is looked at if it is malformed. */
export interface ExpectedHistory {
  verdict: Verification['verdict'];
  chain: ExpectedStep['status'];
  proofs: Expected[];
}

/** Nothing is judged, because the trust file is refused. */
export interface Unusable {
  unusable: 'trust';
}

export interface ExpectedStep {
  name: StepName;
  renewal?: number;
  anchor?: number;
  status: 'pass' | 'fail' | 'skipped';
}

export function trustOf(parts: Omit<TrustFile, 'format'>): TrustFile {
  return { format: 'holdfast/trust@1', ...parts };
}

/** Which steps do not pass. `chain` means all steps of that name, `chain 1` that of anchor 1, `renewal 1` that of renewal 1, `chain 0.1` that of anchor 1 of renewal 0. */
export interface Outcome {
  fail?: string[];
  skip?: string[];
  /** Null if no clock vouches. */
  time: string | null;
  /** Of what a worker signed that is given with its content. */
  signed?: SignedStep[];
}

type SignedStep = 'signature' | 'passkey';

/** The steps follow from the document; what becomes of them is said by whoever makes the vector. */
export function expect(proof: Proof, { fail = [], skip = [], time, signed = [] }: Outcome): Expected {
  const steps = stepsOf(proof, signed);
  for (const wanted of [...fail, ...skip]) {
    if (!steps.some((step) => namesOf(step).includes(wanted))) throw new Error(`there is no step ${wanted}`);
  }
  const named = (step: object, list: string[]) =>
    namesOf(step as ExpectedStep).some((name) => list.includes(name));
  const judged = steps.map((step) => ({
    ...step,
    status: named(step, fail) ? 'fail' : named(step, skip) ? 'skipped' : 'pass',
  })) as ExpectedStep[];
  return { verdict: verdictOf(judged), time, steps: judged };
}

/** A malformed document has only the steps on the document: one or more fail, nothing else is looked at. */
export function malformed(...failing: StepName[]): Expected {
  const names = ['digest', 'claims', 'leaf', 'path', 'seal', 'time'] as const;
  return {
    verdict: 'fail',
    time: null,
    steps: names.map((name) => ({ name, status: failing.includes(name) ? 'fail' : 'skipped' })),
  };
}

function stepsOf({ anchors, renewals }: Proof, signed: SignedStep[]): Omit<ExpectedStep, 'status'>[] {
  const names = ['digest', ...signed, 'claims', 'leaf', 'path', 'seal'] as const;
  const before = names.map((name) => ({ name }));
  const own = anchors.flatMap((anchor, place) => clockSteps(anchor).map((name) => ({ name, anchor: place })));
  const later = renewals.flatMap(({ anchors: theirs }, renewal) => [
    { name: 'renewal' as const, renewal },
    ...theirs.flatMap((anchor, place) =>
      clockSteps(anchor).map((name) => ({ name, renewal, anchor: place })),
    ),
  ]);
  return [...before, ...own, ...later, { name: 'time' }];
}

function clockSteps({ type }: Anchor): StepName[] {
  const known: Record<string, StepName[]> = {
    evm: ['registry', 'chain', 'finality'],
    rfc3161: ['token'],
    opentimestamps: ['block'],
  };
  return known[type] ?? [];
}

function namesOf({ name, renewal, anchor }: Omit<ExpectedStep, 'status'>): string[] {
  const place = [renewal, anchor].filter((number) => number !== undefined).join('.');
  return [name, `${name} ${place}`];
}

function verdictOf(steps: ExpectedStep[]): Expected['verdict'] {
  if (steps.some(({ status }) => status === 'fail')) return 'fail';
  const needed = ['digest', 'signature', 'passkey', 'claims', 'leaf', 'path', 'seal', 'time'];
  return steps.every(({ name, status }) => status === 'pass' || !needed.includes(name))
    ? 'pass'
    : 'incomplete';
}
