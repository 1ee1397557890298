/** The output of `holdfast verify`: the verdict in words, whom it trusted, then one line per step. */
import type { HistoryVerification } from '../proof/verify/history.ts';
import {
  isoTime,
  type Step,
  type StepResult,
  type Verification,
  type Voucher,
} from '../proof/verify/steps.ts';

type Verdict = Verification['verdict'];

const marks: Record<StepResult['status'], string> = { pass: 'pass', fail: 'FAIL', skipped: 'skip' };
const longestMessage = 1_000;

/** `hints`: what would help; printed unless the proof failed. */
export function proofReport({ summary, verdict, vouchers, steps }: Verification, hints: string[]): string {
  const names = steps.map(labelOf);
  return [
    `${verdict.toUpperCase()}: ${clean(summary)}${again(verdict, steps)}`,
    '',
    ...trusted(vouchers),
    '',
    ...steps.map((step, place) => line(names[place] ?? '', step, widest(names))),
    ...helpful(hints, verdict),
  ].join('\n');
}

/** Lists only the steps of each proof that did not pass. */
export function historyReport({ proofs, chain, verdict }: HistoryVerification, hints: string[]): string {
  const verdicts: Record<Verdict, string> = {
    pass: 'Every proof passed, and they form one history.',
    fail: `Something contradicts ${chain.status === 'fail' ? 'the history' : 'one of its proofs'}.`,
    incomplete: 'Nothing contradicts the history, but not everything was checked.',
  };
  const lines = proofs.flatMap(({ verdict, vouchers, steps }, place) => {
    const rest = steps.filter(({ status }) => status !== 'pass');
    const names = rest.map(labelOf);
    const [first] = vouchers;
    const when = first ? inWords(first) : 'nobody who is trusted vouches for a time';
    return [
      `proof ${place + 1}: ${verdict.toUpperCase()}, ${steps.length - rest.length} of ${steps.length} steps passed; ${when}`,
      ...rest.map((step, place) => `  ${line(names[place] ?? '', step, widest(names))}`),
    ];
  });
  const steps = proofs.flatMap(({ steps }) => steps);
  return [
    `${verdict.toUpperCase()}: ${verdicts[verdict]}${again(verdict, steps)}`,
    '',
    ...lines,
    line('history', chain, 0),
    ...helpful(hints, verdict),
  ].join('\n');
}

function trusted(vouchers: Voucher[]): string[] {
  if (vouchers.length === 0) return ['Nobody who is trusted vouches for a time.'];
  return ['Trusted for the time:', ...vouchers.map((voucher) => `  ${inWords(voucher)}`)];
}

function inWords({ time, by, isShipped }: Voucher): string {
  const whose = isShipped ? 'part of the trust that ships' : 'the choice of whoever gave --trust';
  return `${isoTime(time)}  ${clean(by)} (${whose})`;
}

/** Which anchor and which renewal a step is about; people count from one. */
function labelOf({ name, anchor, renewal }: Step): string {
  return [
    ...(renewal === undefined ? [] : [`renewal ${renewal + 1}`]),
    ...(anchor === undefined ? [] : [`anchor ${anchor + 1}`]),
    ...(name === 'renewal' ? [] : [name]),
  ].join(' ');
}

function again(verdict: Verdict, steps: StepResult[]): string {
  const isWorthIt = verdict === 'incomplete' && steps.some(({ notNow }) => notNow);
  return isWorthIt ? ' The chain is not available right now: try again.' : '';
}

/** More input cannot help a proof that failed. */
function helpful(hints: string[], verdict: Verdict): string[] {
  return verdict === 'fail' || hints.length === 0 ? [] : ['', ...hints.map(clean)];
}

/** Texts quote the document and the node: neither may send control characters to the terminal, nor flood it. */
export function clean(text: string): string {
  const shown = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
  return shown.length > longestMessage ? `${shown.slice(0, longestMessage)}…` : shown;
}

function line(name: string, { status, message }: StepResult, width: number): string {
  return `${name.padEnd(width)}  ${marks[status]}  ${clean(message)}`;
}

function widest(names: string[]): number {
  return names.reduce((width, { length }) => Math.max(width, length), 0);
}
