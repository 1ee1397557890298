/** `holdfast verify` with sound and tampered proofs, without a chain node: verdicts, trust, output, exit codes. */
// tier: process
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import {
  type ClockedProof,
  makeClockedProof,
  makeRenewedProof,
} from '../../test/support/fixtures/clocked-proof.ts';
import { fixed, makeProofs, utf8 } from '../../test/support/fixtures/proof-fixture.ts';
import { holdfast } from '../../test/support/service/process.ts';
import {
  hintsIn,
  openVerifyCommand,
  stepsIn,
  type VerifyCommand,
} from '../../test/support/service/verify-command.ts';
import type { EvmAnchor, Proof } from '../proof/verify/proof.ts';
import { documentSteps, type StepName } from '../proof/verify/steps.ts';
import { shippedTrust } from '../proof/verify/trust.ts';
import { verifyProof } from '../proof/verify/verify.ts';

const other: Hex = `0x${'99'.repeat(32)}`;
const at = '2027-01-01';

let files: VerifyCommand;
let clocked: ClockedProof;
const verify = (...args: string[]) => files.verify(...args);
const write = (name: string, value: unknown) => files.write(name, value);
const path = (name: string) => files.path(name);

before(async () => {
  files = await openVerifyCommand();
  clocked = await makeClockedProof();
  await Promise.all([
    write('clocked.json', clocked.proof),
    write('clocked.txt', clocked.content),
    write('trust.json', clocked.trust),
  ]);
});
after(() => files.close());

test('a proof with three clocks passes offline for somebody who trusts them: verdict, trust, steps', async () => {
  const { code, stdout, stderr } = await verify(
    ...[path('clocked.json'), path('clocked.txt'), '--trust', path('trust.json'), '--at', at],
  );
  assert.deepEqual([code, stderr], [0, ''], stdout);
  const [verdict, empty, ...rest] = stdout.split('\n');
  assert.match(
    verdict ?? '',
    /^PASS: The content existed on 2026-03-02T08:59:30Z, says block 24500000 of Ethereum,/,
  );
  assert.equal(empty, '');
  assert.equal(rest[0], 'Trusted for the time:');
  assert.equal(
    rest[1],
    '  2026-03-02T08:59:30Z  block 24500000 of Ethereum (the choice of whoever gave --trust)',
  );
  assert.equal(
    rest[2],
    '  2026-03-02T09:00:00Z  the timestamp authority CN=Test TSA (the choice of whoever gave --trust)',
  );
  assert.match(
    rest[3] ?? '',
    /Bitcoin block 939000, give or take 2 hours \(the choice of whoever gave --trust\)$/,
  );
  assert.deepEqual(stepsIn(stdout), {
    ...Object.fromEntries(documentSteps.map((name) => [name, 'pass'])),
    'anchor 1 registry': 'pass',
    'anchor 1 chain': 'pass',
    'anchor 1 finality': 'pass',
    'anchor 2 token': 'pass',
    'anchor 3 block': 'pass',
  });
  assert.match(stdout, /under the root CN=Test Root \(0x[0-9a-f]{64}\)/);
});

test('with the trust that ships nothing vouches, and hints say what would help', async () => {
  const { code, stdout } = await verify(path('clocked.json'), '--at', at);
  assert.equal(code, 2, stdout);
  assert.match(
    stdout,
    /^INCOMPLETE: Nothing contradicts the proof, .* time\.\n\nNobody who is trusted vouches for a time\.\n/,
  );
  assert.deepEqual(
    Object.entries(stepsIn(stdout))
      .filter(([, status]) => status !== 'pass')
      .map(([name]) => name),
    ['anchor 1 chain', 'anchor 1 finality', 'anchor 2 token', 'anchor 3 block', 'time'],
  );
  assert.deepEqual(hintsIn(stdout), [
    'Give the content after the proof to compare it with the digest.',
    'Give --rpc URL, a node of Ethereum (chain 1), to ask for its block.',
    'If you trust the timestamp authority CN=Test TSA, give --trust FILE with its root certificate.',
    'Give --trust FILE with the hash of Bitcoin block 939000 from a source that you trust.',
  ]);
  const { proof } = await makeClockedProof({ chainId: 424_242 });
  const [unknown] = hintsIn((await verify(await write('private.json', proof), path('clocked.txt'))).stdout);
  assert.equal(
    unknown,
    'Chain 424242 is not a known public chain: if you trust its clock, give --trust FILE with its id and genesis hash, and --rpc URL, a node of it.',
  );
  const sepolia = (await makeClockedProof({ chainId: 11_155_111 })).proof;
  const [test] = hintsIn((await verify(await write('sepolia.json', sepolia), path('clocked.txt'))).stdout);
  assert.match(test ?? '', /^Sepolia is a test network: if you trust its clock/);
});

test('without content the verdict is about the digest, and says so', async () => {
  const { code, stdout } = await verify(path('clocked.json'), '--trust', path('trust.json'), '--at', at);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^PASS: What has the digest 0x[0-9a-f]{64} existed on .* No content was given\.\n/);
  assert.deepEqual(hintsIn(stdout), ['Give the content after the proof to compare it with the digest.']);
});

test('--at judges as of that time: later clocks count as absent, and certificates end', async () => {
  const judged = (time: string) =>
    verify(path('clocked.json'), path('clocked.txt'), '--trust', path('trust.json'), '--at', time);
  const [early, between, late] = await Promise.all([
    judged('2026-03-02'),
    judged('2026-03-02T09:00:00+00:00'),
    judged('2046-11-18'),
  ]);
  assert.equal(early.code, 2);
  assert.match(early.stdout, /anchor 1 chain {5}skip {2}The block is of .* later than the time of judgement/);
  assert.match(early.stdout, /anchor 2 token {5}skip {2}The token is later than the time of judgement/);
  assert.equal(between.code, 0);
  assert.deepEqual(
    [stepsIn(between.stdout)['anchor 2 token'], stepsIn(between.stdout)['anchor 3 block']],
    ['pass', 'skip'],
  );
  assert.equal(late.code, 0);
  assert.match(late.stdout, /anchor 2 token {5}skip {2}The certificate of CN=Test TSA ended on/);
  assert.doesNotMatch(late.stdout, /2026-03-02T09:00:00Z {2}the timestamp authority/);
});

test('a renewal carries a token beyond the end of its certificate, and its steps are numbered', async () => {
  const { proof, trust } = await makeRenewedProof();
  const args = [await write('renewed.json', proof), path('clocked.txt')];
  const own = ['--trust', await write('renewed-trust.json', trust), '--at', '2040-01-01'];
  const { code, stdout } = await verify(...args, ...own);
  assert.equal(code, 0, stdout);
  const {
    'renewal 1': renewal,
    'renewal 1 anchor 1 token': later,
    'anchor 1 token': first,
  } = stepsIn(stdout);
  assert.deepEqual([renewal, later, first], ['pass', 'pass', 'pass']);
  const bare = await write('not-renewed.json', { ...proof, renewals: [] });
  assert.equal((await verify(bare, path('clocked.txt'), ...own)).code, 2);
});

test('prints the same bytes for the same input, trust and time; JSON is what the verifier returns', async () => {
  const args = [path('clocked.json'), path('clocked.txt'), '--trust', path('trust.json'), '--at', at];
  const [text, sameText, json, sameJson] = await Promise.all([
    verify(...args),
    holdfast(files.settings, 'verify', ...args),
    verify(...args, '--json'),
    holdfast(files.settings, 'verify', ...args, '--json'),
  ]);
  assert.equal(text.stdout, sameText.stdout);
  assert.equal(json.stdout, sameJson.stdout);
  assert.deepEqual(Object.keys(JSON.parse(json.stdout)), ['verdict', 'summary', 'vouchers', 'steps']);
  const { registryAddress: address, registryCodeHash: codeHash } = await import(
    '../chain/registry/registry.ts'
  );
  const bare = await verify(path('clocked.json'), path('clocked.txt'), '--at', at, '--json');
  const direct = await verifyProof(clocked.proof, {
    content: utf8(clocked.content),
    trust: shippedTrust,
    at: Date.parse(at),
    registry: { address, codeHash },
  });
  assert.deepEqual(JSON.parse(bare.stdout), JSON.parse(JSON.stringify(direct)));
});

test('a tampered proof fails the step that it belongs to', async () => {
  const tamperings: [StepName, (proof: Proof) => unknown][] = [
    ['digest', (proof) => (proof.content.digest = other)],
    ['path', (proof) => (proof.merkle.proof[0] = other)],
    ['seal', (proof) => (proof.seal.sequence = '8')],
    ['registry', (proof) => ((proof.anchors[0] as EvmAnchor).contract = `0x${'99'.repeat(20)}`)],
  ];
  await Promise.all(
    tamperings.map(async ([step, tamper]) => {
      const proof = structuredClone(clocked.proof);
      tamper(proof);
      const { code, stdout } = await verify(await write(`${step}-bad.json`, proof), path('clocked.txt'));
      assert.equal(code, 1, stdout);
      assert.equal(stepsIn(stdout)[step === 'registry' ? 'anchor 1 registry' : step], 'FAIL');
      assert.match(stdout, new RegExp(`^FAIL: Something contradicts the proof: .*${step}`));
      assert.deepEqual(hintsIn(stdout), []);
    }),
  );
});

test('a clock that contradicts the document fails it, whoever is trusted', async () => {
  const foreign = (await makeRenewedProof()).proof.renewals[0]?.anchors[0];
  const anchors = [clocked.evm, foreign];
  const { code, stdout } = await verify(await write('foreign.json', { ...clocked.proof, anchors }));
  assert.equal(code, 1);
  assert.match(stdout, /anchor 2 token {5}FAIL {2}The token is about something else/);
});

test('reads proof or content from standard input, and the salt from an option', async () => {
  const salt = fixed(0xc3);
  const thing = { kind: 'file', id: 'fil_1', canonicalization: 'hmac-sha256', key: fixed(0x11) } as const;
  const place = { sequence: 1, chainId: 1, blockNumber: 1, blockTime: 1_700_000_000 };
  const [made] = await makeProofs([{ ...thing, salt, content: utf8('secret') }], place);
  assert.ok(made);
  const proof = { ...made.proof, content: { ...made.proof.content, salt: null } };
  const contentPath = await write('hmac.content', 'secret');
  const proofPath = await write('hmac.json', proof);
  const [unsalted, salted, wrong, piped, both, trusting] = await Promise.all([
    files.verifyPiped(JSON.stringify(proof), '-', contentPath),
    verify(proofPath, contentPath, '--salt', salt.slice(2).toUpperCase()),
    verify(proofPath, contentPath, '--salt', other),
    files.verifyPiped('secret', proofPath, '-', '--salt', salt),
    verify('-', '-'),
    verify('-', contentPath, '--trust', '-'),
  ]);
  assert.equal(stepsIn(unsalted.stdout).digest, 'skip');
  assert.match(unsalted.stdout, /\nGive --salt HEX, the key that the owner of the content keeps\.\n/);
  assert.equal(stepsIn(salted.stdout).digest, 'pass');
  assert.deepEqual([stepsIn(wrong.stdout).digest, wrong.code], ['FAIL', 1]);
  assert.equal(stepsIn(piped.stdout).digest, 'pass');
  for (const { code, stdout, stderr } of [both, trusting]) {
    assert.deepEqual([code, stdout], [64, '']);
    assert.match(stderr, /Only one/);
  }
});

test('explains unreadable input in a sentence, and does not call it a failed proof', async () => {
  const proof = path('clocked.json');
  const binary = path('binary');
  await writeFile(binary, Buffer.from([0xff, 0xfe, 0x00]));
  const json = await write('other.json', { temperature: 4.5 });
  const dossier = await write('dossier.json', { format: 'holdfast/dossier@1' });
  const later = await write('later.json', { format: 'holdfast/proof@2' });
  const history = await write('some-history.json', { format: 'holdfast/history@1' });
  const trusting = async (name: string, trust: unknown) => [proof, '--trust', await write(name, trust)];
  const cases: [string[], RegExp][] = [
    [[json], /is not a proof: it has no format/],
    [[await write('list.json', '[]')], /is not a proof: it has no format/],
    [[await write('null.json', 'null')], /is not a proof: it has no format/],
    [[dossier], /is not a proof: its format is holdfast\/dossier@1/],
    [[later], /is not a proof: its format is holdfast\/proof@2/],
    [[await write('twice.json', '{"a":1,"a":2}')], /is not a proof: it has no format/],
    [[history, proof], /A history is checked without content/],
    [[path('none')], /none cannot be read: there is no such file\.\n$/],
    [[files.dir], /cannot be read: it is a directory\.\n$/],
    [[proof, path('none')], /none cannot be read: there is no such file\.\n$/],
    [[proof, files.dir], /cannot be read: it is a directory\.\n$/],
    [[binary], /is not a proof: it is not text in UTF-8\.\n$/],
    [[], /missing required argument/],
    [[proof, '--rpc', 'ws://127.0.0.1'], /Give an http or https address/],
    [[proof, '--registry', '0x12'], /40 hex digits/],
    [[proof, '--salt', '0x12'], /64 hex digits/],
    [[proof, '--at', 'yesterday'], /Give a date such as 2046-01-31, or a time/],
    [[proof, '--at', '2026-02-30'], /Give a date such as/],
    ...[
      '2026-03-02T09:00:00',
      '2026-01-01T24:00:00Z',
      '2026-01-01T23:59:60Z',
      '2026-01-01T00:00:00+24:00',
      '9999-12-31T23:59:59-01:00',
      '0001-01-01T00:00:00+01:00',
      '0000-01-01',
    ].map((at): [string[], RegExp] => [[proof, '--at', at], /Give a date such as/]),
    [[proof, '--registry', '0xCfaee48d743f42264aaf3521fc464606cfafe23a'], /EIP-55 checksum/],
    [[proof, '--trust', path('none')], /none cannot be read: there is no such file\.\n$/],
    [[proof, '--trust', binary], /is not a trust file: it is not text in UTF-8\.\n$/],
    [await trusting('t1.json', '{'), /t1\.json cannot be used as a trust file: /],
    [await trusting('t2.json', {}), /cannot be used as a trust file: format is /],
    [
      await trusting('t3.json', { ...clocked.trust, tsaRoots: ['x'] }),
      /file: tsaRoots\[0\] is not a certificate in PEM/,
    ],
    [await trusting('t4.json', { ...clocked.trust, roots: [] }), /cannot be used as a trust file: roots /],
    [await trusting('t5.json', '{"format":"holdfast/trust@1","bitcoin":[],"bitcoin":[]}'), /occurs twice/],
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
  assert.equal(stdout.trimEnd().split('\n').length, documentSteps.length + 4);
});

test('reports a history proof by proof, and whether they follow each other', async () => {
  const thing = { kind: 'file', id: 'fil_1', canonicalization: 'raw', key: fixed(0x11) } as const;
  const place = { chainId: 1, blockNumber: 1, blockTime: 1_700_000_000 };
  const [first] = await makeProofs([{ ...thing, content: utf8('one') }], { ...place, sequence: 1 });
  assert.ok(first);
  const second = { ...thing, content: utf8('two'), version: 2, previousLeaf: first.leaf };
  const [last] = await makeProofs([second], { ...place, sequence: 2, previousSeal: first.sealId });
  assert.ok(last);
  const proofs = [first.proof, last.proof];
  const history = { format: 'holdfast/history@1', subject: first.proof.subject, proofs };
  const whole = await verify(await write('history.json', history));
  assert.equal(whole.code, 2);
  assert.match(
    whole.stdout,
    /^INCOMPLETE: Nothing contradicts the history.*\n\nproof 1: INCOMPLETE, 6 of 9 steps passed; nobody who is trusted/,
  );
  assert.match(whole.stdout, /\nhistory {2}pass {2}2 proofs follow each other/);
  assert.match(whole.stdout, /\nGive --rpc URL, a node of Ethereum \(chain 1\)/);
  const blocks = proofs.map(({ anchors }) => {
    const { blockNumber: number, blockHash: hash } = anchors[0] as EvmAnchor;
    return { chainId: 1, number, hash };
  });
  const trust = await write('history-trust.json', { format: 'holdfast/trust@1', blocks });
  const trusted = await verify(path('history.json'), '--trust', trust, '--at', at);
  assert.equal(trusted.code, 0, trusted.stdout);
  assert.match(trusted.stdout, /^PASS: Every proof passed, and they form one history\.\n/);
  assert.match(
    trusted.stdout,
    /proof 2: PASS, 9 of 9 steps passed; 2023-11-14T22:13:20Z {2}block 1 of Ethereum/,
  );
  const early = await verify(path('history.json'), '--trust', trust, '--at', '2020-01-01');
  assert.equal(early.code, 2);
  const turned = await write('turned.json', { ...history, proofs: proofs.toReversed() });
  const broken = await verify(turned, '--json');
  assert.equal(broken.code, 1);
  const { verdict, chain } = JSON.parse(broken.stdout);
  assert.deepEqual([verdict, chain.status], ['fail', 'fail']);
});

test('a byte order mark is not JSON, before a proof or a trust file', async () => {
  const marked = (value: unknown) => `\ufeff${JSON.stringify(value)}`;
  await write('marked.json', marked(clocked.proof));
  await write('marked-trust.json', marked(clocked.trust));
  const given = ['--trust', path('trust.json'), '--at', at];
  assert.equal((await verify(path('marked.json'), path('clocked.txt'), ...given)).code, 1);
  const { code, stderr } = await verify(path('clocked.json'), '--trust', path('marked-trust.json'));
  assert.deepEqual([code, /cannot be used as a trust file/.test(stderr)], [64, true], stderr);
});
