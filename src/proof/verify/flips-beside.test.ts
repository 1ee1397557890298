/** One byte is changed in what is beside a token, its certificates and lists: the proof fails, or claims nothing that it did not claim. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readVectorFile } from '../../../test/support/fixtures/vectors.ts';
import { longOnly } from '../../../test/support/service/long.ts';
import { changed } from '../../../test/support/vectors/changed.ts';
import { runVector } from '../../../test/support/vectors/run-vector.ts';
import type { TimestampAnchor } from '../rfc3161/anchor.ts';
import type { Proof } from './proof.ts';
import type { Verification } from './steps.ts';

/** Each byte in long runs, one of these otherwise; the bit is another one from byte to byte. */
const stride = longOnly === false ? 1 : 3;

/** What may come of a flip that does not fail the proof. */
const harmless = {
  silenced: 'the certificates do not lead to a trusted root any more: the token vouches for nothing',
  unused: 'the certificate is a copy of the root, which counts as the trust file has it, not as it is here',
  uncounted: 'a list that its issuer did not sign does not count: the step says that nobody checked',
} as const;

type Reason = keyof typeof harmless;

interface Part {
  name: string;
  vector: string;
  path: string;
  /** All of these occur, and no others. */
  expected: Reason[];
}

const parts: Part[] = [
  {
    name: 'the root beside a token',
    vector: 'rfc3161-certificates-beside',
    path: 'certificates[0]',
    expected: ['unused'],
  },
  {
    name: 'the intermediate beside a token',
    vector: 'rfc3161-certificates-beside',
    path: 'certificates[1]',
    expected: ['silenced'],
  },
  {
    name: "the signer's certificate beside a token",
    vector: 'rfc3161-certificates-beside',
    path: 'certificates[2]',
    expected: ['silenced'],
  },
  {
    name: "the root's list",
    vector: 'rfc3161-revocation-lists-about-both-certificates',
    path: 'crls[0]',
    expected: ['uncounted'],
  },
  {
    name: "the intermediate's list",
    vector: 'rfc3161-revocation-lists-about-both-certificates',
    path: 'crls[1]',
    expected: ['uncounted'],
  },
];

for (const { name, vector: vectorName, path, expected } of parts) {
  test(`a flipped bit of ${name} fails the proof, or changes nothing that is claimed`, async () => {
    const vector = readVectorFile(vectorName);
    const proof = vector.proof as Proof;
    const sound = await runVector(vector);
    assert.equal(sound.verdict, 'pass');
    const place = `anchors[0].${path}`;
    const bytes = bytesAt(proof, place);
    const reasons = new Set<Reason>();
    let failed = 0;
    for (let at = 0; at < bytes.length; at += stride) {
      const flipped = bytes.with(at, (bytes[at] ?? 0) ^ (1 << (at % 8)));
      const text = Buffer.from(flipped).toString('base64');
      const found = await runVector({ ...vector, proof: changed(proof, place, text) });
      if (found.verdict === 'fail') failed += 1;
      else reasons.add(reasonOf(found, sound, `byte ${at}`));
    }
    assert.ok(failed > 0);
    assert.deepEqual([...reasons], expected, expected.map((reason) => harmless[reason]).join());
  });
}

test('the certificates and lists are those that the reasons are about', () => {
  const [beside] = (readVectorFile('rfc3161-certificates-beside').proof as Proof).anchors as [
    TimestampAnchor,
  ];
  const [listed] = (readVectorFile('rfc3161-revocation-lists-about-both-certificates').proof as Proof)
    .anchors as [TimestampAnchor];
  assert.deepEqual([beside.certificates.length, listed.crls.length], [3, 2]);
});

/** Why a proof does not fail. */
function reasonOf(found: Verification, sound: Verification, what: string): Reason {
  const [token, before] = [found, sound].map(({ steps }) => steps.find((step) => step.name === 'token'));
  if (token?.status === 'skipped') {
    assert.match(token.message, /^No path of certificates|^The signer's certificate is missing/, what);
    assert.deepEqual([found.verdict, found.vouchers], ['incomplete', []], what);
    return 'silenced';
  }
  assert.deepEqual([found.verdict, found.vouchers, token?.status], ['pass', sound.vouchers, 'pass'], what);
  if (token?.message === before?.message) return 'unused';
  assert.equal(token?.message, `${before?.message} Revocation not checked.`, what);
  return 'uncounted';
}

function bytesAt(proof: Proof, path: string): Uint8Array {
  let text = '';
  changed(proof, path, (value: string) => {
    text = value;
    return value;
  });
  return new Uint8Array(Buffer.from(text, 'base64'));
}
