/** The steps of a verification in groups for people: the content, the batch, each clock, each renewal, the time. */
import type { Step, StepName } from '../../src/proof/verify/steps.ts';
import { type AllClockWords, clockKey } from './clock-words.ts';

export interface StepGroup {
  title: string;
  note: string;
  steps: Step[];
}

/** What each step is about, for people who have not read the format. */
export const stepWords: Record<StepName, string> = {
  digest: 'Digest of the content',
  signature: 'Signature of the worker',
  passkey: 'Passkey of the worker',
  claims: 'What was stated with it',
  leaf: 'Leaf built from both',
  path: 'Path to the root',
  seal: 'Signature of the vault',
  registry: 'Registry contract',
  chain: 'Anchor in the block',
  finality: 'Finality of the block',
  token: 'Timestamp token',
  block: 'Bitcoin block',
  renewal: 'Covered by a later batch',
  time: 'When it existed',
};

const parts: [title: string, steps: readonly StepName[]][] = [
  ['The content', ['digest', 'signature', 'passkey', 'claims']],
  ['The batch', ['leaf', 'path', 'seal']],
];

/** In the order of the document. */
export function groupsOf(steps: Step[], clocks: AllClockWords): StepGroup[] {
  const named = (names: readonly StepName[]) => steps.filter(({ name }) => names.includes(name));
  const byPlace = Map.groupBy(
    steps.filter(({ anchor, renewal }) => anchor !== undefined || renewal !== undefined),
    clockKey,
  );
  return [
    ...parts.map(([title, names]) => ({ title, note: '', steps: named(names) })),
    ...[...byPlace].map(([key, steps]) => clockGroup(steps, clocks.get(key))),
    { title: 'The time', note: '', steps: named(['time']) },
  ].filter(({ steps }) => steps.length > 0);
}

function clockGroup(steps: Step[], words = { title: '', note: '' }): StepGroup {
  const [first] = steps;
  const renewal = first?.renewal === undefined ? '' : `Renewal ${first.renewal + 1}`;
  return { ...words, title: [renewal, words.title].filter((part) => part !== '').join(': '), steps };
}
