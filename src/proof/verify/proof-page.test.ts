/** The page docs/proof.md and the facts shown of a proof, against the verifier. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { concat, keccak256, pad, recoverAddress, stringToHex, toHex } from 'viem/utils';
import { readVector } from '../../../test/support/fixtures/vectors.ts';
import { leafTypes } from '../leaf.ts';
import { documentSteps } from './steps.ts';

const page = readFileSync(new URL('../../../docs/proof.md', import.meta.url), 'utf8');
const example = page.slice(
  page.indexOf('\n## A worked example'),
  page.indexOf('\n## What a proof does not say'),
);

test('the worked example shows every hash, step by step, and no others', async () => {
  const { proof } = readVector('second-vault');
  const { content, claims, leaf, merkle, seal } = proof;
  const sha256 = (hex: string): Hex =>
    `0x${createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex')}`;
  const text = (value: string) => keccak256(stringToHex(value));
  const shown: Hex[] = [];
  /** Reads the next line with this label. */
  let read = 0;
  const expectLine = (label: string, value: Hex) => {
    const line = new RegExp(`^${label} +(?:0x)?${value.slice(2)}$`, 'm').exec(example.slice(read));
    assert.ok(line, `${label} ${value} is not shown, or not in its place`);
    read += line.index + line[0].length;
    shown.push(value);
    return value;
  };

  assert.ok(example.includes(`${content.salt?.slice(2)} ${Buffer.from('{"a":1,"b":2}').toString('hex')}`));
  const digest = expectLine(
    'digest',
    sha256(`${content.salt?.slice(2)}${Buffer.from('{"a":1,"b":2}').toString('hex')}`),
  );
  const claimsText = `{"externalId":"","salt":"${claims?.salt}"}`;
  assert.ok(example.includes(`\n${claimsText}\n`));
  const claimsHash = expectLine('claimsHash', sha256(Buffer.from(claimsText).toString('hex')));
  const domain = expectLine('domain', text('holdfast/leaf@1'));
  const kind = expectLine('kind', text('record/jcs'));
  const subject = expectLine('subject', text(`${proof.subject.workspaceId}/${proof.subject.id}`));
  const vault = pad(seal.vault);
  const words = [domain, kind, digest, subject, pad('0x01'), pad('0x'), vault, claimsHash] as const;
  words.forEach((word, place) => {
    expectLine(leafTypes[place]?.split(' ')[1] ?? '', word);
  });
  const once = expectLine('hashed once', keccak256(concat(words)));
  const leafHash = expectLine('leaf', keccak256(once));
  const [lower, sealed, ...upper] = merkle.proof as [Hex, Hex, ...Hex[]];
  expectLine('sibling', lower);
  expectLine('leaf', leafHash);
  const subtreeRoot = expectLine('subtreeRoot', keccak256(concat([lower, leafHash])));
  expectLine('subtreeRoot', subtreeRoot);
  expectLine('sealId', sealed);
  let node = expectLine('pair', pairOf(subtreeRoot, sealed));
  for (const sibling of upper) {
    expectLine('node', node);
    expectLine('sibling', sibling);
    node = expectLine('parent', pairOf(node, sibling));
  }
  assert.equal(expectLine('root', node), merkle.root);

  const domainType = expectLine('', text('EIP712Domain(string name,string version)'));
  const name = expectLine('Holdfast', text('Holdfast'));
  const separator = expectLine(
    'separator',
    keccak256(concat([domainType, name, expectLine('1', text('1'))])),
  );
  const sealType = expectLine(
    '',
    text('Seal(address vault,bytes32 subtreeRoot,uint32 leaves,uint64 sequence,bytes32 previousSeal)'),
  );
  expectLine('vault', vault);
  expectLine('subtreeRoot', subtreeRoot);
  const leaves = expectLine('leaves', pad(toHex(seal.leaves)));
  const sequence = expectLine('sequence', pad(toHex(BigInt(seal.sequence))));
  const previousSeal = expectLine('previousSeal', seal.previousSeal);
  const struct = concat([sealType, vault, subtreeRoot, leaves, sequence, previousSeal]);
  const message = expectLine('message', keccak256(struct));
  const signed = expectLine('digest', keccak256(concat(['0x1901', separator, message])));
  const r = expectLine('r', `0x${seal.signature.slice(2, 66)}`);
  const s = expectLine('s', `0x${seal.signature.slice(66, 130)}`);
  const v = expectLine('v', `0x${seal.signature.slice(130)}`);
  const signer = await recoverAddress({ hash: signed, signature: concat([r, s, v]) });
  assert.equal(expectLine('signer', signer.toLowerCase() as Hex), seal.vault);
  const sealDomain = expectLine('domain', text('holdfast/seal@1'));
  const signature = expectLine('signature', keccak256(seal.signature));
  const sealWords = [sealDomain, subtreeRoot, vault, leaves, sequence, previousSeal, signature];
  const sealOnce = expectLine('hashed once', keccak256(concat(sealWords)));
  assert.equal(expectLine('sealId', keccak256(sealOnce)), sealed);

  assert.deepEqual(leaf.values, [domain, kind, digest, subject, '1', pad('0x'), seal.vault, claimsHash]);
  const known = new Set([...shown, content.salt, claims?.salt].map((value) => value?.slice(2)));
  const printed = [...example.matchAll(/[0-9a-f]{64}/g)].map(([hash]) => hash);
  assert.deepEqual(
    printed.filter((hash) => !known.has(hash)),
    [],
  );
});

test('the page lists the leaf types and the steps of the verifier', () => {
  const rows = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, name]) => name);
  assert.deepEqual(rows(/^\| `((?:bytes32|uint64|address) \w+)`/gm), [...leafTypes]);
  const table = page.slice(page.indexOf('\n## Verifying'), page.indexOf('\n## Sign-offs'));
  assert.deepEqual(
    [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name),
    [...documentSteps],
  );
});

/** The smaller one first. */
function pairOf(one: Hex, other: Hex): Hex {
  return keccak256(concat(one < other ? [one, other] : [other, one]));
}
