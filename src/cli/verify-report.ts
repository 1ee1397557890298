/** The output of `holdfast verify`: one line per step, and the verdict as the last line. */
import type { HistoryVerification } from '../proof/history.ts';
import type { StepResult, Verification } from '../proof/steps.ts';

type Verdict = Verification['verdict'];

const marks: Record<StepResult['status'], string> = { pass: 'pass', fail: 'FAIL', skipped: 'skip' };
const longestMessage = 1_000;

export function proofReport({ steps, verdict }: Verification, hints: string[]): string {
  const named = (wanted: StepResult['status']) =>
    steps
      .filter(({ status }) => status === wanted)
      .map(({ name }) => name)
      .join(', ');
  const verdicts: Record<Verdict, string> = {
    pass: 'PASS: every step passed.',
    fail: `FAIL: ${named('fail')}.`,
    incomplete: `INCOMPLETE: nothing failed, but not everything was checked: ${named('skipped')}.${again(steps)}`,
  };
  return [
    ...steps.map((step) => line(step.name, step)),
    '',
    ...needed(hints, verdict),
    verdicts[verdict],
  ].join('\n');
}

/** Lists only the steps of each proof that did not pass. */
export function historyReport({ proofs, chain, verdict }: HistoryVerification, hints: string[]): string {
  const lines = proofs.flatMap(({ steps }, place) => {
    const rest = steps.filter(({ status }) => status !== 'pass');
    const count = `${steps.length - rest.length} of ${steps.length} steps passed`;
    return [`proof ${place + 1}: ${count}`, ...rest.map((step) => `  ${line(step.name, step)}`)];
  });
  const verdicts: Record<Verdict, string> = {
    pass: 'PASS: every proof passed, and they form one history.',
    fail: `FAIL: ${chain.status === 'fail' ? 'the history' : 'one of its proofs'}.`,
    incomplete: `INCOMPLETE: nothing failed, but not everything was checked.${again(proofs.flatMap(({ steps }) => steps))}`,
  };
  return [...lines, line('history', chain), '', ...needed(hints, verdict), verdicts[verdict]].join('\n');
}

function again(steps: StepResult[]): string {
  return steps.some(({ notNow }) => notNow) ? ' The chain is not available right now: try again.' : '';
}

/** More input cannot change a proof that passed or failed. */
function needed(hints: string[], verdict: Verdict): string[] {
  return verdict === 'incomplete' ? hints : [];
}

/** Texts quote the document and the node: neither may send control characters to the terminal, nor flood it. */
export function clean(text: string): string {
  const shown = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
  return shown.length > longestMessage ? `${shown.slice(0, longestMessage)}…` : shown;
}

function line(name: string, { status, message }: StepResult): string {
  return `${name.padEnd(8)}  ${marks[status]}  ${clean(message)}`;
}
