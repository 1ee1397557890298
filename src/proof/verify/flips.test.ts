/** A whole proof with three clocks, in which one byte is not what it was: it fails, or claims nothing that it did not claim. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readVectorFile } from '../../../test/support/fixtures/vectors.ts';
import { longOnly } from '../../../test/support/service/long.ts';
import { changed } from '../../../test/support/vectors/changed.ts';
import { runVector } from '../../../test/support/vectors/run-vector.ts';
import { readTimestampAnchor } from '../rfc3161/reading.ts';
import type { EvmAnchor, Proof } from './proof.ts';
import type { Verification } from './steps.ts';

const vector = readVectorFile('three-clocks');
const proof = vector.proof as Proof;
const [evm, timestamp, bitcoin] = proof.anchors as [EvmAnchor, { token: string }, { proof: string }];

/** Each byte in long runs, one of these otherwise; the bit is another one from byte to byte. */
const stride = longOnly === false ? 1 : 6;

type Encoding = 'hex' | 'base64';

const parts: { name: string; path: string; encoding: Encoding }[] = [
  { name: 'the header of the block', path: 'anchors[0].inclusion.header', encoding: 'hex' },
  ...(evm.inclusion?.nodes ?? []).map((_, place) => ({
    name: `node ${place} on the way to the receipt`,
    path: `anchors[0].inclusion.nodes[${place}]`,
    encoding: 'hex' as const,
  })),
  { name: 'the token', path: 'anchors[1].token', encoding: 'base64' },
  { name: 'the .ots file', path: 'anchors[2].proof', encoding: 'base64' },
  { name: 'the header of the Bitcoin block', path: 'anchors[2].headers[0].header', encoding: 'hex' },
];

/**
 * What can be changed without a contradiction: the token is then one that nobody vouches for. The proof claims less, and
 * with no other clock it would be incomplete.
 */
const silencing = [
  {
    why: 'without the certificate of its issuer, no path leads from the signer to a trusted root',
    message: /^No path of certificates leads from CN=Test TSA to a trusted root/,
  },
  {
    why: 'a token and a certificate that do not name the same issuer and serial number do not belong together',
    message: /^The signer's certificate is missing\.$/,
  },
];

for (const { name, path, encoding } of parts) {
  test(`a flipped bit of ${name} fails the proof, or changes nothing that is claimed`, async () => {
    const sound = await runVector(vector);
    assert.equal(sound.verdict, 'pass');
    const reasons = new Set<string>();
    let failed = 0;
    for (const { at, flipped } of flips(path, encoding)) {
      const found = await runVector({ ...vector, proof: flipped });
      if (found.verdict === 'fail') failed += 1;
      else reasons.add(reasonOf(found, sound, `byte ${at}`));
    }
    assert.ok(failed > 0);
    const expected = name === 'the token' ? silencing.map(({ why }) => why) : [];
    assert.deepEqual([...reasons].sort(), expected.sort());
  });
}

test('a token that is alone and was silenced by a flipped bit leaves the proof incomplete', async () => {
  const alone = { ...proof, anchors: [timestamp as never] };
  assert.equal((await runVector({ ...vector, proof: alone })).verdict, 'pass');
  const [, intermediate] = readTimestampAnchor(timestamp as never).pool;
  const token = Buffer.from(timestamp.token, 'base64');
  const at = token.indexOf(Buffer.from(intermediate?.bytes ?? []));
  assert.ok(at > 0);
  // Within the signature of the root, which is at the end of the certificate.
  const place = at + (intermediate?.bytes.length ?? 0) - 8;
  const flipped = changed(alone, 'anchors[0].token', flippedAt(timestamp.token, 'base64', place));
  assert.equal((await runVector({ ...vector, proof: flipped })).verdict, 'incomplete');
});

test('the parts are those of three kinds of clocks', () => {
  assert.equal(evm.type, 'evm');
  assert.ok(evm.inclusion && timestamp.token.length > 1_000 && bitcoin.proof.length > 200);
});

/** Why a proof does not fail; it must claim what it did, or that without the token. */
function reasonOf(found: Verification, sound: Verification, what: string): string {
  const isToken = ({ name }: { name: string }) => name === 'token';
  assert.deepEqual(
    found.steps.filter((step) => !isToken(step) && step.name !== 'time'),
    sound.steps.filter((step) => !isToken(step) && step.name !== 'time'),
    what,
  );
  const token = found.steps.find(isToken);
  assert.equal(token?.status, 'skipped', what);
  const others = sound.vouchers.filter(({ by }) => !by.startsWith('the timestamp authority'));
  assert.deepEqual([sound.vouchers.length - 1, found.vouchers], [others.length, others], what);
  const reason = silencing.find(({ message }) => message.test(token?.message ?? ''));
  assert.ok(reason, `${what}: ${token?.message}`);
  return reason.why;
}

function* flips(path: string, encoding: Encoding): Generator<{ at: number; flipped: Proof }> {
  let text = '';
  changed(proof, path, (value: string) => {
    text = value;
    return value;
  });
  const { length } = decode(text, encoding);
  for (let at = 0; at < length; at += stride) {
    yield { at, flipped: changed(proof, path, flippedAt(text, encoding, at)) };
  }
}

function flippedAt(text: string, encoding: Encoding, at: number): string {
  const bytes = decode(text, encoding);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
  return encoding === 'hex' ? `0x${bytes.toString('hex')}` : bytes.toString('base64');
}

function decode(text: string, encoding: Encoding): Buffer {
  return Buffer.from(encoding === 'hex' ? text.slice(2) : text, encoding);
}
