/** The steps of a verification, in order, and their combined verdict. */

export const stepNames = [
  'digest',
  'claims',
  'leaf',
  'path',
  'seal',
  'registry',
  'chain',
  'time',
  'finality',
] as const;

export type StepName = (typeof stepNames)[number];

export interface StepResult {
  status: 'pass' | 'fail' | 'skipped';
  message: string;
  /** Skipped only because the chain could not be reached at the moment: worth a retry. */
  notNow?: true;
}

export interface Verification {
  steps: ({ name: StepName } & StepResult)[];
  /** One failed step fails the whole; a skipped step never counts as a pass. */
  verdict: 'pass' | 'fail' | 'incomplete';
}

export const pass = (message: string): StepResult => ({ status: 'pass', message });
export const fail = (message: string): StepResult => ({ status: 'fail', message });
export const skip = (message: string): StepResult => ({ status: 'skipped', message });

export function conclude(results: Record<StepName, StepResult>): Verification {
  const steps = stepNames.map((name) => ({ name, ...results[name] }));
  const has = (wanted: StepResult['status']) => steps.some(({ status }) => status === wanted);
  return { steps, verdict: has('fail') ? 'fail' : has('skipped') ? 'incomplete' : 'pass' };
}
