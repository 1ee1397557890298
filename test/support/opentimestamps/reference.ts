/** The reference implementation of OpenTimestamps (Debian's python3-opentimestamps). */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathOf } from '../programs/needs.ts';

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

/** Asks all questions of one kind at once: starting Python takes longer than answering. */
export function askReference<Task extends keyof Tasks>(
  task: Task,
  questions: Tasks[Task]['question'][],
): Tasks[Task]['answer'][] {
  const { status, stdout, stderr } = spawnSync(
    pathOf('python3-opentimestamps'),
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
