/** The packages of the clients, built as they are published: the first proof of the README, and every runtime. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildVerify } from '../../clients/typescript/verify/build.ts';
import { startBrowser } from '../support/clients/browser.ts';
import { commandProgram, runtimeProgram } from '../support/clients/runtime-program.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { type Service, startService } from '../support/service/service.ts';

const root = join(import.meta.dirname, '../..');
const typescript = join(root, 'clients/typescript');

let scratch: string;
let service: Service;
before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'holdfast-packages-'));
  const [client, verify] = ['client', 'verify'].map((name) => join(scratch, 'node_modules/@holdfast', name));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const args = [
    compiler,
    '-p',
    join(typescript, 'tsconfig.build.json'),
    '--outDir',
    join(client ?? '', 'dist'),
  ];
  const built = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(built.status, 0, built.stdout + built.stderr);
  await buildVerify(join(verify ?? '', 'dist'));
  cpSync(join(typescript, 'package.json'), join(client ?? '', 'package.json'));
  cpSync(join(typescript, 'verify/package.json'), join(verify ?? '', 'package.json'));
  mkdirSync(join(scratch, 'run'));
  for (const [name, from] of Object.entries({ client, verify })) {
    cpSync(join(from ?? '', 'dist'), join(scratch, 'run', name), { recursive: true });
  }
  writeFileSync(join(scratch, 'run/run.mjs'), runtimeProgram);
  writeFileSync(join(scratch, 'run/command.mjs'), commandProgram);
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
});
after(async () => {
  await service?.close();
  rmSync(scratch, { recursive: true, force: true });
});

function run(
  program: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  // Other versions of Node.js do not know the options of this one.
  const options = { cwd: scratch, env: { ...process.env, NODE_OPTIONS: '', ...env }, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

/** The program of the README in that language. */
function firstProof(language: string): string {
  const section = readFileSync(join(root, 'README.md'), 'utf8').split('\n## From a program\n')[1] ?? '';
  const [, program = ''] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(section) ?? [];
  const lines = program.split('\n').filter((line) => line.trim() !== '');
  assert.ok(lines.length > 0 && lines.length <= 10, `${lines.length} lines`);
  return program;
}

test('ten lines of TypeScript lead to the first verified proof', async () => {
  const file = join(scratch, 'first-proof.mts');
  writeFileSync(file, firstProof('ts'));
  const env = { HOLDFAST_URL: service.url, HOLDFAST_API_KEY: service.key };
  const { code, stdout, stderr } = await run(process.execPath, [file], env);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^pass /m, stdout);
});

test('the program of the README has the types that the packages declare', async () => {
  writeFileSync(join(scratch, 'types.mts'), `${firstProof('ts')}\nexport {};\n`);
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--lib',
    'es2023,dom',
  ];
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const { code, stdout } = await run(process.execPath, [
    compiler,
    ...options,
    ...types,
    join(scratch, 'types.mts'),
  ]);
  assert.equal(code, 0, stdout);
});

needs('python3').test('ten lines of Python lead to the first verified proof', async () => {
  const file = join(scratch, 'first_proof.py');
  writeFileSync(file, firstProof('python'));
  const PYTHONPATH = [join(root, 'clients/python'), join(root, 'verifiers/python')].join(delimiter);
  const env = { HOLDFAST_URL: service.url, HOLDFAST_API_KEY: service.key, PYTHONPATH };
  const { code, stdout, stderr } = await run(pathOf('python3'), ['-B', '-W', 'error', file], env);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^pass /m, stdout);
});

const expected = {
  verdict: 'pass',
  names: ['stream.bin', 'bytes.bin'],
  refused: 'WebhookVerificationError',
  changed: 'fail',
  sameHash: true,
  progressed: true,
  event: 'record.anchor.confirmed',
  missing: true,
  downloaded: 300_000,
};

async function worksIn(program: string, args: string[]): Promise<void> {
  const key = await service.makeKey({ newWorkspace: true });
  const command = [...args, join(scratch, 'run/command.mjs'), service.url, key];
  const { code, stdout, stderr } = await run(program, command, { NO_COLOR: '1' });
  assert.equal(code, 0, stderr);
  const { summary: _, ...seen } = JSON.parse(stdout);
  assert.deepEqual(seen, expected);
}

test('the packages work in the pinned Node.js', () => worksIn(process.execPath, []));

const runtimes = {
  'other-node': [],
  deno: ['run', '--allow-net', '--no-config'],
  bun: ['run'],
};

for (const [name, args] of Object.entries(runtimes) as [keyof typeof runtimes, string[]][]) {
  needs(name).test(`the packages work in ${name}`, () => worksIn(pathOf(name), args));
}

needs('chromium').test('the packages work in a page, behind one address with the service', async () => {
  const key = await service.makeKey({ newWorkspace: true });
  const server = await serveBeside(service.url, join(scratch, 'run'));
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/page`);
    const program = "import(new URL('/run.mjs', document.baseURI).href)";
    const running = `${program}.then(({ run }) => run(location.origin, ${JSON.stringify(key)}))`;
    const { summary: _, ...seen } = (await page.evaluate(running)) as Record<string, unknown>;
    assert.deepEqual(seen, expected);
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
});

/** Serves the files of a folder, and forwards everything else, as a proxy before the service would. */
async function serveBeside(target: string, folder: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', target);
    const file = join(folder, pathname);
    if (pathname === '/page') return response.setHeader('content-type', 'text/html').end('<!doctype html>');
    if (/\.m?js$/.test(pathname) && existsSync(file)) {
      return response.setHeader('content-type', 'text/javascript').end(readFileSync(file));
    }
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
    const body = ['GET', 'HEAD'].includes(request.method ?? '') ? {} : { body: request, duplex: 'half' };
    try {
      const sent = {
        method: request.method,
        headers,
        signal: gone.signal,
        ...body,
      } as unknown as RequestInit;
      const answer = await fetch(new URL(request.url ?? '/', target), sent);
      const kept = [...answer.headers].filter(
        ([name]) => !/^(content-encoding|content-length|connection|transfer-encoding)$/.test(name),
      );
      response.writeHead(answer.status, Object.fromEntries(kept));
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
