/** The reference implementation of OpenTimestamps (Debian's python3-opentimestamps), where it is installed. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** One attestation: its message, its kind, and what it says. All bytes in hex. */
export type ReferenceAttestation = [message: string, kind: string, ...what: (string | number)[]];

interface Tasks {
  read: {
    question: { file: string };
    answer: { error: string } | { error?: never; attestations: ReferenceAttestation[]; written: string };
  };
  verify: {
    question: { file: string; headers: [height: number, header: string][] };
    answer: { error: string } | { error?: never; times: number[]; hashes: Record<string, string> };
  };
  merge: { question: { one: string; other: string }; answer: { written: string } };
  make: { question: { seed: string; count: number }; answer: { files: string[] } };
}

/** The first Python that has the package; another one may come before it in the path. */
const python = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', 'import opentimestamps, bitcoin.core']).status === 0,
);

/** For the option `skip` of a test. */
export const withoutReference: string | false =
  python === undefined && 'python3-opentimestamps is not installed';

/** Asks all questions of one kind at once: starting Python takes longer than answering. */
export function askReference<Task extends keyof Tasks>(
  task: Task,
  questions: Tasks[Task]['question'][],
): Tasks[Task]['answer'][] {
  const { status, stdout, stderr } = spawnSync(
    python ?? 'python3',
    [join(import.meta.dirname, 'reference.py')],
    {
      input: JSON.stringify(questions.map((question) => ({ task, ...question }))),
      encoding: 'utf8',
      maxBuffer: 1e9,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    },
  );
  if (status !== 0) throw new Error(`the reference implementation failed: ${stderr}`);
  return JSON.parse(stdout);
}
