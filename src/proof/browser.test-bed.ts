/**
 * Verifies every frozen proof in a realm that has what a browser has and nothing of Node.js: no process, no Buffer, no
 * require, no fetch. Packages are found as a bundler for browsers finds them. Run by browser.test.ts with the flag that
 * lets modules live in such a realm; prints the verdicts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { createContext, SourceTextModule } from 'node:vm';
import { memoryChain, utf8 } from './proof.test-bed.ts';
import { readVector, vectorNames } from './vectors.test-bed.ts';

type Exports = string | null | { [name: string]: Exports };

const realm = createContext({ TextEncoder, TextDecoder, URL, crypto, atob, btoa, setTimeout, clearTimeout });
const modules = new Map<string, SourceTextModule>();

const verifyModule = await evaluated(join(import.meta.dirname, 'verify.ts'));
const { verifyProof } = verifyModule.namespace as typeof import('./verify.ts');
const verdicts: Record<string, string> = {};
for (const name of vectorNames) {
  const { proof, content, chain, registry } = readVector(name);
  const options = { content: utf8(content), chain: memoryChain(chain), registry };
  verdicts[name] = (await verifyProof(JSON.stringify(proof), options)).verdict;
}

const { verifyHistory } = (await evaluated(join(import.meta.dirname, 'history.ts')))
  .namespace as typeof import('./history.ts');
const subject = readVector('record-jcs').proof.subject;
const history = { format: 'holdfast/history@1', subject, proofs: [readVector('record-jcs').proof] };
verdicts.history = (await verifyHistory(JSON.stringify(history))).chain.status;

const { loadKeccak } = (await evaluated(join(import.meta.dirname, 'keccak.ts')))
  .namespace as typeof import('./keccak.ts');
const { buildTree } = (await evaluated(join(import.meta.dirname, 'merkle.ts')))
  .namespace as typeof import('./merkle.ts');
const { root } = buildTree(new Uint8Array(96), await loadKeccak());
console.log(JSON.stringify({ verdicts, root: [...root], files: modules.size }));

async function evaluated(file: string): Promise<SourceTextModule> {
  const module = load(file);
  if (module.status === 'unlinked') {
    await module.link((specifier, importer) => load(resolve(specifier, importer.identifier)));
  }
  await module.evaluate();
  return module;
}

function load(file: string): SourceTextModule {
  const known = modules.get(file);
  if (known) return known;
  const text = readFileSync(file, 'utf8');
  const module = new SourceTextModule(file.endsWith('.ts') ? stripTypeScriptTypes(text) : text, {
    context: realm,
    identifier: file,
    importModuleDynamically: (specifier) => evaluated(resolve(specifier, file)),
  });
  modules.set(file, module);
  return module;
}

function resolve(specifier: string, from: string): string {
  if (specifier.startsWith('.')) return join(dirname(from), specifier);
  if (specifier.startsWith('node:')) throw new Error(`${from} imports ${specifier}`);
  const [, name = '', path = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier) ?? [];
  let folder = dirname(from);
  while (!existsSync(join(folder, 'node_modules', name, 'package.json'))) {
    if (folder === dirname(folder)) throw new Error(`${from} imports ${specifier}, which is not installed`);
    folder = dirname(folder);
  }
  const home = join(folder, 'node_modules', name);
  const { exports, module } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const target = exports === undefined ? module : conditional(exports[`.${path}`]);
  if (typeof target !== 'string') throw new Error(`${specifier} has no entry for browsers`);
  return join(home, target);
}

function conditional(target: Exports | undefined): string | null {
  if (typeof target === 'string' || target === undefined || target === null) return target ?? null;
  const condition = Object.keys(target).find((name) => ['browser', 'import', 'default'].includes(name));
  return condition === undefined ? null : conditional(target[condition]);
}
