/** `holdfast verify` with a sign-off and what was anchored of passkeys. */
// tier: process
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { readVectorFile } from '../../test/support/fixtures/vectors.ts';
import {
  hintsIn,
  openVerifyCommand,
  stepsIn,
  type VerifyCommand,
} from '../../test/support/service/verify-command.ts';

let files: VerifyCommand;
before(async () => {
  files = await openVerifyCommand();
});
after(() => files.close());

async function argumentsOf(name: string): Promise<string[]> {
  const { proof, content, trust, at } = readVectorFile(name);
  assert.ok(content && 'utf8' in content);
  return [
    await files.write(`${name}.json`, proof),
    await files.write(`${name}.txt`, content.utf8),
    ...['--trust', await files.write(`${name}-trust.json`, trust), '--at', at ?? ''],
  ];
}

const statementsOf = (name: string) => files.write(`${name}.jsonl`, readVectorFile(name).passkeys ?? '');

test('a sign-off passes with the statements that registered its passkey, and without them says what is missing', async () => {
  const name = 'statements-second';
  const given = await argumentsOf(name);
  const alone = await files.verify(...given);
  assert.equal(alone.code, 0, alone.stdout);
  assert.equal(stepsIn(alone.stdout).passkey, undefined);
  assert.match(hintsIn(alone.stdout).join(), /Give --passkeys FILE/);
  const { code, stdout } = await files.verify(...given, '--passkeys', await statementsOf(name));
  assert.equal(code, 0, stdout);
  assert.equal(stepsIn(stdout).passkey, 'pass');
  assert.match(stdout, /The worker had registered the passkey in statement 2\./);
  assert.deepEqual(hintsIn(stdout), []);
});

test('a registration that the worker did not sign, or a passkey that was revoked, fails it', async () => {
  for (const [name, why] of [
    ['statements-not-signed', /Statement 1 about passkeys has a proof that does not hold/],
    ['statements-of-a-strangers-vault', /Statement 1 about passkeys has a proof that does not hold/],
    ['statements-one-person', /Statement 1 about passkeys has a proof that does not hold/],
    ['statements-after-its-revocation', /its passkey had been revoked/],
  ] as const) {
    const given = await argumentsOf(name);
    const { code, stdout } = await files.verify(...given, '--passkeys', await statementsOf(name));
    assert.equal(code, 1, stdout);
    assert.match(stdout, why);
  }
});

test('statements without a sign-off, or in a file that cannot be read, are wrong usage', async () => {
  const name = 'statements-first';
  const [proof = '', content = '', ...options] = await argumentsOf(name);
  const statements = await statementsOf(name);
  await writeFile(files.path('latin.jsonl'), Buffer.from([0xff]));
  for (const [given, why] of [
    [[proof, ...options, '--passkeys', statements], /give that as the content/],
    [[proof, content, ...options, '--passkeys', files.path('none.jsonl')], /there is no such file/],
    [[proof, '-', ...options, '--passkeys', '-'], /Only one of the files/],
    [[proof, content, ...options, '--passkeys', files.path('latin.jsonl')], /UTF-8/],
  ] as const) {
    const { code, stderr } = await files.verify(...given);
    assert.equal(code, 64, stderr);
    assert.match(stderr, why);
  }
});
