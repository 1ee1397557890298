/** `holdfast verify` with frozen, tampered and anchored proofs, against chain nodes of several kinds. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import {
  anchorRecord,
  type DisguisedNode,
  disguise,
  startAnchoringAnvil,
} from '../../test/support/chain/anchored-proof.ts';
import { type Anvil, anvilMissing } from '../../test/support/chain/anvil.ts';
import { readVector } from '../../test/support/fixtures/vectors.ts';
import { command } from '../../test/support/service/commands.ts';
import { type CommandResult, holdfast } from '../../test/support/service/process.ts';
import { deployerAddress } from '../chain/registry/registry.ts';
import type { EvmAnchor, Proof } from '../proof/proof.ts';
import { type StepName, stepNames } from '../proof/steps.ts';

const skip = await anvilMissing();
const offline: StepName[] = ['registry', 'chain', 'time', 'finality'];
const content = '{"temperature": 4.5}';
const other: Hex = `0x${'99'.repeat(32)}`;

let dir: string;
let settings: Record<string, string>;
let anvil: Anvil;
let anchored: Proof;
/** The same node under the name of another client program. */
let disguised: DisguisedNode;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-verify-'));
  // Code that opened the store would fail, or leave a directory behind.
  settings = { DATABASE_URL: 'postgres://127.0.0.1:1/none', HOLDFAST_DATA_DIR: join(dir, 'data') };
  await writeFile(join(dir, 'content'), content);
  if (skip) return;
  anvil = await startAnchoringAnvil();
  anchored = await anchorRecord(anvil, content);
  disguised = await disguise(anvil.url);
});
after(async () => {
  disguised?.close();
  await anvil?.stop();
  const made = existsSync(join(dir, 'data'));
  await rm(dir, { recursive: true });
  assert.equal(made, false, 'nothing was made in the data directory');
});

test('frozen proofs verify up to the chain, without database or service', async () => {
  await Promise.all(
    (['file-raw', 'record-jcs', 'file-hmac'] as const).map(async (name) => {
      const { proof, content, registry } = readVector(name);
      const paths = [await write(`${name}.json`, proof), await write(`${name}.content`, content)];
      const { code, stdout } = await verify(...paths, '--registry', registry.address);
      assert.equal(code, 2, stdout);
      assert.deepEqual(stepsIn(stdout), stepsOf('pass', offline));
      assert.match(
        stdout,
        /\nGive --rpc URL, a node of chain 1, .*\nINCOMPLETE: .* registry, chain, time, finality\.\n$/,
      );
    }),
  );
});

test('a tampered proof fails the step that it belongs to', async () => {
  const tamperings: [StepName, (proof: Proof) => unknown][] = [
    ['digest', (proof) => (proof.content.digest = other)],
    ['path', (proof) => (proof.merkle.proof[0] = other)],
    ['seal', (proof) => (proof.seal.sequence += 1)],
    ['registry', (proof) => ((proof.anchors[0] as EvmAnchor).contract = `0x${'99'.repeat(20)}`)],
  ];
  await Promise.all(
    tamperings.map(async ([step, tamper]) => {
      const { proof, content, registry } = readVector('record-jcs');
      tamper(proof);
      const paths = [await write(`${step}-bad.json`, proof), await write(`${step}-bad.content`, content)];
      const { code, stdout } = await verify(...paths, '--registry', registry.address);
      assert.equal(code, 1, stdout);
      assert.equal(stepsIn(stdout)[step], 'FAIL');
      assert.match(stdout, new RegExp(`\nFAIL: ${step}\\.\n$`));
    }),
  );
});

test('uses the built-in registry, whatever the document names', async () => {
  const { proof } = readVector('file-raw');
  const { code, stdout } = await verify(await write('foreign.json', proof), '--json');
  const { verdict, steps } = JSON.parse(stdout);
  assert.deepEqual([code, verdict], [1, 'fail']);
  assert.deepEqual(
    steps.map(({ name }: { name: string }) => name),
    stepNames,
  );
  assert.match(steps[5].message, /no anchor in the registry 0xcfaee48d743f42264aaf3521fc464606cfafe23a/);
});

test('reads proof or content from standard input, and the salt from an option', async () => {
  const { proof, content, registry } = readVector('file-hmac');
  const { salt } = proof.content;
  proof.content.salt = null;
  const contentPath = await write('hmac.content', content);
  const own = ['--registry', registry.address];
  const proofPath = await write('hmac.json', proof);
  const [unsalted, salted, wrong, piped, both] = await Promise.all([
    verifyPiped(JSON.stringify(proof), '-', contentPath, ...own),
    verify(proofPath, contentPath, ...own, '--salt', `${salt}`.slice(2).toUpperCase()),
    verify(proofPath, contentPath, ...own, '--salt', other),
    verifyPiped(content, proofPath, '-', ...own, '--salt', `${salt}`),
    verify('-', '-'),
  ]);
  assert.equal(stepsIn(unsalted.stdout).digest, 'skip');
  assert.equal(stepsIn(salted.stdout).digest, 'pass');
  assert.deepEqual([stepsIn(wrong.stdout).digest, wrong.code], ['FAIL', 1]);
  assert.equal(stepsIn(piped.stdout).digest, 'pass');
  assert.deepEqual([both.code, both.stdout], [64, '']);
  assert.match(both.stderr, /Only one/);
});

test('explains unreadable input in a sentence, and does not call it a failed proof', async () => {
  const proof = await write('readable.json', readVector('file-raw').proof);
  const binary = join(dir, 'binary');
  await writeFile(binary, Buffer.from([0xff, 0xfe, 0x00]));
  const json = await write('other.json', { temperature: 4.5 });
  const dossier = await write('dossier.json', { format: 'holdfast/dossier@1' });
  const history = await write('some-history.json', { format: 'holdfast/history@1' });
  const cases: [string[], RegExp][] = [
    [[json], /is not a proof: it has no format/],
    [[await write('list.json', '[]')], /is not a proof: it has no format/],
    [[await write('null.json', 'null')], /is not a proof: it has no format/],
    [[dossier], /is not a proof: its format is holdfast\/dossier@1/],
    [[history, proof], /A history is checked without content/],
    [[join(dir, 'none')], /none cannot be read: there is no such file\.\n$/],
    [[dir], /cannot be read: it is a directory\.\n$/],
    [[proof, join(dir, 'none')], /none cannot be read: there is no such file\.\n$/],
    [[proof, dir], /cannot be read: it is a directory\.\n$/],
    [[binary], /is not a proof: it is not text in UTF-8\.\n$/],
    [[], /missing required argument/],
    [[proof, '--rpc', 'ws://127.0.0.1'], /Give an http or https address/],
    [[proof, '--registry', '0x12'], /40 hex digits/],
    [[proof, '--salt', '0x12'], /64 hex digits/],
  ];
  await Promise.all(
    cases.map(async ([args, said]) => {
      const { code, stdout, stderr } = await verify(...args);
      assert.deepEqual([code, stdout], [64, ''], String(args));
      assert.match(stderr, said);
    }),
  );
  const { code, stdout } = await verify(await write('cut.json', '{"format":'));
  assert.equal(code, 1);
  assert.match(stdout, /leaf\s+FAIL {2}The document is not usable JSON/);
  const malformed = await verify(await write('malformed.json', { format: 'holdfast/proof@1' }));
  assert.equal(malformed.code, 1, malformed.stdout);
});

test('control characters in a document do not reach the terminal', async () => {
  const { stdout } = await verify(
    await write('drawing.json', '{"format":"holdfast/proof@1","\\u001b[31m\\u202e\\npass":1}'),
  );
  assert.doesNotMatch(stdout, /(?!\n)[\p{Cc}\p{Cf}]/u);
  assert.equal(stdout.trimEnd().split('\n').length, stepNames.length + 2);
});

test('reports a history proof by proof, and whether they follow each other', async () => {
  const proofs = [readVector('file-raw').proof, readVector('second-version').proof];
  const history = { format: 'holdfast/history@1', subject: proofs[0]?.subject, proofs };
  const { address } = readVector('file-raw').registry;
  const whole = await verify(await write('history.json', history), '--registry', address);
  assert.equal(whole.code, 2);
  assert.match(whole.stdout, /^proof 1: 4 of 9 steps passed\n {2}digest {4}skip/);
  assert.match(whole.stdout, /\nhistory {3}pass {2}2 proofs follow each other/);
  assert.match(whole.stdout, /\nINCOMPLETE: .*\n$/);
  const turned = await write('turned.json', { ...history, proofs: proofs.toReversed() });
  const broken = await verify(turned, '--registry', address, '--json');
  assert.equal(broken.code, 1);
  const { verdict, chain } = JSON.parse(broken.stdout);
  assert.deepEqual([verdict, chain.status], ['fail', 'fail']);
});

test('skips the steps on the chain if the chain node is unreachable, and says why', async () => {
  const { proof, registry } = readVector('file-raw');
  const path = await write('away.json', proof);
  const { code, stdout } = await verify(path, '--rpc', 'http://127.0.0.1:1', '--registry', registry.address);
  assert.equal(code, 2);
  assert.match(stdout, /\nregistry {2}skip {2}The chain could not be queried: .*ECONNREFUSED/);
});

test('an anchored proof passes every step', { skip }, async () => {
  const path = await write('anchored.json', anchored);
  // In a process of its own, to test that nothing delays its exit.
  const { code, stdout, stderr } = await holdfast(
    settings,
    'verify',
    path,
    join(dir, 'content'),
    '--rpc',
    disguised.url,
  );
  assert.deepEqual([code, stderr], [0, ''], stdout);
  assert.deepEqual(stepsIn(stdout), stepsOf('pass'));
  assert.match(stdout, /\nPASS: every step passed\.\n$/);
});

test('a development node passes all steps but the time, which its operator could have set', {
  skip,
}, async () => {
  const path = await write('development.json', anchored);
  const { code, stdout } = await verify(path, join(dir, 'content'), '--rpc', anvil.url);
  assert.equal(code, 2);
  assert.deepEqual(stepsIn(stdout), stepsOf('pass', ['time']));
  assert.match(stdout, /time {6}skip .* its operator can set the clock/);
});

test('a chain node of another chain leaves the proof unchecked', { skip }, async () => {
  const [evm] = anchored.anchors as EvmAnchor[];
  const path = await write('elsewhere.json', { ...anchored, anchors: [{ ...evm, chainId: 1 }] });
  const { code, stdout } = await verify(path, join(dir, 'content'), '--rpc', disguised.url);
  assert.equal(code, 2, stdout);
  assert.deepEqual(stepsIn(stdout), stepsOf('pass', offline));
  assert.match(
    stdout,
    /registry {2}skip {2}The node belongs to chain \d+, but the proof is anchored on chain 1\./,
  );
});

test('a proof that the chain contradicts fails', { skip }, async () => {
  const evm = anchored.anchors[0] as EvmAnchor;
  const contradictions: [string, StepName, Partial<EvmAnchor>, string[]][] = [
    ['block', 'chain', { blockHash: other }, []],
    ['transaction', 'chain', { transactionHash: other }, []],
    ['time', 'time', { blockTime: evm.blockTime - 1 }, []],
    ['code', 'registry', { contract: deployerAddress.toLowerCase() as Hex }, ['--registry', deployerAddress]],
  ];
  await Promise.all(
    contradictions.map(async ([name, step, change, more]) => {
      const path = await write(`wrong-${name}.json`, { ...anchored, anchors: [{ ...evm, ...change }] });
      const { code, stdout } = await verify(path, join(dir, 'content'), '--rpc', disguised.url, ...more);
      assert.equal(code, 1, `${name}: ${stdout}`);
      assert.match(stdout, new RegExp(`\nFAIL: ${step}\\.\n$`), name);
    }),
  );
});

function verify(...args: string[]): Promise<CommandResult> {
  return command(settings, 'verify', ...args);
}

/** In a process of its own, since standard input ends only once. */
function verifyPiped(input: string, ...args: string[]): Promise<CommandResult> {
  const main = join(import.meta.dirname, '../main.ts');
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, 'verify', ...args], (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    // A command that rejects its arguments exits before it has read anything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

async function write(name: string, value: unknown): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
}

function stepsIn(output: string): Record<string, string> {
  const lines = [...output.matchAll(/^(\w+) +(pass|FAIL|skip) {2}\S/gm)];
  return Object.fromEntries(lines.map(([, name, status]) => [name, status]));
}

function stepsOf(status: string, skipped: StepName[] = []): Record<string, string> {
  return Object.fromEntries(stepNames.map((name) => [name, skipped.includes(name) ? 'skip' : status]));
}
