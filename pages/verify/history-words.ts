/** The verdict on a history in words, and which of its proofs a content belongs to. */
import { contentDigest } from '../../src/proof/content.ts';
import type { History, HistoryVerification } from '../../src/proof/verify/history.ts';
import type { Proof } from '../../src/proof/verify/proof.ts';
import { clockSteps } from '../../src/proof/verify/steps.ts';
import { again, listed, type Statement, type Subject, statementOf, type Verdict } from './verdict-words.ts';

const subjects: Subject[] = [
  {
    steps: ['claims', 'leaf', 'path', 'seal'],
    pass: 'Each of its proofs is unchanged, and sealed by the vault that owned it at that time.',
    fail: 'Not all of its proofs are sealed by the vault that they name.',
    skipped: 'Whether each of its proofs is unchanged.',
  },
  {
    steps: ['time'],
    also: clockSteps,
    pass: 'Somebody who is trusted vouches for the time of each of them.',
    fail: 'One of those who should vouch for their times contradicts them.',
    skipped: 'Since when each of them has existed: not all have a time that somebody trusted vouches for.',
  },
];

/** `places`: indexes of the proofs that the given content belongs to; null when none was compared. */
export function historyVerdictOf(
  { proofs, chain, verdict }: HistoryVerification,
  places: number[] | null,
): Verdict {
  const steps = proofs.flatMap((proof) => proof.steps);
  const statements = [
    contentStatement(places),
    { status: chain.status, text: chain.message },
    ...(steps.length === 0 ? [] : subjects.map((subject) => statementOf(subject, steps))),
  ];
  if (verdict === 'fail') {
    const place = proofs.findIndex((proof) => proof.verdict === 'fail');
    const sentence =
      chain.status === 'fail' ? chain.message : `Do not rely on it. Proof ${place + 1} failed.`;
    return { kind: 'fail', title: 'Not proven: the history is not valid', sentence, statements };
  }
  if (places?.length === 0) {
    const sentence = `None of its ${proofs.length} proofs is about your content.`;
    return { kind: 'fail', title: 'Not proven: this content is not in the history', sentence, statements };
  }
  if (verdict === 'pass') {
    const sentence = `All ${proofs.length} proofs passed, and they follow each other without a gap.`;
    return { kind: 'pass', title: 'Proven', sentence, statements };
  }
  const isTimed = !steps.some(({ name, status }) => name === 'time' && status === 'skipped');
  return {
    kind: 'incomplete',
    title: isTimed ? 'Proven in part' : 'Consistent, but nobody vouches for all of its times',
    sentence: `Nothing contradicts the history. What was not proven is listed below.${again(verdict, steps)}`,
    statements,
  };
}

function contentStatement(places: number[] | null): Statement {
  if (places === null) {
    return { status: 'skipped', text: 'Which content its proofs are about: none was compared.' };
  }
  if (places.length === 0) {
    return { status: 'fail', text: 'None of its proofs is about your content.' };
  }
  const numbers = listed(places.map((place) => String(place + 1)));
  const which = places.length === 1 ? `proof ${numbers} is` : `proofs ${numbers} are`;
  return { status: 'pass', text: `Your content is, byte for byte, what ${which} about.` };
}

/** Larger contents are compared only with a single proof, not with a whole history. */
const maxSaltedBytes = 10 * 1024 * 1024;

/** Reads the content once for all proofs without a salt. Null when nothing could be compared. */
export async function placesOf(
  { proofs }: History,
  { size, read }: { size: number; read(): AsyncIterable<Uint8Array> },
): Promise<number[] | null> {
  let raw: Promise<string> | null = null;
  const digestFor = async ({ content: { canonicalization, salt } }: Proof) => {
    if (canonicalization === 'raw') {
      raw ??= contentDigest({ canonicalization, salt: null }, read());
      return raw;
    }
    if (salt === null || size > maxSaltedBytes) return null;
    return contentDigest({ canonicalization, salt }, read()).catch(() => null);
  };
  const places: number[] = [];
  let compared = false;
  for (const [place, proof] of proofs.entries()) {
    const digest = await digestFor(proof);
    if (digest !== null || proof.content.canonicalization === 'jcs') compared = true;
    if (digest === proof.content.digest) places.push(place);
  }
  return compared ? places : null;
}
