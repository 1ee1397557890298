/** The verdict in words for people who have not read the format: what is proven, and what is not. */
import {
  clockSteps,
  existedWhen,
  type StepName,
  type StepResult,
  type Verification,
} from '../../src/proof/verify/steps.ts';

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
  steps: readonly StepName[];
  /** Steps that can disprove it, but need not pass. */
  also?: readonly StepName[];
}

const content: Subject = {
  steps: ['digest'],
  pass: 'Your content is, byte for byte, what this proof is about.',
  fail: 'Your content is not what this proof is about.',
  skipped: 'Whether your content is what this proof is about.',
};
/** Of a sign-off, or of a statement about a passkey. */
const signer: Subject = {
  steps: ['signature', 'passkey'],
  pass: 'Whoever must sign this has signed it.',
  fail: 'Whoever must sign this did not, or it is no such document.',
  skipped: 'Whether whoever must sign this has signed it.',
};
const subjects: Subject[] = [
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
];

export function verdictOf(result: Verification, hasContent = false): Verdict {
  const { steps, verdict } = result;
  const named = (wanted: Status) => [
    ...new Set(steps.filter(({ status }) => status === wanted).map(({ name }) => name)),
  ];
  const { title, sentence } = headline(result, named('fail'), named('skipped'));
  return {
    kind: verdict,
    title,
    sentence: sentence + again(verdict, steps),
    statements: [
      contentStatement(result, hasContent),
      ...(steps.some(({ name }) => name === 'signature') ? [statementOf(signer, steps)] : []),
      ...subjects.map((subject) => statementOf(subject, steps)),
      timeStatement(result),
    ],
  };
}

/** Without content, the digest in the document is only compared with the one in the leaf. */
function contentStatement({ steps }: Verification, hasContent: boolean): Statement {
  const statement = statementOf(content, steps);
  if (hasContent || statement.status === 'fail') return statement;
  return { status: 'skipped', text: `${content.skipped} No content was given.` };
}

function timeStatement({ steps, vouchers }: Verification): Statement {
  const [first] = vouchers;
  return statementOf(
    {
      steps: ['time'],
      also: clockSteps,
      pass: first ? `It existed ${existedWhen(first.time, Date.now())}, says ${first.by}.` : '',
      fail: 'One of those who should vouch for its time contradicts the proof.',
      skipped: 'Since when it has existed: nobody who is trusted vouches for a time.',
    },
    steps,
  );
}

/** Added to a verdict that a retry may complete. */
export function again(verdict: Verification['verdict'], steps: StepResult[]): string {
  const notNow = verdict === 'incomplete' && steps.some((step) => step.notNow);
  return notNow ? ' The chain is not available right now: try again in a moment.' : '';
}

function headline(
  { verdict, summary }: Verification,
  failed: StepName[],
  skipped: StepName[],
): Pick<Verdict, 'title' | 'sentence'> {
  if (verdict === 'pass') return { title: 'Proven', sentence: summary };
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
  const open = [
    ...(without('digest') ? ['which content it is about'] : []),
    ...(without('signature') || without('passkey') ? ['who signed it'] : []),
    ...(without('claims') ? ['what was stated with it'] : []),
    ...(without('time') ? ['since when it has existed'] : []),
  ];
  return {
    title: without('time') ? 'Consistent, but nobody vouches for its time' : 'Proven in part',
    sentence: `Nothing contradicts the proof. Still open: ${listed(open)}.`,
  };
}

export function statementOf(
  { steps: names, also = [], ...texts }: Subject,
  steps: Verification['steps'],
): Statement {
  const results = steps.filter(({ name }) => names.includes(name));
  const others = steps.filter(({ name, status }) => also.includes(name) && status === 'fail');
  const status = worst([...results, ...others].map((result) => result.status));
  return { status, text: texts[status] };
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
