/** The findings of a dossier check: counts of what holds, faults with their place, and what remains unproven. */
import { knownChain } from '../../proof/evm/known-chains.ts';
import { type Anchor, isEvmAnchor, type Proof } from '../../proof/verify/proof.ts';
import { neededSteps, type StepName, type Verification } from '../../proof/verify/steps.ts';

export interface Findings {
  counts: Record<'files' | 'versions' | 'entries' | 'signoffs' | 'attachments', number>;
  /** Only the first ones. */
  faults: { place: string; message: string }[];
  faultCount: number;
  /** What could not be proven, and how often. */
  gaps: Map<string, number>;
  /**
   * How many proofs were checked, for how many of them a trusted clock vouches, and how many have only a block of a chain
   * whose operator may set its clock.
   */
  proofs: { checked: number; timed: number; operatorOnly: number };
}

/** Nobody would read more. */
const mostFaults = 200;
const mostGaps = 50;

export function createFindings() {
  const findings = {
    counts: { files: 0, versions: 0, entries: 0, signoffs: 0, attachments: 0 },
    faults: [] as Findings['faults'],
    faultCount: 0,
    gaps: new Map<string, number>(),
    proofs: { checked: 0, timed: 0, operatorOnly: 0 },
    count(what: keyof Findings['counts'], times = 1): void {
      findings.counts[what] += times;
    },
    fault(place: string, message: string): void {
      findings.faultCount += 1;
      if (findings.faults.length < mostFaults) findings.faults.push({ place, message });
    },
    gap(message: string): void {
      const { gaps } = findings;
      const kept =
        gaps.has(message) || gaps.size < mostGaps ? message : 'Other steps that could not be made.';
      gaps.set(kept, (gaps.get(kept) ?? 0) + 1);
    },
    clocksOf({ anchors, renewals }: Proof): void {
      const all = [...anchors, ...renewals.flatMap((renewal) => renewal.anchors)];
      if (all.every(isOperatorOnly)) findings.proofs.operatorOnly += 1;
    },
    /** The steps of one proof. Returns whether none failed. */
    steps(place: string, steps: Verification['steps']): boolean {
      findings.proofs.checked += 1;
      for (const { name, status, message } of steps) {
        if (name === 'time' && status === 'pass') findings.proofs.timed += 1;
        if (status === 'fail') findings.fault(place, `fails at ${name}: ${message}`);
        const gap = status === 'skipped' ? gapOf(name, message) : null;
        if (gap !== null) findings.gap(gap);
      }
      return steps.every(({ status }) => status !== 'fail');
    },
  };
  return findings satisfies Findings;
}

/** What a check reports to. */
export type FindingsLog = ReturnType<typeof createFindings>;

/** Only the id is known here; when a chain node is asked, the verifier of each proof examines it. */
function isOperatorOnly(anchor: Anchor): boolean {
  return isEvmAnchor(anchor) && knownChain(anchor.chainId)?.test !== false;
}

/** One sentence for all proofs, because their messages differ; null for a clock, because the step `time` covers them. */
function gapOf(name: StepName, message: string): string | null {
  if (!neededSteps.includes(name)) return null;
  if (name !== 'time') return `The step ${name}: ${message}`;
  if (/nobody was asked|No chain node was given/.test(message)) {
    return 'When it was anchored: no chain node was asked for the hashes of the blocks, and no other trusted clock vouches for a time.';
  }
  if (/is final is not known|not on the list of known chains/.test(message)) {
    return 'When it was anchored: the chain is not a known public one, so its operator may set its clock.';
  }
  if (message.includes('is not final yet')) {
    return 'The finality of the newest anchors: their blocks may still be replaced. Check again later.';
  }
  return `When it was anchored: ${message.replace(/^No clock that is trusted vouches for a time\. /, '')}`;
}
