/** The commands and programs of the guides, run as they are written against a service, one page and language after the other. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { linkClients, pythonClients } from '../support/clients/client-links.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { type Service, startService } from '../support/service/service.ts';

const root = join(import.meta.dirname, '../..');
const guides = join(root, 'docs/guide');
const pages = globSync('*.md', { cwd: guides }).filter((page) => programOf(page, ['sh [curl]']) !== '');
/** Their steps are commands of holdfast, for which there are no programs. */
const ofCommandLine = pages.filter((page) => programOf(page, ['sh [holdfast]']) !== '');
const ofPrograms = pages.filter((page) => !ofCommandLine.includes(page));

interface Language {
  pages: string[];
  /** What begins its blocks. */
  marks: string[];
  /** The program and its arguments that run a file. */
  command(file: string): string[];
  file: string;
  /** Runs them, beyond Node.js. */
  program: 'curl' | 'python3' | null;
}

const languages: Record<string, Language> = {
  curl: {
    pages,
    marks: ['sh [curl]', 'sh [holdfast]'],
    file: 'commands.sh',
    command: (file) => ['bash', '-euo', 'pipefail', file],
    program: 'curl',
  },
  TypeScript: {
    pages: ofPrograms,
    marks: ['ts [TypeScript]'],
    file: 'program.mts',
    command: (file) => [process.execPath, file],
    program: null,
  },
  Python: {
    pages: ofPrograms,
    marks: ['python [Python]'],
    file: 'program.py',
    command: (file) => [pathOf('python3'), '-B', '-W', 'error', file],
    program: 'python3',
  },
};

let service: Service;
let scratch: string;

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'holdfast-guides-'));
  linkClients(scratch);
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
});
after(async () => {
  await service?.close();
  rmSync(scratch, { recursive: true, force: true });
});

/** The blocks of a page in one language, together, because later ones use variables of earlier ones. */
function programOf(page: string, marks: string[]): string {
  return blocksOf(page)
    .filter(({ mark }) => marks.includes(mark))
    .map(({ lines }) => lines)
    .join('\n');
}

function blocksOf(page: string): { mark: string; lines: string }[] {
  const source = readFileSync(join(guides, page), 'utf8');
  return [...source.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].map(([, mark = '', lines = '']) => ({
    mark,
    lines,
  }));
}

for (const [name, { pages, marks, file, command, program }] of Object.entries(languages)) {
  const { test: step } = program === null ? { test } : needs(program);
  for (const page of pages) {
    step(`every step of ${page} works in ${name}`, async () => {
      const folder = mkdtempSync(join(scratch, 'run-'));
      writeFileSync(join(folder, file), programOf(page, marks));
      const line = command(join(folder, file));
      // The steps of one page have the same keys in each language.
      const key = await service.makeKey({ newWorkspace: true });
      const { status, output } = await run(line, { cwd: folder, key });
      assert.equal(status, 0, output);
      if (page === 'quick-start.md' && name !== 'curl') assert.match(output, /^pass /m);
    });
  }
}

test('every step is shown in all languages, in the same order', () => {
  assert.ok(pages.length >= 5, pages.join());
  const marks = Object.values(languages).map(({ marks: [first = ''] }) => first);
  for (const page of ofPrograms) {
    const shown = blocksOf(page)
      .map(({ mark }) => mark)
      .filter((mark) => marks.includes(mark) || mark === 'sh [Command line]');
    const steps = shown.filter((_, n) => n % 3 === 0).map((mark) => [mark, ...marks.slice(1)]);
    assert.deepEqual(shown, steps.flat(), page);
  }
});

test('the programs have the types that the client declares', async () => {
  const files = ofPrograms.map((page) => {
    const file = join(scratch, page.replace('.md', '.mts'));
    writeFileSync(file, `${programOf(page, ['ts [TypeScript]'])}\nexport {};\n`);
    return file;
  });
  const options =
    '--noEmit --strict --exactOptionalPropertyTypes --target es2024 --module nodenext --lib es2024,dom,dom.asynciterable'.split(
      ' ',
    );
  const more = '--allowImportingTsExtensions --skipLibCheck --types node --typeRoots'.split(' ');
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const types = join(root, 'node_modules/@types');
  const args = [process.execPath, compiler, ...options, ...more, types, ...files];
  const { status, output } = await run(args, { cwd: scratch, key: '' });
  assert.equal(status, 0, output);
});

test('all guides call the same things by the same names', () => {
  for (const page of globSync('*.md', { cwd: guides })) {
    const source = blocksOf(page)
      .map(({ lines }) => lines)
      .join('\n');
    // Variables of earlier versions of these pages, and of others.
    assert.doesNotMatch(source, /\$\{?(KEY|API_KEY|URL|BASE|HOST|TOKEN)\b/, page);
    assert.doesNotMatch(source, /\b(client|api|hf|sdk) = /, page);
  }
});

async function run(
  [program = '', ...args]: string[],
  { cwd, key }: { cwd: string; key: string },
): Promise<{ status: number | null; output: string }> {
  const child = spawn(program, args, {
    cwd,
    env: {
      PATH: [join(root, 'bin'), process.env.PATH].join(delimiter),
      PYTHONPATH: pythonClients,
      HOLDFAST_URL: service.url,
      HOLDFAST_API_KEY: key,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await ended, output: `${out}\n${errors}` };
}
