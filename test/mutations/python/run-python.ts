/** Judges vectors with the second verifier, in a copy of the checkout, and says what that means for the mistake in it. */
import { join } from 'node:path';
import { runBounded } from '../bounded-run.ts';
import type { Mutation } from '../mutation.ts';
import type { Verdict } from '../verdict.ts';

/** A good proof with every kind of clock: a mistake after which it does not hold any more is too coarse to say anything. */
const good = 'three-clocks';
/** A mistake may keep the verifier from ever ending. Two vectors take a second, more under load. */
const longestMs = 120_000;

interface PythonRun {
  /** Vectors that the verifier judges in another way; null if it came to no judgement. */
  differing: string[] | null;
  output: string;
}

export async function judgeInPython(
  { vector = '' }: Mutation,
  folder: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const { differing, output } = await runInPython(folder, [vector, good], signal);
  if (differing === null) return { killed: false, story: `the verifier came to no judgement:\n${output}` };
  if (!differing.includes(vector)) return { killed: false, story: `${vector} stays green` };
  if (differing.includes(good)) return { killed: false, story: `${good} does not hold any more` };
  return { killed: true, story: `the vector ${vector}` };
}

/** Vectors that differ without any mistake: what they say of one means nothing. */
export async function notGreenInPython(
  chosen: Mutation[],
  folder: string,
  signal: AbortSignal,
): Promise<string[]> {
  const names = new Set(chosen.flatMap(({ vector }) => vector ?? []));
  if (names.size === 0) return [];
  const { differing, output } = await runInPython(folder, [...names, good], signal);
  return differing?.length === 0 ? [] : [output];
}

async function runInPython(folder: string, vectors: string[], signal: AbortSignal): Promise<PythonRun> {
  const { code, output } = await runBounded(['python3', '-B', '-m', 'unittest', 'tests.test_vectors'], {
    cwd: join(folder, 'verifiers/python'),
    env: { ...process.env, HOLDFAST_VECTORS: vectors.join(',') },
    ...{ longestMs, signal },
  });
  return { differing: code === 0 ? [] : differingIn(output), output };
}

/** As the assertion lists them, each on a line of its own. */
function differingIn(output: string): string[] | null {
  const [, listed] = output.split(/ vectors differ:\n/);
  return listed?.match(/^[a-z0-9-]+(?=: )/gm) ?? null;
}
