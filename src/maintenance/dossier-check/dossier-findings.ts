/** The findings of a dossier check: counts of what holds, faults with their place, and what remains unproven. */
import type { Proof } from '../../proof/proof.ts';
import type { Verification } from '../../proof/steps.ts';

export interface Findings {
  counts: Record<'files' | 'versions' | 'entries' | 'signoffs' | 'attachments', number>;
  /** Only the first ones. */
  faults: { place: string; message: string }[];
  faultCount: number;
  /** What could not be proven, and how often. */
  gaps: Map<string, number>;
  /** The chains that the proofs name. */
  chainIds: Set<number>;
}

/** Nobody would read more. */
const mostFaults = 200;

export function createFindings() {
  const findings = {
    counts: { files: 0, versions: 0, entries: 0, signoffs: 0, attachments: 0 },
    faults: [] as Findings['faults'],
    faultCount: 0,
    gaps: new Map<string, number>(),
    chainIds: new Set<number>(),
    count(what: keyof Findings['counts'], times = 1): void {
      findings.counts[what] += times;
    },
    fault(place: string, message: string): void {
      findings.faultCount += 1;
      if (findings.faults.length < mostFaults) findings.faults.push({ place, message });
    },
    gap(message: string): void {
      findings.gaps.set(message, (findings.gaps.get(message) ?? 0) + 1);
    },
    chainsOf({ anchors }: Pick<Proof, 'anchors'>): void {
      for (const anchor of anchors) {
        if ('chainId' in anchor) findings.chainIds.add(Number(anchor.chainId));
      }
    },
    /** Returns whether no step failed. */
    steps(place: string, steps: Verification['steps']): boolean {
      for (const { name, status, message } of steps) {
        if (status === 'fail') findings.fault(place, `fails at ${name}: ${message}`);
        const gap = status === 'skipped' ? gapOf(name, message) : null;
        if (gap !== null) findings.gap(gap);
      }
      return steps.every(({ status }) => status !== 'fail');
    },
  };
  return findings satisfies Findings;
}

/** One sentence per step for all proofs, because their messages differ; null if another step already covers it. */
function gapOf(name: string, message: string): string | null {
  if (message.startsWith('No chain')) {
    return name === 'chain'
      ? 'That it was anchored on the chain, and when: no chain node was queried.'
      : null;
  }
  if (message.startsWith('The chain was not queried')) return null;
  if (name === 'time' && message.includes('clock')) {
    return 'The time of the anchors: the operator of this development chain can set its clock.';
  }
  if (name === 'finality' && message.includes('not final yet')) {
    return 'The finality of the newest anchors: their blocks may still be replaced. Check again later.';
  }
  return `The step ${name}: ${message}`;
}
