/** `npm run test:mutations`: puts one mistake after the other into a copy of the checkout, and expects red tests. */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type Checkout, copyCheckout } from './checkout.ts';
import { mutations } from './list.ts';
import { type Mutation, mutated } from './mutation.ts';
import { judgeInPython, notGreenInPython } from './python/run-python.ts';
import { judge, notGreen, runTests, type Verdict } from './verdict.ts';

const help = `npm run test:mutations [-- TEXT ...]

  TEXT   only mutations whose name or file contains it; without any, all of them. "python" means those of the second verifier.
`;

process.exitCode = await main(process.argv.slice(2));

async function main(wanted: string[]): Promise<number> {
  if (wanted.includes('--help')) {
    process.stdout.write(help);
    return 0;
  }
  const chosen = mutations.filter(
    ({ name, file }) =>
      wanted.length === 0 || wanted.some((text) => name.includes(text) || file.includes(text)),
  );
  if (chosen.length === 0) {
    process.stderr.write(`No mutation is called ${wanted.join(', ')}.\n`);
    return 2;
  }
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interruption.abort());
  const copies: Checkout[] = [];
  try {
    return await runAll(chosen, { copies, signal: interruption.signal });
  } finally {
    for (const copy of copies) copy.remove();
  }
}

interface Surroundings {
  copies: Checkout[];
  signal: AbortSignal;
}

async function runAll(chosen: Mutation[], { copies, signal }: Surroundings): Promise<number> {
  const first = copyCheckout();
  copies.push(first);
  const files = [...new Set(chosen.flatMap(({ tests, vector }) => (vector === undefined ? tests : [])))];
  console.log(`${files.length} test files, and the second verifier, without a mistake in the code:`);
  const red = [
    ...(files.length > 0 ? notGreen(await runTests(first.folder, files, signal)) : []),
    ...(await notGreenInPython(chosen, first.folder, signal)),
  ];
  if (signal.aborted) return 130;
  if (red.length > 0) {
    console.error(`They are not green to begin with, so red would mean nothing:\n${red.join('\n')}`);
    return 1;
  }
  console.log('  all green\n');

  const waiting = [...chosen];
  const survivors: string[] = [];
  const work = async (copy: Checkout): Promise<void> => {
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
      const startedAt = performance.now();
      const { killed, story } = await tryOut(next, copy, signal);
      if (signal.aborted) return;
      if (!killed) survivors.push(next.name);
      const seconds = `${((performance.now() - startedAt) / 1000).toFixed(0)} s`.padStart(5);
      console.log(`${killed ? 'killed  ' : 'SURVIVED'} ${seconds}  ${next.name}: ${story}`);
      if (!killed) console.log(`                 ${next.file}: ${next.why}`);
    }
  };
  // One for each core: a test waits about half of its time, and so they do not slow each other down.
  while (copies.length < Math.min(availableParallelism(), chosen.length)) copies.push(copyCheckout());
  await Promise.all(copies.map(work));
  if (signal.aborted) return 130;
  console.log(`\n${chosen.length - survivors.length} of ${chosen.length} mutations were noticed.`);
  if (survivors.length > 0) console.error(`Not noticed: ${survivors.join('; ')}.`);
  return survivors.length > 0 ? 1 : 0;
}

/** The file is as it was afterwards. */
async function tryOut(mutation: Mutation, { folder }: Checkout, signal: AbortSignal): Promise<Verdict> {
  const path = join(folder, mutation.file);
  const source = readFileSync(path, 'utf8');
  try {
    writeFileSync(path, mutated(source, mutation));
    return mutation.vector === undefined
      ? judge(mutation, await runTests(folder, mutation.tests, signal))
      : await judgeInPython(mutation, folder, signal);
  } catch (error) {
    return { killed: false, story: (error as Error).message };
  } finally {
    writeFileSync(path, source);
  }
}
