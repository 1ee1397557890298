/** The verdict in words for people who have not read the format: what is proven, and what is not. */
import type { StepName, StepResult, Verification } from '../../src/proof/steps.ts';

export type Status = StepResult['status'];

export interface Statement {
  status: Status;
  text: string;
}

export interface Verdict {
  kind: Verification['verdict'];
  title: string;
  sentence: string;
  statements: Statement[];
}

/** A statement that depends on some of the steps, worded for each status. */
export interface Subject extends Record<Status, string> {
  steps: StepName[];
}

const subjects: Subject[] = [
  {
    steps: ['digest'],
    pass: 'Your content is, byte for byte, what this proof is about.',
    fail: 'Your content is not what this proof is about.',
    skipped: 'Whether your content is what this proof is about.',
  },
  {
    steps: ['claims'],
    pass: 'What was stated with it, such as its name and type, is unchanged.',
    fail: 'What was stated with it, such as its name and type, was changed afterwards.',
    skipped: 'What was stated with it.',
  },
  {
    steps: ['leaf', 'path', 'seal'],
    pass: 'The vault that the proof names sealed it with its signature.',
    fail: 'The vault that the proof names did not seal this.',
    skipped: 'Whether a vault sealed it.',
  },
  {
    steps: ['registry', 'chain'],
    pass: 'The seal is anchored on the chain that was queried.',
    fail: 'The chain does not have this anchor.',
    skipped: 'Whether it is anchored.',
  },
  {
    steps: ['time'],
    pass: 'It existed when the block was created.',
    fail: 'The time in the proof is not the time of the block.',
    skipped: 'Since when it has existed.',
  },
  {
    steps: ['finality'],
    pass: 'The block is final: it cannot be undone.',
    fail: 'The block is not final.',
    skipped: 'Whether the block is final.',
  },
];

export function verdictOf({ steps, verdict }: Verification): Verdict {
  const statements = subjects.map((subject) => statementOf(subject, steps));
  const named = (wanted: Status) => steps.filter(({ status }) => status === wanted).map(({ name }) => name);
  const { title, sentence } = headline(verdict, named('fail'), named('skipped'));
  return { kind: verdict, title, sentence: sentence + again(verdict, steps), statements };
}

/** Added to a verdict that a retry may complete. */
export function again(verdict: Verification['verdict'], steps: StepResult[]): string {
  const notNow = verdict === 'incomplete' && steps.some((step) => step.notNow);
  return notNow ? ' The chain is not available right now: try again in a moment.' : '';
}

function headline(
  verdict: Verification['verdict'],
  failed: StepName[],
  skipped: StepName[],
): Pick<Verdict, 'title' | 'sentence'> {
  if (verdict === 'pass') {
    return {
      title: 'Proven',
      sentence: 'All nine steps passed: the content, its seal, its anchor and its time.',
    };
  }
  if (verdict === 'fail') {
    return failed.length === 1 && failed[0] === 'digest'
      ? {
          title: 'Not proven: this is different content',
          sentence: 'The proof is not about your content. Digest failed.',
        }
      : {
          title: 'Not proven: the proof is not valid',
          sentence: `Do not rely on it. ${capital(listed(failed))} failed.`,
        };
  }
  const without = (name: StepName) => skipped.includes(name);
  if (without('chain')) {
    return {
      title: 'Consistent, but not checked against the chain',
      sentence: `Nothing contradicts the proof. Whether and when it was anchored remains open.`,
    };
  }
  const open = [
    ...(without('digest') ? ['which content it is about'] : []),
    ...(without('claims') ? ['what was stated with it'] : []),
    ...(without('time') ? ['since when it has existed'] : []),
    ...(without('finality') ? ['whether its block is final'] : []),
  ];
  return {
    title: 'Proven in part',
    sentence: `Nothing contradicts the proof. Still open: ${listed(open)}.`,
  };
}

export function statementOf({ steps: names, ...texts }: Subject, steps: Verification['steps']): Statement {
  const results = steps.filter(({ name }) => names.includes(name));
  const status = worst(results.map((result) => result.status));
  return { status, text: withReason(texts[status], results, status) };
}

/** Uses the message of a step when it says more: the time, the block, why something was skipped. */
function withReason(text: string, results: StepResult[], status: Status): string {
  const [result] = results.filter((one) => one.status === status);
  if (!result || status === 'fail') return text;
  if (status === 'skipped') return `${text} ${result.message}`;
  return /^It existed on/.test(result.message) ? result.message : text;
}

function worst(statuses: Status[]): Status {
  if (statuses.includes('fail')) return 'fail';
  return statuses.includes('skipped') ? 'skipped' : 'pass';
}

export function listed(names: string[]): string {
  const last = names.at(-1);
  return names.length < 2 ? `${last ?? ''}` : `${names.slice(0, -1).join(', ')} and ${last}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
