/** The verdict in one sentence. */
import type { Proof } from './proof.ts';
import { existedWhen, neededSteps, type Verification } from './steps.ts';

export function summaryOf(
  { verdict, steps, vouchers }: Pick<Verification, 'verdict' | 'steps' | 'vouchers'>,
  about?: { proof: Proof; hasContent: boolean; at: number },
): string {
  if (verdict === 'fail') {
    const failed = steps.filter(({ status }) => status === 'fail').map(({ name }) => name);
    return `Something contradicts the proof: ${[...new Set(failed)].join(', ')}.`;
  }
  if (verdict === 'incomplete' || !about) {
    const open = steps.filter(({ name, status }) => neededSteps.includes(name) && status !== 'pass');
    return `Nothing contradicts the proof, but not everything was checked: ${open.map(({ name }) => name).join(', ')}.`;
  }
  const { proof, hasContent, at } = about;
  const what = hasContent ? 'The content' : `What has the digest ${proof.content.digest}`;
  const [first] = vouchers;
  const when = first ? ` existed ${existedWhen(first.time, at)}, says ${first.by},` : '';
  const unseen = hasContent ? '' : ' No content was given.';
  return `${what}${when} and was sealed by the vault ${proof.seal.vault}.${unseen}`;
}
